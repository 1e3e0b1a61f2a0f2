// A tenth of the official conformance suite of the Gateway API: a real API server, `periplus serve` with the rights of
// deploy/, a stock Envoy for each Gateway. `npm run test:gateway-api` runs all of it; docs/conformance/ has the
// reports. Needs Linux, root, Go and Envoy.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROFILES, parts, runSuite, type Verdict } from './gateway-api/rig.ts';
import { canRun } from './suite.ts';

const found = await parts();
const runs = canRun('test/e2e/gateway-api.test.ts', 'missing' in found ? found.missing : undefined);
const listed = (await readFile(join(import.meta.dirname, 'gateway-api/listed.txt'), 'utf8'))
  .split('\n')
  .filter(line => /^\w/.test(line));

/** Of test/e2e/gateway-api/statuses.ts. */
const OWN = ['StatusKeepsForeignEntries', 'StatusFollowsGenerations', 'StatusReachesFixedPoint'];

describe.runIf(runs)('the official conformance suite of the Gateway API', () => {
  let folder: string;
  let verdicts: ReadonlyMap<string, Verdict>;
  const said: string[] = [];

  beforeAll(async () => {
    if ('missing' in found) return;
    folder = await mkdtemp(join(tmpdir(), 'periplus-gateway-api-'));
    verdicts = await runSuite({ ...found, folder, profiles: PROFILES, tests: listed }, line => said.push(line));
  }, 900_000);

  afterAll(async () => {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it.each([...listed, ...OWN])('passes %s', async name => {
    const end = async (file: string): Promise<string> =>
      (await readFile(join(folder, file), 'utf8').catch(() => '')).slice(-20_000);
    const logs = verdicts.get(name) === 'PASS' ? '' : `${await end('suite.log')}\n${await end('periplus.log')}`;
    expect(verdicts.get(name), `${said.join('\n')}\n${logs}`).toBe('PASS');
  });
});
