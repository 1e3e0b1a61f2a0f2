// World: facts of another journal, which are folded one by one or all at once.

import { describe, expect, test } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { isNoPush } from '../../../src/core/push-request.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { foldHistory, stateHash } from '../../../src/offline/load-state.ts';
import { RETRY_MS, World } from '../../../src/runtime/world.ts';
import { Platter } from '../../sim/disk.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

function service(name: string, port: number): Unrecorded {
  return {
    source: 'file/Kubernetes',
    kind: 'Add',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port }] },
    },
  };
}

const connected: Unrecorded = {
  source: 'xds',
  kind: 'ProxyConnected',
  connection: 'a',
  node: { id: 'sidecar~10.0.0.1~a.default~default.svc.cluster.local' },
  protocol: 'delta',
};

const FACTS = [service('a', 80), service('b', 80), service('a', 81), service('c', 80), service('a', 82)];

function bench(restoredMin: number) {
  const clock = new FakeClock();
  const made = { fails: false };
  const { journal } = new Platter().open(
    () => clock.now(),
    () => ({ fails: made.fails }),
  );
  const folded: State[] = [];
  const world = new World({ journal, state: emptyState, clock, strict: false, restoredMin, log: () => undefined });
  world.listen({
    onFolded: (state, request) => {
      folded.push(state);
      if (state.proxies.size === 0) expect(isNoPush(request)).toBe(true);
    },
  });
  const carried = (facts: readonly Unrecorded[], time = 5_000) => journal.carriedFrom(journal.toLines(facts), time);
  return { world, journal, clock, folded, made, carried };
}

async function replayed({ journal }: Pick<ReturnType<typeof bench>, 'journal'>): Promise<string> {
  return stateHash((await foldHistory(journal, { fromSnapshot: false })).state);
}

describe('facts of another journal', () => {
  test.each([1, 1_000])('lead to the state that a replay gives, restored from %i facts on', async restoredMin => {
    const made = bench(restoredMin);
    await made.world.recordCarried(made.carried(FACTS.slice(0, 2)), 3);
    await made.world.recordCarried(made.carried(FACTS.slice(2)), 0);
    expect(made.world.state.seq).toBe(FACTS.length);
    expect(stateHash(made.world.state)).toBe(await replayed(made));
    const other = bench(1_000);
    await other.world.record(FACTS);
    expect([...made.world.state.objects.Service.values()]).toEqual([...other.world.state.objects.Service.values()]);
  });

  test('are in the state when the last of those that were announced has come, and in the journal before', async () => {
    const { world, journal, carried, folded } = bench(2);
    await world.recordCarried(carried(FACTS.slice(0, 2)), 3);
    expect([journal.head().seq, world.state.seq, folded.length]).toEqual([2, 0, 0]);
    await world.recordCarried(carried(FACTS.slice(2)), 0);
    expect([journal.head().seq, world.state.seq, folded.length]).toEqual([5, 5, 1]);
  });

  test('are in the state when something else is recorded, and when those that were announced do not come', async () => {
    const { world, carried } = bench(2);
    await world.recordCarried(carried(FACTS.slice(0, 2)), 3);
    let before: number | undefined;
    await world.recordNews(state => {
      before = state.seq;
      return [connected];
    });
    expect(before).toBe(2);
    const other = bench(2);
    await other.world.recordCarried(other.carried(FACTS), 9);
    await other.world.recordCarried([], 0);
    expect(other.world.state.seq).toBe(5);
  });

  test('are folded one by one while a proxy is connected, with their pushes', async () => {
    const { world, carried, folded } = bench(1);
    await world.record([connected]);
    await world.recordCarried(carried(FACTS), 100);
    expect(world.state.seq).toBe(6);
    expect(folded).toHaveLength(2);
  });

  test('keep their times, which never go back', async () => {
    const { world, journal, carried, clock } = bench(1);
    const past = clock.now() - 10_000;
    await world.recordCarried(carried(FACTS.slice(0, 1), past), 0);
    await world.recordCarried(carried(FACTS.slice(1, 2), past - 1), 0);
    await world.record([connected]);
    const times: number[] = [];
    for await (const page of journal.read({ from: 1 })) times.push(...page.map(({ time }) => time));
    expect(times).toEqual([past, past, clock.now()]);
  });

  test('are kept while the journal cannot be written, and recorded later', async () => {
    const made = bench(2);
    await made.world.recordCarried(made.carried(FACTS.slice(0, 2)), 3);
    made.made.fails = true;
    await made.world.recordCarried(made.carried(FACTS.slice(2)), 0);
    expect(made.world.durable).toBe(false);
    const served = [...made.world.state.objects.Service.values()];
    made.made.fails = false;
    made.clock.next(made.clock.now() + RETRY_MS);
    await settle();
    expect(made.world.durable).toBe(true);
    expect([...made.world.state.objects.Service.values()]).toEqual(served);
    expect(stateHash(made.world.state)).toBe(await replayed(made));
  });

  test('that are no JSON are refused before they are stored', async () => {
    const { world, journal, carried } = bench(1_000);
    const [good] = carried([FACTS[0]!]);
    const [torn] = journal.carriedFrom([journal.toLines([FACTS[0]!])[0]!.replace('"spec":{', '"spec":')], 1);
    await expect(world.recordCarried([good!, torn!], 0)).rejects.toThrow('JSON');
    expect([journal.head().seq, world.state.seq]).toEqual([0, 0]);
  });
});
