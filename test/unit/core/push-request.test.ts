// A push request as a line of the log.

import { describe, expect, it } from 'vitest';
import {
  mergeAllPushRequests,
  mergePushRequests,
  pushRequest,
  SHOWN_CONFIGS_MAX,
  showPushRequest,
} from '../../../src/core/push-request.ts';

describe('the log line of a push', () => {
  it('names its extent, reasons, configurations and events', () => {
    const config = pushRequest(7, 'config', ['Gateway/a/x'], { full: true });
    const endpoint = pushRequest(9, 'endpoint', ['ServiceEntry/a/b.example'], { full: false });
    expect(showPushRequest(mergePushRequests(config, endpoint))).toBe(
      'full (config, endpoint): Gateway/a/x, ServiceEntry/a/b.example; 2 events up to 9',
    );
  });

  it('says so if no configuration is named', () => {
    const request = pushRequest(3, 'global', [], { full: true, forced: true });
    expect(showPushRequest(request)).toBe('forced (global): no configuration; 1 event up to 3');
  });

  it('is bounded however many configurations changed', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => `Gateway/a/${i}`);
    const shown = showPushRequest(pushRequest(1, 'config', many, { full: true }));
    expect(shown.split('Gateway/').length - 1).toBe(SHOWN_CONFIGS_MAX);
    expect(shown).toContain(' …;');
  });
});

/** Each with all before it: half a minute. */
const CPU_MS_MAX = 5_000;

describe('the push requests of a batch', () => {
  it('are merged at a cost that follows their number', () => {
    const requests = Array.from({ length: 20_000 }, (_, i) =>
      pushRequest(i + 1, 'config', [`Gateway/a/${i}`], { full: true }),
    );
    const before = process.cpuUsage();
    const { configsUpdated, causes } = mergeAllPushRequests(requests);
    const { user, system } = process.cpuUsage(before);
    expect(configsUpdated).toHaveLength(requests.length);
    expect(causes.count).toBe(requests.length);
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  });
});
