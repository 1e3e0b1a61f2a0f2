// A replica whose state is not what the log says: it is noticed, serves no proxy, and folds its journal again.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { readSnapshot } from '../../../src/offline/load-state.ts';
import { Integrity, type Vote } from '../../../src/replicas/integrity.ts';
import { Replica } from '../../../src/replicas/replica.ts';
import { worldDigest } from '../../../src/replicas/world-digest.ts';
import { ReplicaIntegrity } from '../../../src/runtime/replica-integrity.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';
import { MemoryLog } from './memory-log.ts';

const SPEC = { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] };
const service: Unrecorded = {
  source: 'file/Kubernetes',
  kind: 'Add',
  object: { apiVersion: 'v1', kind: 'Service', metadata: { name: 'shop', namespace: 'default' }, spec: SPEC },
};
const proxy: Unrecorded = {
  source: 'xds',
  kind: 'ProxyConnected',
  connection: 'a',
  node: { id: 'sidecar~10.0.0.1~a.default~default.svc.cluster.local' },
  protocol: 'delta',
};

class Member {
  readonly clock = new FakeClock();
  readonly journal = openMemoryJournal({ clock: () => this.clock.now() });
  readonly said: string[] = [];
  readonly world: World;
  readonly replica: Replica;
  readonly integrity: ReplicaIntegrity;

  readonly id: string;

  constructor(id: string, log: MemoryLog, all: readonly Member[]) {
    this.id = id;
    const { journal, clock } = this;
    const say = (_level: string, message: string): void => void this.said.push(message);
    this.world = new World({ journal, state: emptyState, clock, strict: false, log: say });
    this.integrity = new ReplicaIntegrity({
      ...{ id, world: this.world, journal, clock, log: say },
      replica: () => this.replica,
      peers: () => ({
        others: () => all.filter(one => one !== this).map(one => ({ ...NOWHERE, id: one.id, digest: one.digest })),
      }),
    });
    this.integrity.disconnect = connection =>
      void this.world.record([{ source: 'xds', kind: 'ProxyDisconnected', connection, reason: 'withdrawn' }]);
    this.replica = new Replica({
      ...{ id, log, lease: log, journal, world: this.world, clock, say },
      onLead: () => undefined,
      onFollow: () => undefined,
      onCheckPoint: state => this.integrity.watch.checkPoint(state),
    });
  }

  get digest() {
    return this.integrity.watch.digest;
  }

  /** Flips a bit of a port, where no event says so. */
  flip(): void {
    const record = this.world.state.records.get('Service|Kubernetes/default/shop|file/Kubernetes');
    const spec = record!.raw!.spec as unknown as { readonly ports: { port: number }[] };
    spec.ports[0]!.port ^= 1;
  }
}

const NOWHERE = { position: 0, chain: '' };

async function three(count = 3) {
  const log = new MemoryLog();
  const all: Member[] = [];
  for (let i = 0; i < count; i++) all.push(new Member(`r${i}`, log, all));
  for (const { replica } of all) replica.start();
  const pass = async (ms: number): Promise<void> => {
    for (const { clock } of all) {
      const until = clock.now() + ms;
      while (clock.next(until)) await settle(5);
    }
    await settle(50);
    for (const { integrity } of all) integrity.watch.heard();
    await settle(50);
  };
  await pass(2_000);
  await all[0]!.replica.recordNews(() => [service]);
  await pass(1_000);
  return { all, pass, leader: all[0]!, follower: all[1]! };
}

/** Past the next check point that the leader writes. */
const CHECK_POINT_MS = 11 * 60_000;

describe('a replica whose memory lost a bit', () => {
  it('withdraws, folds its journal again, and serves what the others serve', async () => {
    const { all, pass, follower } = await three();
    await follower.world.record([proxy]);
    const intact = worldDigest(follower.world.state);
    follower.flip();
    expect(worldDigest(follower.world.state)).not.toBe(intact);
    await pass(CHECK_POINT_MS);
    await pass(1_000);
    expect(follower.said.join('\n')).toContain('this replica serves no proxy: its state at position');
    expect(follower.world.state.proxies.size).toBe(0);
    expect(follower.integrity.withdrawn).toBeUndefined();
    expect(new Set(all.map(({ world }) => worldDigest(world.state))).size).toBe(1);
    expect(all.filter(({ replica }) => replica.term !== undefined)).toHaveLength(1);
  });

  it('leads no more, if it led, and another replica writes', async () => {
    const { all, pass, leader } = await three();
    leader.flip();
    await pass(CHECK_POINT_MS);
    await pass(5_000);
    expect(leader.said.join('\n')).toContain('this replica follows from now on: its state is doubted');
    expect(leader.said.join('\n')).toContain('the state was mended');
    expect(new Set(all.map(({ world }) => worldDigest(world.state))).size).toBe(1);
  });

  it('is found by folding again where two replicas contradict each other, and the other one serves on', async () => {
    const { pass, leader, follower } = await three(2);
    await leader.world.record([proxy]);
    follower.flip();
    await pass(CHECK_POINT_MS);
    await pass(1_000);
    expect(leader.said.join('\n')).not.toContain('serves no proxy');
    expect(leader.world.state.proxies.size).toBe(1);
    expect(follower.said.join('\n')).toContain('the state was mended');
    expect(worldDigest(follower.world.state)).toBe(worldDigest(leader.world.state));
  });

  it('replaces the snapshots that may hold it, one that is being written too', async () => {
    const { pass, follower } = await three();
    follower.flip();
    const { snapshots } = follower.journal;
    const { seq } = follower.world.state;
    await snapshots.write({ seq, format: 1, facts: [] });
    const list = snapshots.list.bind(snapshots);
    let begins: (() => Promise<unknown>) | undefined = () => snapshots.write({ seq: seq - 1, format: 1, facts: [] });
    snapshots.list = async () => {
      const found = await list();
      const begin = begins;
      begins = undefined;
      void begin?.();
      return found;
    };
    await pass(CHECK_POINT_MS);
    await pass(1_000);
    expect(begins).toBeUndefined();
    const left = await snapshots.list();
    expect(left).toHaveLength(1);
    expect(left[0]!.seq).toBeGreaterThan(seq);
    const state = await readSnapshot(follower.journal, Number.MAX_SAFE_INTEGER);
    expect([state!.seq, worldDigest(state!)]).toEqual([left[0]!.seq, worldDigest(follower.world.state)]);
  });
});

describe('a contradiction', () => {
  const state = { ...emptyState, worldLog: { ...NOWHERE, position: 7, log: 'l', term: 1, leader: 'a', facts: 0 } };
  const watch = (others: readonly Vote[]) => {
    const done: string[] = [];
    const integrity = new Integrity({
      id: 'own',
      others: () => others,
      foldAgain: async () => state,
      withdraw: async () => void done.push('withdraws'),
      rejoin: async () => void done.push('rejoins'),
      say: (_level, message) => void done.push(message),
    });
    integrity.checkPoint(state);
    return { integrity, done };
  };

  it('that the journal of the replica holds too leaves it withdrawn, with what to do', async () => {
    const digest = { position: 7, hash: 'other' };
    const { integrity, done } = watch([
      { id: 'b', digest },
      { id: 'c', digest },
    ]);
    await integrity.settled();
    expect(done[0]).toBe('at position 7 of the log the state of own is another one');
    expect(done.slice(1)).toEqual([
      'withdraws',
      'the journal gives it too: stop this replica, remove its mirror and start it again',
    ]);
  });

  it('is none before enough replicas have taken the digest of the same check point', async () => {
    const { integrity, done } = watch([
      { id: 'b', digest: { position: 7, hash: 'other' } },
      { id: 'c', digest: { position: 6, hash: 'older' } },
    ]);
    await integrity.settled();
    expect(done).toEqual([]);
  });

  it('of one other replica that most others do not share is named and changes nothing here', async () => {
    const hash = worldDigest(state);
    const { integrity, done } = watch([
      { id: 'b', digest: { position: 7, hash } },
      { id: 'c', digest: { position: 7, hash: 'other' } },
    ]);
    integrity.heard();
    await integrity.settled();
    expect(done).toEqual(['at position 7 of the log the state of c is another one']);
  });
});
