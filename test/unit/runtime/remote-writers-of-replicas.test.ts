// When a replica may write to remote clusters: in each of its terms, once it has listed every source itself.

import { expect, it } from 'vitest';
import type { Adapter } from '../../../src/adapters/adapter.ts';
import { RemoteClusterSet } from '../../../src/runtime/remote-clusters.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';
import { east, MemoryWorld } from './remote-bench.ts';

const status = () => ({ synced: true, waiting: [], troubles: [], unreadable: [] });

/** A cluster that is listed at once; the set of a replica, or of a process on its own. */
async function cluster(isReplica: boolean) {
  const world = new MemoryWorld();
  const did: string[] = [];
  const note = (what: string) => async (): Promise<void> => void did.push(what);
  const writer: Adapter = {
    ...{ source: 'writer/east', startsAfterLists: true, status },
    ...{ start: note('writer starts'), stop: note('writer stops') },
  };
  const set = new RemoteClusterSet({
    ...{ world, clock: new FakeClock(), log: () => undefined, isPaused: isReplica },
    connect: async () => ({
      adapter: { source: 'kube/east', start: note('listed'), stop: note('unread'), status, showListed: note('shown') },
      ...{ writer, call: async () => ({ status: 200, body: '' }), shown: 'one', close: () => undefined },
    }),
  });
  await world.record([{ source: 'kube/Kubernetes', kind: 'Add', object: east('one') }]);
  await settle();
  return { set, did };
}

it('a process on its own writes to a remote cluster once its sources are listed', async () => {
  const { set, did } = await cluster(false);
  expect(did).toEqual(['listed']);
  set.allowWrites();
  await settle();
  expect(did).toEqual(['listed', 'writer starts']);
  await set.stop();
});

it('a replica that leads writes to a remote cluster once it has listed the sources in this term', async () => {
  const { set, did } = await cluster(true);
  // The log has lists of all sources, by another replica.
  set.allowWrites();
  set.allowWritesOfTerm();
  set.resume();
  await settle();
  expect(did).toEqual(['listed']);
  set.allowWritesOfTerm();
  await settle();
  expect(did).toEqual(['listed', 'writer starts']);
  await set.pause();
  set.resume();
  await settle();
  expect(did.slice(2)).toEqual(['writer stops', 'unread', 'listed']);
  set.allowWritesOfTerm();
  await settle();
  expect(did.at(-1)).toBe('writer starts');
  await set.stop();
});
