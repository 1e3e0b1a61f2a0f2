// What a session makes of views: which types are skipped, what a response holds and in which order, what waits for what.
// Rules: the xDS protocol ("Deleting resources", "ACK and NACK"), Istio pilot/pkg/xds/ads.go (PushOrder).

import { describe, expect, test } from 'vitest';
import { diffVersions } from '../../../../src/xds/session/name-sets.ts';
import {
  openSession,
  type Session,
  type SessionEffect,
  type SessionInput,
  WATCHED_NAMES_MAX,
  WATCHED_TYPES_MAX,
} from '../../../../src/xds/session/session.ts';
import { step } from '../../../../src/xds/session/step.ts';
import { CDS, ECDS, EDS, LDS, RDS } from '../../../../src/xds/session/types.ts';

type Sets = Readonly<Record<string, ReadonlyMap<string, string>>>;

function run(session: Session, ...inputs: readonly SessionInput[]): readonly [Session, readonly SessionEffect[]] {
  let now = session;
  let last: readonly SessionEffect[] = [];
  for (const input of inputs) [now, last] = step(now, input);
  return [now, last];
}

const delta = (
  typeUrl: string,
  subscribe: readonly string[] = [],
  more: { nonce?: string; unsubscribe?: readonly string[]; initial?: string; error?: string } = {},
): SessionInput => ({
  kind: 'Request',
  request: {
    protocol: 'delta',
    typeUrl,
    subscribe,
    unsubscribe: more.unsubscribe ?? [],
    initial: more.initial === undefined ? new Map() : versions(more.initial),
    nonce: more.nonce ?? '',
    error: more.error,
  },
});
const sotw = (typeUrl: string, names: readonly string[] = [], nonce = '', error?: string): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'sotw', typeUrl, names, nonce, error },
});
const versions = (text: string): ReadonlyMap<string, string> =>
  new Map(
    text
      .split(' ')
      .filter(Boolean)
      .map(one => one.split('=') as [string, string]),
  );
const SENT: SessionInput = { kind: 'Sent' };
const PUSH: SessionInput = { kind: 'Push' };
const watchOf = (session: Session, type: string) => session.watches.get(type)!;

/** Answers the outstanding evaluation, and takes all responses; the effects of all of it. */
function view(session: Session, sets: Sets, stateSeq: number): readonly [Session, readonly SessionEffect[]] {
  const { evaluations: evaluation } = session;
  let [now, effects] = step(session, {
    kind: 'Evaluated',
    evaluation,
    view: { stateSeq, sets: new Map(Object.entries(sets)) },
  });
  while (now.writing) {
    const [next, more] = step(now, SENT);
    now = next;
    effects = [...effects, ...more];
  }
  return [now, effects];
}

function push(session: Session, sets: Sets, stateSeq: number): readonly [Session, readonly SessionEffect[]] {
  return view(run(session, PUSH)[0], sets, stateSeq);
}

/** `CDS a b -c` of each response, other effects by kind. */
function shown(effects: readonly SessionEffect[]): readonly string[] {
  const short = (url: string): string => ({ [CDS]: 'CDS', [EDS]: 'EDS', [LDS]: 'LDS', [RDS]: 'RDS' })[url] ?? 'ECDS';
  return effects.map(effect =>
    effect.kind === 'Respond'
      ? [short(effect.typeUrl), ...effect.names, ...effect.removed.map(name => `-${name}`)].join(' ')
      : effect.kind,
  );
}

const answered = (session: Session, ...types: readonly string[]): Session =>
  types.reduce((now, type) => run(now, delta(type, [], { nonce: watchOf(now, type).nonceSent }))[0], session);

/** A client of all four types that has acknowledged everything. */
function settled(sets: Sets): Session {
  const asked = run(
    openSession('delta', 's'),
    delta(CDS),
    delta(EDS, [...(sets[EDS] ?? new Map()).keys()]),
    delta(LDS),
    delta(RDS, [...(sets[RDS] ?? new Map()).keys()]),
  )[0];
  return answered(view(asked, sets, 1)[0], CDS, EDS, LDS, RDS);
}
const sets = (): Sets => ({
  [CDS]: versions('a=1 b=1'),
  [EDS]: versions('a=1 b=1'),
  [LDS]: versions('l=1'),
  [RDS]: versions('r=1'),
});

describe('a new session', () => {
  test('sends nothing of itself', () => {
    const session = openSession('delta', 's');
    expect(run(session, SENT)).toEqual([session, []]);
    expect(run(session, delta(CDS), { kind: 'Failed', evaluation: 1 }, PUSH)[1]).toEqual([
      { kind: 'Evaluate', evaluation: 2 },
    ]);
  });

  test('says which limit a client exceeds', () => {
    const names = Array.from({ length: WATCHED_NAMES_MAX + 1 }, (_, i) => `n${i}`);
    const types = Array.from({ length: WATCHED_TYPES_MAX + 1 }, (_, i) => delta(`type/${i}`));
    const close = (...inputs: readonly SessionInput[]): unknown => run(openSession('delta', 's'), ...inputs)[1][0];
    expect(close(delta(EDS, names))).toMatchObject({
      message: `more than ${WATCHED_NAMES_MAX} names of ${EDS} on one stream`,
    });
    expect(close(...types)).toMatchObject({ message: 'more than 64 types on one stream' });
  });
});

describe('a push without change', () => {
  test('makes no new watch', () => {
    const same = sets();
    const before = settled(same);
    const [after, effects] = push(before, same, 2);
    expect(effects).toEqual([{ kind: 'Settled' }]);
    for (const [type, watch] of before.watches) expect(watchOf(after, type)).toBe(watch);
  });

  test('of some types sends the others alone', () => {
    const same = sets();
    const [, effects] = push(settled(same), { ...same, [LDS]: versions('l=2') }, 2);
    expect(shown(effects)).toEqual(['LDS l', 'Settled']);
    const [, last] = push(settled(same), { ...same, [RDS]: versions('r=2') }, 2);
    expect(shown(last)).toEqual(['RDS r', 'Settled']);
  });

  test('of listeners and routes lets a removed cluster go, for nothing names it any more', () => {
    const same = sets();
    const gone = { ...same, [CDS]: versions('a=1'), [EDS]: versions('a=1') };
    const [held, effects] = push(settled(same), gone, 2);
    // The look at the others is recorded, so the removal is due at once.
    expect(watchOf(held, LDS).syncedToSeq).toBe(2);
    expect(watchOf(held, RDS).syncedToSeq).toBe(2);
    expect(shown(effects)).toContain('Evaluate');
    expect(shown(view(held, gone, 2)[1])).toEqual(['CDS -b', 'Settled']);
  });

  test('of a type that cannot be served is silent, and what was due is forgotten', () => {
    const [session] = run(openSession('delta', 's'), delta(CDS));
    const [after, effects] = view(session, {}, 3);
    expect(effects).toEqual([]);
    expect(watchOf(after, CDS)).toMatchObject({ syncedToSeq: 3, due: { answer: false, everything: false } });
  });
});

describe('removals of a delta response', () => {
  const reconnected = (type: string, names: readonly string[], initial: string): Session =>
    run(openSession('delta', 's'), delta(type, names, { initial }))[0];

  test('are sorted, each once, whatever made them', () => {
    const three = reconnected(EDS, [], 'z=1 m=1 a=1');
    expect(shown(view(three, { [EDS]: versions('') }, 1)[1])).toEqual(['EDS -a -m -z']);
    const mixed = reconnected(EDS, ['x', 'b', 'k'], 'c=1 k=1');
    expect(shown(view(mixed, { [EDS]: versions('k=1') }, 1)[1])).toEqual(['EDS -b -c -x']);
    const asked = run(view(mixed, { [EDS]: versions('k=1') }, 1)[0], delta(EDS, ['y', 'x', 'k']))[0];
    expect(shown(view(asked, { [EDS]: versions('k=1') }, 1)[1])).toEqual(['EDS k -x -y']);
  });

  test('are the identical list for all clients that held and hold the same', () => {
    const [held, now] = [versions('a=1 b=1 c=1'), versions('a=1')];
    const client = (): Session =>
      view(run(openSession('delta', 's'), delta(EDS, ['a', 'b', 'c']))[0], { [EDS]: held }, 1)[0];
    const removed = [client(), client()].map(session => {
      const [effect] = push(session, { [EDS]: now }, 2)[1];
      return effect?.kind === 'Respond' ? effect.removed : undefined;
    });
    expect(removed[0]).toBe(removed[1]);
    expect(removed[0]).toBe(diffVersions(held, now).gone);
  });

  test('are never sent of extension configurations', () => {
    const [client] = view(
      run(openSession('delta', 's'), delta(ECDS, ['a', 'b']))[0],
      { [ECDS]: versions('a=1 b=1') },
      1,
    );
    expect(shown(push(client, { [ECDS]: versions('a=2') }, 2)[1])).toEqual(['ECDS a', 'Settled']);
  });

  test('make a response that is not everything, unless all that is left is in it', () => {
    const client = view(run(openSession('delta', 's'), delta(EDS, ['a', 'b']))[0], sets(), 1)[0];
    expect(push(client, { [EDS]: versions('a=2 b=1') }, 2)[1][0]).toMatchObject({ names: ['a'], full: false });
    expect(push(client, { [EDS]: versions('a=2') }, 2)[1][0]).toMatchObject({ names: ['a'], full: true });
  });
});

describe('a state-of-the-world response', () => {
  const client = (type: string, names: readonly string[], text: string): Session => {
    const [session] = view(run(openSession('sotw', 's'), sotw(type, names))[0], { [type]: versions(text) }, 1);
    return run(session, sotw(type, names, 's/1'))[0];
  };

  test('is empty when the last resource of a wildcard type is gone', () => {
    expect(shown(push(client(CDS, [], 'a=1'), { [CDS]: versions('') }, 2)[1])).toEqual(['CDS', 'Settled']);
  });

  test('is empty for a name that does not exist, if it is asked for', () => {
    const [asked] = run(client(EDS, ['a'], 'a=1'), sotw(EDS, ['a', 'x'], 's/1'));
    expect(shown(view(asked, { [EDS]: versions('a=1') }, 1)[1])).toEqual(['EDS']);
  });

  test('is not sent because an accepted route disappears while another one is refused', () => {
    const both = client(RDS, ['a', 'b'], 'a=1 b=1');
    const [changed] = push(both, { [RDS]: versions('a=1 b=2') }, 2);
    const [refused] = run(changed, sotw(RDS, ['a', 'b'], 's/2', 'no'));
    expect(shown(push(refused, { [RDS]: versions('b=2') }, 3)[1])).toEqual(['Settled']);
  });

  test('holds everything again when a client adds the wildcard to its names', () => {
    const [asked] = run(client(CDS, ['a'], 'a=1'), sotw(CDS, ['*', 'a'], 's/1'));
    expect(shown(view(asked, { [CDS]: versions('a=1 b=1') }, 1)[1])).toEqual(['CDS a b']);
  });
});

describe('a refusal of one of several responses', () => {
  const opened = (): Session =>
    view(run(openSession('sotw', 's'), sotw(RDS, ['a', 'b']))[0], { [RDS]: versions('a=1 b=1') }, 1)[0];

  test('makes nothing due of what later ones contain together', () => {
    const [second] = push(opened(), { [RDS]: versions('a=2 b=1') }, 2);
    const [third] = push(second, { [RDS]: versions('a=2 b=2') }, 3);
    const [after, effects] = run(third, sotw(RDS, ['a', 'b'], 's/1', 'no'));
    expect(effects.map(({ kind }) => kind)).toEqual(['Nacked']);
    expect(watchOf(after, RDS).due).toEqual({ answer: false, everything: false, names: new Set() });
  });

  test('doubts its own names and those before it, not those after it', () => {
    const [client] = run(openSession('sotw', 's'), sotw(RDS, ['a']));
    const [one] = view(client, { [RDS]: versions('a=1') }, 1);
    const [two] = view(run(one, sotw(RDS, ['a', 'b'], 's/1'))[0], { [RDS]: versions('a=1 b=1') }, 1);
    const [three] = push(two, { [RDS]: versions('a=1 b=2') }, 2);
    const [four] = push(three, { [RDS]: versions('a=2 b=2') }, 3);
    // Unanswered: b (s/2), b (s/3), a (s/4).
    expect([...watchOf(run(four, sotw(RDS, [], 's/3', 'no'))[0], RDS).nackedNames]).toEqual(['b']);
  });

  test('without names asks only for what no later response contains', () => {
    const [second] = push(opened(), { [RDS]: versions('a=2 b=1') }, 2);
    expect([...watchOf(run(second, sotw(RDS, [], 's/1', 'no'))[0], RDS).due.names]).toEqual(['b']);
  });

  test('repeats the rest at once if the client has given up one of its names meanwhile', () => {
    const [client] = view(run(openSession('delta', 's'), delta(RDS, ['a', 'b']))[0], { [RDS]: versions('a=1 b=1') }, 1);
    const [left] = run(client, delta(RDS, [], { unsubscribe: ['b'] }), delta(RDS, [], { nonce: 's/1', error: 'no' }));
    expect([...watchOf(left, RDS).nackedNames]).toEqual(['a']);
    expect(shown(view(left, { [RDS]: versions('a=1') }, 1)[1])).toEqual(['RDS a']);
  });

  test('is reported with removed names in their order, too', () => {
    const [client] = view(run(openSession('delta', 's'), delta(RDS, ['a', 'b']))[0], { [RDS]: versions('b=1') }, 1);
    expect(run(client, delta(RDS, [], { nonce: 's/1', error: 'no' }))[1][0]).toMatchObject({ sent: ['a', 'b'] });
  });
});

describe('what is due of a subscription', () => {
  test('is everything after a first request in state of the world, and an answer in delta', () => {
    const first = (protocol: 'sotw' | 'delta', input: SessionInput): unknown =>
      watchOf(run(openSession(protocol, 's'), input)[0], EDS).due;
    expect(first('sotw', sotw(EDS, ['a']))).toEqual({ answer: true, everything: true, names: new Set() });
    expect(first('delta', delta(EDS, ['a']))).toEqual({ answer: true, everything: false, names: new Set() });
    const more = { initial: 'a=1', unsubscribe: ['b'] };
    expect(first('delta', delta(EDS, ['a', 'b'], more))).toEqual({ answer: true, everything: false, names: new Set() });
  });

  test('loses a name that is given up before it was sent', () => {
    const [client] = run(openSession('delta', 's'), delta(EDS, ['a']), delta(EDS, ['b', 'c']));
    expect([...watchOf(client, EDS).due.names]).toEqual(['b', 'c']);
    const [left] = run(client, delta(EDS, [], { unsubscribe: ['b'] }));
    expect([...watchOf(left, EDS).due.names]).toEqual(['c']);
  });

  test('is not a name that the first request subscribes to and gives up', () => {
    const [client] = run(openSession('delta', 's'), delta(EDS, ['a', 'b'], { unsubscribe: ['b'] }));
    expect([...watchOf(client, EDS).names]).toEqual(['a']);
  });

  test('is explicit once a client has named something, the star included', () => {
    const explicit = (...inputs: readonly SessionInput[]): boolean =>
      watchOf(run(openSession('delta', 's'), ...inputs)[0], CDS).explicit;
    expect([explicit(delta(CDS)), explicit(delta(CDS, ['*'])), explicit(delta(CDS, ['a']))]).toEqual([
      false,
      true,
      true,
    ]);
    expect(explicit(delta(CDS), delta(CDS, [], { unsubscribe: ['a'] }))).toBe(true);
  });

  test('is in answers to late requests only what they leave out', () => {
    const [one] = view(run(openSession('sotw', 's'), sotw(RDS, ['a', 'b']))[0], { [RDS]: versions('a=1 b=1') }, 1);
    const [two] = push(one, { [RDS]: versions('a=2 b=1') }, 2);
    expect(watchOf(run(two, sotw(RDS, ['a', 'b'], 's/1'))[0], RDS).due.names.size).toBe(0);
    expect(watchOf(run(two, sotw(RDS, ['b'], 's/1'))[0], RDS).due).toEqual({
      answer: false,
      everything: false,
      names: new Set(['a']),
    });
  });
});

describe('endpoints of clusters that warm', () => {
  test('go along with those that the client asks for', () => {
    const same = sets();
    const [writing] = run(settled(same), PUSH);
    const [sent] = step(writing, {
      kind: 'Evaluated',
      evaluation: writing.evaluations,
      view: { stateSeq: 2, sets: new Map(Object.entries({ ...same, [CDS]: versions('a=2 b=1') })) },
    });
    expect([...sent.warmingClusters]).toEqual(['a']);
    const [asked] = run(sent, delta(EDS, ['b']), SENT);
    const [after, effects] = view(asked, { ...same, [CDS]: versions('a=2 b=1') }, 2);
    expect(shown(effects)[0]).toBe('EDS a b');
    expect(after.warmingClusters.size).toBe(0);
  });

  test.each(['sotw', 'delta'] as const)(
    'are told once where there are none, and not again with each push: %s',
    protocol => {
      const of = protocol === 'delta' ? delta : sotw;
      const without = { [CDS]: versions('a=1 b=1'), [EDS]: versions('a=1') };
      const [asked] = run(view(run(openSession(protocol, 's'), of(CDS))[0], without, 1)[0], of(EDS, ['a', 'b']));
      const [first, told] = view(asked, without, 1);
      expect(shown(told).filter(line => line.startsWith('EDS'))).toEqual([protocol === 'delta' ? 'EDS a -b' : 'EDS a']);
      expect(first.warmingClusters.size).toBe(0);
      const again = { ...without, [CDS]: versions('a=1 b=2') };
      const acked = (session: Session): Session =>
        run(
          session,
          protocol === 'delta'
            ? delta(CDS, [], { nonce: watchOf(session, CDS).nonceSent })
            : sotw(CDS, [], watchOf(session, CDS).nonceSent),
        )[0];
      const [warming, effects] = push(acked(first), again, 2);
      expect(shown(effects).filter(line => line.startsWith('CDS'))).toHaveLength(1);
      const [silent, more] = push(acked(warming), again, 3);
      expect(shown(more).filter(line => line.startsWith('EDS'))).toEqual([]);
      expect(silent.warmingClusters.size).toBe(0);
    },
  );

  test('are not waited for when the cluster is gone again', () => {
    const [client] = view(run(openSession('delta', 's'), delta(CDS))[0], { [CDS]: versions('a=1 b=1') }, 1);
    expect([...client.warmingClusters]).toEqual(['a', 'b']);
    const [left] = push(answered(client, CDS), { [CDS]: versions('a=1') }, 2);
    expect([...left.warmingClusters]).toEqual(['a']);
  });
});

describe('listeners and routes behind new clusters', () => {
  test('wait for the newest response of clusters, also if it adds none, and unchanged endpoints do not stop them', () => {
    const same = sets();
    const added = { ...same, [CDS]: versions('a=1 b=1 c=1'), [LDS]: versions('l=2'), [RDS]: versions('r=2') };
    const [waiting, first] = push(settled(same), added, 2);
    expect(shown(first)).toEqual(['CDS c', 'AwaitCdsAck']);
    expect(waiting.pendingTypes).toEqual([LDS, RDS]);
    const [newer, second] = push(waiting, { ...added, [CDS]: versions('a=2 b=1 c=1') }, 3);
    expect(shown(second)).toEqual(['CDS a', 'EDS a']);
    const nonce = newer.cdsWait?.awaited ?? '';
    expect(nonce).not.toBe(waiting.cdsWait?.awaited);
    const late = waiting.cdsWait?.awaited ?? '';
    expect(shown(run(newer, delta(CDS, [], { nonce: late }))[1])).toEqual(['Expired']);
    expect(shown(run(newer, delta(CDS, [], { nonce }))[1])).toEqual(['Acked', 'LDS l']);
  });

  test('wait no longer than since the wait began, however many clusters were added meanwhile', () => {
    const same = sets();
    const added = { ...same, [CDS]: versions('a=1 b=1 c=1'), [LDS]: versions('l=2'), [RDS]: versions('r=2') };
    const [waiting, first] = push(settled(same), added, 2);
    const [began] = first.flatMap(effect => (effect.kind === 'AwaitCdsAck' ? [effect.nonce] : []));
    const [newer] = push(waiting, { ...added, [CDS]: versions('a=1 b=1 c=1 d=1') }, 3);
    expect(shown(run(newer, { kind: 'CdsWaitOver', nonce: newer.cdsWait?.awaited ?? '' })[1])).toEqual([]);
    const [after, effects] = run(newer, { kind: 'CdsWaitOver', nonce: began ?? '' });
    expect(shown(effects)).toEqual(['LDS l']);
    expect(after.cdsWait).toBeUndefined();
  });
});
