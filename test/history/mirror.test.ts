// The journal of a replica, a mirror of the world log beside what its own proxies did: commands and the explorer answer
// from it as from any other journal. The world is that of a recorded sample, whose outage they find.

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Event, Unrecorded } from '../../src/core/event.ts';
import { emptyState } from '../../src/core/state.ts';
import { openJournal } from '../../src/journal/open.ts';
import { moveIntoLog } from '../../src/replicas/move.ts';
import { Replica } from '../../src/replicas/replica.ts';
import { isWorldFact } from '../../src/replicas/which-log.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { World } from '../../src/runtime/world.ts';
import { servedFile } from '../unit/admin/explorer/served.ts';
import { MemoryLog } from '../unit/replicas/memory-log.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

const V3 = 'outbound|9080|v3|reviews.shop.svc.cluster.local';
/** Kinds of facts that say who is connected and what for. */
const PROXY_KINDS: readonly string[] = ['Interned', 'Names', 'ProxyConnected', 'ProxySubscribed'];

let samples: Samples;
let mirror: string;
beforeAll(async () => {
  samples = await openSamples('subset-outage');
  mirror = join(samples.folder, 'mirror.db');
  await mirrorOf(samples.path('subset-outage'), mirror);
});
afterAll(() => samples.remove());

/** As a replica with the sample's proxies makes it that follows a log of the sample's world. */
async function mirrorOf(sample: string, path: string): Promise<void> {
  const from = await openJournal(sample, { readonly: true });
  const log = new MemoryLog();
  await moveIntoLog(from, log, { name: 'sample', now: () => 0 });
  const proxies: Unrecorded[] = [];
  for await (const page of from.read({ from: 1 })) {
    proxies.push(...page.filter(({ kind }) => PROXY_KINDS.includes(kind)).map(unplaced));
  }
  expect(proxies.some(isWorldFact)).toBe(false);
  await from.close();
  const journal = await openJournal(path, { durability: 'off', clock: () => 1 });
  const say = (): void => undefined;
  const world = new World({ journal, state: emptyState, clock: systemClock, strict: false, log: say });
  await world.record(proxies);
  const replica = new Replica({
    ...{ id: 'follower', log, lease: { hold: async () => 'taken', release: async () => undefined } },
    ...{ journal, world, clock: systemClock, say, onLead: () => undefined, onFollow: () => undefined },
  });
  const end = await log.last();
  const isThere = new Promise<void>(resolve => {
    replica.mirror.listen(() => replica.mirror.position.position === end && resolve());
  });
  replica.start();
  await isThere;
  await replica.stop();
  await world.stop();
  await journal.close();
}

function unplaced(event: Event): Unrecorded {
  const { seq: _seq, time: _time, ...fact } = event;
  return fact as Unrecorded;
}

describe('the journal of a replica', () => {
  test('is whole, and shows the entries of the log between their facts', async () => {
    expect((await periplus('journal', 'verify', '-j', mirror)).code).toBe(0);
    const { out } = await periplus('journal', 'ls', '--kind', 'WorldEntry', '-j', mirror, '-o', 'json');
    const entries = JSON.parse(out) as readonly { readonly position: number }[];
    expect(entries.length).toBeGreaterThan(1);
  });

  test('tells which change took a cluster from a proxy', async () => {
    const { code, out } = await periplus('bisect', '-j', mirror, '-p', 'productpage', '--cluster-missing');
    expect(code).toBe(0);
    expect(out).toContain('DestinationRule/shop/reviews');
    const gone = await periplus('explain', 'cluster', V3, '-p', 'productpage', '-j', mirror);
    expect(gone.out).toContain('DestinationRule/shop/reviews');
  });

  test('replays, and answers what a change would do', async () => {
    expect((await periplus('replay', '--verify', '--journal', mirror)).code).toBe(0);
    const diff = await periplus('diff', '--delete', 'EndpointSlice/shop/ratings-1', '-j', mirror, '-p', 'productpage');
    expect(diff.out).toContain('ratings');
  });

  test('is what the explorer shows', async () => {
    const explorer = await servedFile(mirror);
    try {
      const { json } = await explorer.ask('/api/v1/object?object=dr/shop/reviews');
      expect(json.versions.map((one: { change: string }) => one.change)).toContain('changed');
      const name = encodeURIComponent(V3);
      const why = await explorer.ask(`/api/v1/why?proxy=productpage&kind=cluster&name=${name}`);
      expect(why.json.goneSince).toMatchObject({ object: 'DestinationRule/shop/reviews' });
    } finally {
      await explorer.close();
    }
  });
});
