// Runs every file of scenarios/: a text of requests, pushes and expected responses of one stream. A scenario names the
// rules that it covers as `[sotw/nack]`; the rules are the branches of Istio's pkg/xds/server.go ShouldRespond (state
// of the world) and pilot/pkg/xds/delta.go shouldRespondDelta. Every rule has to be covered.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runScenario } from './scenario.ts';

const folder = fileURLToPath(new URL('./scenarios', import.meta.url));
const files = readdirSync(folder)
  .filter(name => name.endsWith('.txt'))
  .sort();

const rules = [
  'sotw/health',
  'sotw/debug',
  'sotw/nack',
  'sotw/unsubscribe-all',
  'sotw/first-request',
  'sotw/expired-nonce',
  'sotw/warming-clusters',
  'sotw/ack',
  'sotw/names-removed',
  'sotw/names-added',
  'delta/health',
  'delta/debug',
  'delta/nack',
  'delta/first-request',
  'delta/expired-nonce',
  'delta/ack',
];

describe('protocol scenarios', () => {
  for (const file of files) {
    test(`${file}: every response is the expected one`, () => {
      expect(runScenario(readFileSync(join(folder, file), 'utf8'))).toEqual([]);
    });
  }

  test('cover every rule for requests', () => {
    const covered = new Set<string>();
    for (const file of files) {
      for (const [, rule = ''] of readFileSync(join(folder, file), 'utf8').matchAll(/\[((?:sotw|delta)\/[a-z-]+)\]/g)) {
        covered.add(rule);
      }
    }
    expect([...covered].sort()).toEqual([...rules].sort());
  });

  test('canary: a wrong expectation is detected', () => {
    const text = 'protocol sotw\nset CDS a=1\n> CDS names\n< subscribed CDS wildcard\n< CDS a=2\n';
    expect(runScenario(text)).toHaveLength(1);
  });
});
