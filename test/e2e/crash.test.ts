// Law 7 with real processes and real Envoys: the control plane is killed at random moments under a stream of changes.
// Afterwards the journal has no hole, its chain verifies, every receipt is reproduced, and what an Envoy holds is what
// some receipt in the journal says it was sent.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/open.ts';
import { digestOf } from '../../src/xds/engine/resource-set.ts';
import { CDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { seed } from '../property/seed.ts';
import { Bookinfo, envoyOrSkip } from './bookinfo.ts';

const KILLS = 6;
const binary = await envoyOrSkip('test/e2e/crash.test.ts');

/** Small, seeded: the moments of the kills can be replayed, the scheduling of processes cannot. */
function random(state: number): () => number {
  let x = state >>> 0 || 1;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return (x >>> 0) / 2 ** 32;
  };
}

type Versions = readonly (readonly [name: string, version: string])[];

/** What an Envoy holds, by type. */
async function heldBy(adminPort: number): Promise<ReadonlyMap<string, Versions>> {
  const dump = (await (await fetch(`http://127.0.0.1:${adminPort}/config_dump`)).json()) as {
    readonly configs: readonly Record<string, readonly Record<string, unknown>[]>[];
  };
  const all = (section: string): readonly Record<string, unknown>[] =>
    dump.configs.flatMap(config => config[section] ?? []);
  const versions = (section: string, part: string): Versions =>
    all(section).map(entry => [(entry[part] as { name: string }).name, String(entry.version_info)]);
  const listeners = all('dynamic_listeners').flatMap(entry => {
    const active = entry.active_state as { version_info: string } | undefined;
    return active === undefined ? [] : [[String(entry.name), active.version_info] as const];
  });
  return new Map([
    [CDS, versions('dynamic_active_clusters', 'cluster')],
    [LDS, listeners],
    [RDS, versions('dynamic_route_configs', 'route_config')],
  ]);
}

function digest(versions: Versions): string {
  return digestOf(new Map([...versions].sort(([a], [b]) => (a < b ? -1 : 1))));
}

async function receiptDigests(journal: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const reader = await openJournal(journal, { clock: Date.now, readonly: true });
  const found = new Map<string, Set<string>>();
  for await (const page of reader.records({ from: 1 })) {
    for (const record of page) {
      if (record.kind !== 'Receipt') continue;
      const { typeUrl, digest: sent } = JSON.parse(record.body) as { typeUrl: string; digest: string };
      const known = found.get(typeUrl);
      if (known === undefined) found.set(typeUrl, new Set([sent]));
      else known.add(sent);
    }
  }
  await reader.close();
  return found;
}

describe.runIf(binary !== undefined)(`law 7: kill -9 at random moments (PERIPLUS_SEED=${seed})`, () => {
  let mesh: Bookinfo;

  beforeAll(async () => {
    mesh = await Bookinfo.start(binary!, { ingressgateway: 'delta', productpage: 'delta' });
    await mesh.until('a page', async () => (await mesh.ask()).status === 200);
  });
  afterAll(async () => {
    await mesh?.stop();
  });

  it('loses no acknowledged event, and the journal explains every response that was sent', async () => {
    const next = random(seed);
    for (let kill = 0; kill < KILLS; kill++) {
      const until = Date.now() + 200 + Math.floor(next() * 600);
      while (Date.now() < until) {
        const v1 = Math.floor(next() * 101);
        await mesh.weights(v1, 100 - v1).catch(() => undefined);
        await new Promise(resolve => setTimeout(resolve, 10 + next() * 60));
      }
      await mesh.endPlane('SIGKILL');
      expect((await mesh.ask()).status).toBe(200);
      const verified = await mesh.run('journal', 'verify', '--journal', mesh.journal);
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: /) });
      const receipts = await receiptDigests(mesh.journal);
      for (const envoy of mesh.envoys) {
        for (const [typeUrl, versions] of await heldBy(envoy.adminPort)) {
          expect(receipts.get(typeUrl) ?? new Set(), `${envoy.name} ${typeUrl}`).toContain(digest(versions));
        }
      }
      await mesh.startPlane();
    }
    const replayed = await mesh.run('replay', '--verify', '--journal', mesh.journal);
    expect(replayed).toMatchObject({ code: 0, stdout: expect.stringMatching(/every one is reproduced/) });
  });

  it('canary: a response that was never sent has no receipt', async () => {
    const receipts = await receiptDigests(mesh.journal);
    const [held] = await heldBy(mesh.envoys[0]!.adminPort);
    const [typeUrl, versions] = held!;
    const altered = versions.map(
      ([name, version], i) => [name, i === 0 ? '0'.repeat(version.length) : version] as const,
    );
    expect(receipts.get(typeUrl)).not.toContain(digest(altered));
  });
});
