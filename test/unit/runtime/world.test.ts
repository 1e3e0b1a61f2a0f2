// World: order, shared commits, news, a journal that cannot be written, stopping.

import { describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/core/effect.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { newsOf } from '../../../src/core/fold/novelty.ts';
import { isNoPush, type PushRequest } from '../../../src/core/push-request.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { foldHistory, stateHash } from '../../../src/offline/load-state.ts';
import { RETRY_MS, World } from '../../../src/runtime/world.ts';
import { Platter } from '../../sim/disk.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

interface Bench {
  readonly world: World;
  readonly journal: Journal;
  readonly clock: FakeClock;
  readonly logged: string[];
  readonly folded: { readonly state: State; readonly request: PushRequest; readonly effects: readonly Effect[] }[];
  fails: boolean;
}

function bench(strict = false): Bench {
  const clock = new FakeClock();
  const logged: string[] = [];
  const { journal } = new Platter().open(
    () => clock.now(),
    () => ({ fails: made.fails }),
  );
  const log = (_level: string, message: string): void => void logged.push(message);
  const world = new World({ journal, state: emptyState, clock, strict, log });
  const made: Bench = { world, journal, clock, logged, folded: [], fails: false };
  world.listen({ onFolded: (state, request, effects) => void made.folded.push({ state, request, effects }) });
  return made;
}

function service(name: string, ip: string): Unrecorded & { readonly kind: 'Add' } {
  return {
    source: 'file/Kubernetes',
    kind: 'Add',
    object: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace: 'default' },
      spec: { clusterIP: ip, ports: [{ name: 'http', port: 80 }] },
    },
  };
}

const receipt = (stateSeq: number): Unrecorded => ({
  source: 'xds',
  kind: 'Receipt',
  typeUrl: 'x',
  connections: ['c'],
  stateSeq,
  digest: 'd',
  count: 0,
});

async function kinds(journal: Journal): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of journal.read({ from: 1 })) found.push(...page.map(event => `${event.seq} ${event.kind}`));
  return found;
}

async function pass(clock: FakeClock, ms: number): Promise<void> {
  const until = clock.now() + ms;
  await settle();
  while (clock.next(until)) await settle();
}

/** The journal gives back exactly the state that is served. */
async function expectReplayed(one: Bench): Promise<void> {
  const history = await foldHistory(one.journal, { fromSnapshot: false });
  expect(history.state.seq).toBe(one.world.state.seq);
  expect(stateHash(history.state)).toBe(stateHash(one.world.state));
}

describe('recording', () => {
  test('facts are folded after they are committed, in order, with their effects', async () => {
    const one = bench();
    const node = { id: 'sidecar~10.0.0.1~web.default~default.svc.cluster.local' };
    const proxy: Unrecorded = { source: 'xds', kind: 'ProxyConnected', connection: 'web', protocol: 'delta', node };
    const first = one.world.record([proxy, service('a', '10.96.0.1')]);
    expect(one.world.state.seq).toBe(0);
    const state = await first;
    expect(state.seq).toBe(2);
    expect([...state.objects.Service.keys()]).toEqual(['Kubernetes/default/a']);
    expect(one.folded).toHaveLength(1);
    expect(isNoPush(one.folded[0]!.request)).toBe(false);
    await expectReplayed(one);
  });

  test('no push request is computed while no proxy is connected', async () => {
    const one = bench();
    await one.world.record([service('a', '10.96.0.1')]);
    expect(isNoPush(one.folded[0]!.request)).toBe(true);
    await expectReplayed(one);
  });

  test('concurrent calls share a commit and keep their order', async () => {
    const one = bench();
    const all = ['a', 'b', 'c'].map((name, i) => one.world.record([service(name, `10.96.0.${i + 1}`)]));
    await Promise.all(all);
    expect(one.folded).toHaveLength(1);
    expect(await kinds(one.journal)).toEqual(['1 Add', '2 Add', '3 Add']);
  });

  test('news runs on a state in which everything recorded before is folded', async () => {
    const one = bench();
    const add = service('a', '10.96.0.1');
    await one.world.record([add]);
    const seen: number[] = [];
    await one.world.recordNews(state => {
      seen.push(state.seq);
      return newsOf(state, add.source, [add]).map(fact => ({ source: add.source, ...fact }));
    });
    expect(seen).toEqual([1]);
    expect(one.journal.head().seq).toBe(1);
  });

  test('going on from an earlier state leaves out the events that the journal says could not be folded', async () => {
    const one = bench();
    const rejected: Unrecorded = { source: 'runtime', kind: 'Rejected', rejected: 2, reason: 'x' };
    await one.world.record([service('a', '10.96.0.1'), service('b', '10.96.0.2'), rejected]);
    const state = await one.world.goOnFrom(emptyState);
    expect([...state.objects.Service.keys()]).toEqual(['Kubernetes/default/a']);
    expect(one.journal.head().seq).toBe(3);
    await expectReplayed(one);
  });

  test('a failing news function or an unfit fact rejects only its own call', async () => {
    const one = bench();
    let deep: unknown = {};
    for (let i = 0; i < 1_100; i++) deep = { deep };
    const unfit = service('deep', '10.96.0.9');
    const all = await Promise.allSettled([
      one.world.record([service('a', '10.96.0.1')]),
      one.world.recordNews(() => {
        throw new Error('no news');
      }),
      one.world.record([{ ...unfit, object: { ...unfit.object, spec: deep as never } }]),
      one.world.record([service('b', '10.96.0.2')]),
    ]);
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(await kinds(one.journal)).toEqual(['1 Add', '2 Add']);
  });
});

describe('a journal that cannot be written', () => {
  test('serving continues, and facts are recorded late with the seqs that they were folded with', async () => {
    const one = bench();
    await one.world.record([service('a', '10.96.0.1')]);
    one.fails = true;
    const during = await one.world.record([service('b', '10.96.0.2')]);
    expect(one.world.durable).toBe(false);
    expect(during.objects.Service.size).toBe(2);
    // A receipt of the gap, and one that is on its way while writing works again.
    await one.world.record([receipt(during.seq)]);
    const before = one.world.state.seq;
    await pass(one.clock, 2 * RETRY_MS);
    expect(one.world.durable).toBe(false);
    one.fails = false;
    await pass(one.clock, RETRY_MS);
    expect(one.world.durable).toBe(true);
    expect(one.world.state.seq).toBe(before);
    await one.world.record([receipt(during.seq)]);
    expect(await kinds(one.journal)).toEqual(['1 Add', '2 Gap', '3 Add', '4 Receipt', '5 Receipt']);
    expect(during.seq).toBe(3);
    await expectReplayed(one);
  });

  test('effects and pushes of the gap are not repeated when it is recorded', async () => {
    const one = bench();
    one.fails = true;
    await one.world.record([service('a', '10.96.0.1')]);
    one.fails = false;
    one.folded.length = 0;
    await pass(one.clock, RETRY_MS);
    expect(one.folded.map(({ request, effects }) => [isNoPush(request), effects])).toEqual([[true, []]]);
  });

  test('an unfit fact is refused during a gap too, and does not block recovery', async () => {
    const one = bench();
    one.fails = true;
    await one.world.record([service('a', '10.96.0.1')]);
    const noSource = { ...service('b', '10.96.0.2'), source: '' };
    await expect(one.world.record([noSource])).rejects.toThrow('source');
    one.fails = false;
    await pass(one.clock, RETRY_MS);
    expect(await kinds(one.journal)).toEqual(['1 Gap', '2 Add']);
    await expectReplayed(one);
  });

  test('the state never goes back and is never visible half recovered', async () => {
    const one = bench();
    const seen: number[] = [];
    one.world.listen({ onFolded: state => void seen.push(state.seq) });
    for (const fails of [true, false, true, false]) {
      one.fails = fails;
      for (let i = 0; i < 3; i++) await one.world.record([service(`s${i}`, `10.96.0.${i + 1}`)]);
      await pass(one.clock, RETRY_MS);
    }
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    await expectReplayed(one);
  });

  test('strict: recording waits until writing works again and then continues by itself', async () => {
    const one = bench(true);
    await one.world.record([service('a', '10.96.0.1')]);
    one.fails = true;
    let done = false;
    const waiting = one.world.record([service('b', '10.96.0.2')]).then(() => {
      done = true;
    });
    await pass(one.clock, 5 * RETRY_MS);
    expect(done).toBe(false);
    expect(one.world.state.seq).toBe(1);
    one.fails = false;
    await pass(one.clock, 2 * RETRY_MS);
    await waiting;
    expect(await kinds(one.journal)).toEqual(['1 Add', '2 Gap', '3 Add']);
    await expectReplayed(one);
  });
});

describe('stopping', () => {
  test('waits for pending writes and refuses later facts', async () => {
    const one = bench();
    const under = one.world.record([service('a', '10.96.0.1')]);
    await one.world.stop();
    expect((await under).seq).toBe(1);
    await expect(one.world.record([service('b', '10.96.0.2')])).rejects.toThrow('stopping');
  });

  test('tries once more to record a gap', async () => {
    const one = bench();
    one.fails = true;
    await one.world.record([service('a', '10.96.0.1')]);
    one.fails = false;
    await one.world.stop();
    expect(await kinds(one.journal)).toEqual(['1 Gap', '2 Add']);
  });

  test('logs how many facts are lost if the gap cannot be recorded', async () => {
    const one = bench();
    one.fails = true;
    await one.world.record([service('a', '10.96.0.1'), service('b', '10.96.0.2')]);
    await one.world.stop();
    expect(one.logged.at(-1)).toContain('2 facts are lost');
  });
});
