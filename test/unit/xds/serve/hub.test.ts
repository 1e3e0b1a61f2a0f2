// Admission by the hub without a wire: ready, and the number of streams, which includes those that wait for admission.

import { expect, test } from 'vitest';
import { Engine } from '../../../../src/xds/engine/engine.ts';
import { defaultScheduleSettings } from '../../../../src/xds/push/settings.ts';
import { type Client, Hub } from '../../../../src/xds/serve/hub.ts';
import { defaultXdsLimits } from '../../../../src/xds/serve/limits.ts';
import type { EndCode, Transport } from '../../../../src/xds/serve/transport.ts';
import { MemoryHost, testSources } from '../../../protocol/memory-host.ts';

function transport(): Transport & { readonly endings: EndCode[] } {
  const endings: EndCode[] = [];
  const nothing = (): void => undefined;
  return { endings, send: nothing, end: code => endings.push(code), pause: nothing, resume: nothing };
}

function hubOf(streamsMax: number, host = new MemoryHost()): Hub {
  const limits = { ...defaultXdsLimits, streamsMax };
  return new Hub({ host, engine: new Engine(testSources), limits, schedule: defaultScheduleSettings });
}

const client: Client = { peer: '10.0.0.1', gone: () => false };

test('the hub refuses a stream past the number, though both were accepted before either sent a message', async () => {
  const hub = hubOf(1);
  const [first, second] = [transport(), transport()];
  expect([hub.accept(first), hub.accept(second)]).toEqual([true, true]);
  expect(await hub.open('delta', first, client)).toBeDefined();
  expect(await hub.open('delta', second, client)).toBeUndefined();
  expect([first.endings, second.endings]).toEqual([[], ['RESOURCE_EXHAUSTED']]);
});

test('the hub counts a stream while it waits for admission, and no longer once its client has left', async () => {
  let caughtUp = (): void => undefined;
  const waiting = new Promise<void>(resolve => {
    caughtUp = resolve;
  });
  const hub = hubOf(1, Object.assign(new MemoryHost(), { caughtUp: () => waiting }));
  const opening = hub.open('delta', transport(), { ...client, gone: () => true });
  const other = transport();
  expect(hub.accept(other)).toBe(false);
  expect(other.endings).toEqual(['RESOURCE_EXHAUSTED']);
  caughtUp();
  expect(await opening).toBeUndefined();
  expect(hub.accept(transport())).toBe(true);
});

test('the hub refuses every stream until the host is ready', () => {
  const host = new MemoryHost();
  host.isReady = false;
  const hub = hubOf(1, host);
  const early = transport();
  expect(hub.accept(early)).toBe(false);
  expect(early.endings).toEqual(['UNAVAILABLE']);
  host.isReady = true;
  expect(hub.accept(transport())).toBe(true);
});
