// What the session makes of answers and of inputs out of turn: refusals and what they say of the subscription (Istio
// pkg/xds/server.go ShouldRespond), texts that close a stream, late and foreign results.

import { describe, expect, test } from 'vitest';
import { withUnanswered } from '../../../../src/xds/session/ack-nack.ts';
import { blamedNames } from '../../../../src/xds/session/blame.ts';
import {
  NACK_MESSAGE_MAX,
  openSession,
  type Session,
  type SessionEffect,
  type SessionInput,
  TYPE_URL_CHARS_MAX,
  UNANSWERED_MAX,
  type Unanswered,
} from '../../../../src/xds/session/session.ts';
import { syncState } from '../../../../src/xds/session/status.ts';
import { step } from '../../../../src/xds/session/step.ts';
import { CDS, DEBUG_NONCE, DEBUG_PREFIX, EDS, HEALTH, LDS, RDS } from '../../../../src/xds/session/types.ts';

function run(session: Session, ...inputs: readonly SessionInput[]): readonly [Session, readonly SessionEffect[]] {
  let now = session;
  let last: readonly SessionEffect[] = [];
  for (const input of inputs) [now, last] = step(now, input);
  return [now, last];
}

const sotw = (typeUrl: string, names: readonly string[] = [], nonce = '', error?: string): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'sotw', typeUrl, names, nonce, error },
});
const delta = (typeUrl: string, subscribe: readonly string[] = [], nonce = '', error?: string): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'delta', typeUrl, subscribe, unsubscribe: [], initial: new Map(), nonce, error },
});
const unsubscribe = (typeUrl: string, names: readonly string[]): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'delta', typeUrl, subscribe: [], unsubscribe: names, initial: new Map(), nonce: '' },
});
/** `evaluated(2, { [CDS]: 'a=1 b=2' })` */
const evaluated = (evaluation: number, sets: Readonly<Record<string, string>>, stateSeq = evaluation): SessionInput => {
  const versions = (text: string): ReadonlyMap<string, string> =>
    new Map(text.split(' ').map(one => one.split('=') as [string, string]));
  return {
    kind: 'Evaluated',
    evaluation,
    view: { stateSeq, sets: new Map(Object.entries(sets).map(([type, text]) => [type, versions(text)])) },
  };
};
const SENT: SessionInput = { kind: 'Sent' };
const PUSH: SessionInput = { kind: 'Push' };
const watchOf = (session: Session, type: string) => session.watches.get(type)!;

describe('a request that names no type, or comes in the other protocol', () => {
  test('closes the stream with its reason', () => {
    expect(run(openSession('sotw', 's'), sotw(''))[1]).toMatchObject([{ message: 'the request has no type_url' }]);
    const long = 'x'.repeat(TYPE_URL_CHARS_MAX + 1);
    expect(run(openSession('sotw', 's'), sotw(long))[1]).toMatchObject([{ message: 'the type_url is too long' }]);
    expect(run(openSession('sotw', 's'), delta(CDS))[1]).toMatchObject([{ message: 'expected a sotw request' }]);
  });
});

describe('requests that leave no state', () => {
  test('are health reports and answers to debug responses', () => {
    const session = openSession('sotw', 's');
    expect(run(session, sotw(HEALTH))).toEqual([session, []]);
    expect(run(session, sotw(`${DEBUG_PREFIX}/syncz`, [], `${DEBUG_NONCE}7`))).toEqual([session, []]);
    expect(run(session, sotw(`${DEBUG_PREFIX}/syncz`, ['x'], `7${DEBUG_NONCE}`))[1]).toEqual([
      { kind: 'Debug', typeUrl: `${DEBUG_PREFIX}/syncz`, names: ['x'] },
    ]);
  });

  test('are refusals of a type that is not watched', () => {
    const session = openSession('sotw', 's');
    expect(run(session, sotw(CDS, ['a'], 'n', 'no'))).toEqual([session, []]);
  });
});

describe('inputs out of turn', () => {
  test('change nothing: results without an evaluation, a failure of an older one, the end of another wait', () => {
    const idle = openSession('delta', 's');
    for (const input of [evaluated(0, { [CDS]: 'a=1' }), { kind: 'Failed', evaluation: 0 } as const]) {
      expect(run(idle, input)).toEqual([idle, []]);
    }
    const [asking] = run(idle, delta(CDS));
    for (const input of [evaluated(2, { [CDS]: 'a=1' }), { kind: 'Failed', evaluation: 2 } as const]) {
      expect(run(asking, input)).toEqual([asking, []]);
    }
    const waiting: Session = { ...idle, cdsWait: { began: 's/2', awaited: 's/2' } };
    expect(run(waiting, { kind: 'CdsWaitOver', nonce: 's/1' })).toEqual([waiting, []]);
  });

  test('settle no push if none is under way when an evaluation fails', () => {
    const [failed, effects] = run(openSession('delta', 's'), delta(CDS), { kind: 'Failed', evaluation: 1 });
    expect(effects).toEqual([]);
    expect(failed.evaluating).toBe(false);
    expect(failed.pushing).toBe(false);
  });

  test('forget the view when the push has settled', () => {
    const [settled] = run(openSession('delta', 's'), delta(CDS), evaluated(1, { [CDS]: 'a=1' }), SENT);
    expect(settled.view).toBeUndefined();
    expect(settled.pendingTypes).toEqual([]);
  });
});

describe('a refusal', () => {
  // A session of its own for each test: what the session remembers hangs on the identity of its values.
  const fresh = (): Session =>
    run(openSession('sotw', 's'), sotw(RDS, ['a', 'b']), evaluated(1, { [RDS]: 'a=1 b=1' }), SENT)[0];

  test('is reported with the sorted names of its response, its message cut at the limit', () => {
    const opened = fresh();
    const long = 'x'.repeat(NACK_MESSAGE_MAX + 1);
    const told = (message: string): unknown => run(opened, sotw(RDS, ['a', 'b'], 's/1', message))[1][0];
    expect(told('b: bad')).toEqual({
      kind: 'Nacked',
      typeUrl: RDS,
      nonce: 's/1',
      message: 'b: bad',
      sent: ['a', 'b'],
      blamed: ['b'],
    });
    const half = 'x'.repeat(NACK_MESSAGE_MAX / 2);
    expect(told(long)).toMatchObject({ message: `${half}\n…\n${half}` });
    expect(told(long.slice(1))).toMatchObject({ message: long.slice(1) });
  });

  test('names the blamed resources in order, and never an empty name', () => {
    expect(blamedNames('b and a', ['b', 'a', ''])).toEqual(['a', 'b']);
    expect(blamedNames('a. b: c.. d', ['a', 'b', 'c', 'c.', 'd', 'd.'])).toEqual(['a', 'b', 'c.', 'd']);
    expect(blamedNames('of %a% and é é', ['%a%', 'é', 'é é é'])).toEqual(['%a%', 'é']);
    expect(blamedNames(`${' '.repeat(5_000)}%a% b`, ['%a%', 'b'])).toEqual(['b']);
    expect(blamedNames('b', ['b', 'c'])).toEqual(['b']);
    expect(blamedNames('b:', ['b', 'c'])).toEqual(['b']);
    expect(blamedNames('b.c is bad, as b-', ['b', 'x'])).toEqual([]);
  });

  test('changes the subscription by its names if it answers the last response', () => {
    const opened = fresh();
    const [after, effects] = run(opened, sotw(RDS, ['b', 'c'], 's/1', 'no'));
    expect([...watchOf(after, RDS).names]).toEqual(['b', 'c']);
    expect(effects).toMatchObject([
      { kind: 'Nacked' },
      { kind: 'Subscribed', subscribe: ['c'], unsubscribe: ['a'] },
      { kind: 'Evaluate' },
    ]);
  });

  test('leaves the subscription as it is without names, or with those of an older response', () => {
    const opened = fresh();
    expect([...watchOf(run(opened, sotw(RDS, [], 's/1', 'no'))[0], RDS).names]).toEqual(['a', 'b']);
    const [later] = run(opened, PUSH, evaluated(2, { [RDS]: 'a=2 b=1' }), SENT);
    const [old] = run(later, sotw(RDS, ['c'], 's/1', 'no'));
    expect([...watchOf(old, RDS).names]).toEqual(['a', 'b']);
    expect([...watchOf(run(later, sotw(RDS, [], 's/1', 'no'))[0], RDS).names]).toEqual(['a', 'b']);
  });

  test('is repeated at once with what no later response has contained', () => {
    const opened = fresh();
    const [later] = run(opened, PUSH, evaluated(2, { [RDS]: 'a=2 b=1' }), SENT);
    const [, effects] = run(later, sotw(RDS, ['a', 'b'], 's/1', 'no'));
    expect(effects.map(({ kind }) => kind)).toEqual(['Nacked', 'Evaluate']);
    const [, again] = run(later, sotw(RDS, ['a', 'b'], 's/1', 'no'), evaluated(3, { [RDS]: 'a=2 b=1' }));
    expect(again).toMatchObject([{ kind: 'Respond', names: ['a', 'b'] }]);
  });

  test.each(['sotw', 'delta'] as const)('of an unknown nonce is shown and refuses no name (%s)', protocol => {
    const said = protocol === 'sotw' ? sotw : delta;
    const sets = { [RDS]: 'a=1 b=1' };
    const [opened] = run(openSession(protocol, 's'), said(RDS, ['a', 'b']), evaluated(1, sets), SENT);
    const refusal = said(RDS, protocol === 'sotw' ? ['a', 'b'] : [], 'other/9', 'a: no');
    const [after, effects] = run(opened, refusal);
    expect(watchOf(after, RDS)).toEqual({ ...watchOf(opened, RDS), lastError: 'a: no' });
    expect(effects).toMatchObject([{ kind: 'Nacked', sent: [], blamed: [] }]);
    // Nothing is repeated: neither by a push without a change nor beside the name that did change.
    expect(run(after, PUSH, evaluated(2, sets))[1]).toEqual([{ kind: 'Settled' }]);
    const [, changed] = run(after, PUSH, evaluated(2, { [RDS]: 'a=1 b=2' }));
    expect(changed).toMatchObject([{ kind: 'Respond', names: ['b'] }]);
  });

  test('is forgotten in state of the world when the refused resource disappears', () => {
    const opened = fresh();
    const [refused] = run(opened, sotw(RDS, ['a', 'b'], 's/1', 'no'));
    expect([...watchOf(refused, RDS).nackedNames]).toEqual(['a', 'b']);
    // What is left of the refused response may be accepted without it.
    const [gone, effects] = run(refused, PUSH, evaluated(2, { [RDS]: 'b=1' }));
    expect([...watchOf(gone, RDS).nackedNames]).toEqual(['b']);
    expect(effects).toMatchObject([{ kind: 'Respond', names: ['b'] }]);
  });

  test('makes the rest due when the client stops watching one of its names', () => {
    const [refused] = run(
      openSession('delta', 's'),
      delta(RDS, ['a', 'b']),
      evaluated(1, { [RDS]: 'a=1 b=1' }),
      SENT,
      delta(RDS, [], 's/1', 'no'),
    );
    const [left] = run(refused, unsubscribe(RDS, ['a']));
    expect([...watchOf(left, RDS).nackedNames]).toEqual(['b']);
    expect(run(left, evaluated(2, { [RDS]: 'b=1' }))[1]).toMatchObject([{ kind: 'Respond', names: ['b'] }]);
    // Of a name that was accepted nothing is doubtful.
    const accepted = run(refused, delta(RDS, ['c']), evaluated(2, { [RDS]: 'a=1 b=1 c=1' }), SENT)[0];
    const [without] = run(accepted, delta(RDS, [], 's/2'), unsubscribe(RDS, ['a']));
    expect(watchOf(without, RDS).due.names.size).toBe(0);
    expect(without.evaluating).toBe(false);
  });
});

describe('an acceptance', () => {
  test('settles the error of a type only if it answers the last response', () => {
    const [two] = run(
      openSession('sotw', 's'),
      sotw(RDS, ['a']),
      evaluated(1, { [RDS]: 'a=1' }),
      SENT,
      PUSH,
      evaluated(2, { [RDS]: 'a=2' }),
      SENT,
    );
    const [refused] = run(two, sotw(RDS, ['a'], 's/1', 'no'));
    expect(syncState(watchOf(refused, RDS))).toBe('ERROR');
    const [older, effects] = run(two, sotw(RDS, ['a'], 's/1'));
    expect(watchOf(older, RDS)).toMatchObject({ nonceAcked: '', unanswered: [{ nonce: 's/2' }] });
    expect(effects).toEqual([{ kind: 'Expired', typeUrl: RDS, nonce: 's/1' }]);
    const [newest, acked] = run(refused, sotw(RDS, ['a'], 's/2'));
    expect(watchOf(newest, RDS)).toMatchObject({ nonceAcked: 's/2', lastError: '', unanswered: [] });
    expect(acked[0]).toEqual({ kind: 'Acked', typeUrl: RDS, nonce: 's/2' });
  });

  test('of one response leaves the refused names of others doubtful', () => {
    const [session] = run(
      openSession('delta', 's'),
      delta(RDS, ['a', 'b']),
      evaluated(1, { [RDS]: 'a=1 b=1' }),
      SENT,
      delta(RDS, [], 's/1', 'no'),
      delta(RDS, ['c']),
      evaluated(2, { [RDS]: 'a=1 b=1 c=1' }),
      SENT,
    );
    // The second response repeats what was refused.
    expect([...watchOf(session, RDS).unanswered[0]!.names].sort()).toEqual(['a', 'b', 'c']);
    expect([...watchOf(run(session, delta(RDS, [], 's/2'))[0], RDS).nackedNames]).toEqual([]);
    const odd: Session = {
      ...session,
      watches: session.watches.with(RDS, {
        ...watchOf(session, RDS),
        unanswered: [{ nonce: 's/2', names: new Set(['b']) }],
      }),
    };
    expect([...watchOf(run(odd, delta(RDS, [], 's/2'))[0], RDS).nackedNames]).toEqual(['a']);
  });

  test('before any response means that nothing was sent', () => {
    expect(syncState(watchOf(run(openSession('sotw', 's'), sotw(RDS, ['a']))[0], RDS))).toBe('NOT_SENT');
  });
});

describe('responses without an answer', () => {
  test('are merged, the two oldest under the newer nonce, past their limit', () => {
    let all: readonly Unanswered[] = [];
    for (let i = 0; i <= UNANSWERED_MAX; i++) all = withUnanswered(all, { nonce: `${i}`, names: new Set([`n${i}`]) });
    expect(all).toHaveLength(UNANSWERED_MAX);
    expect(all[0]).toEqual({ nonce: '1', names: new Set(['n0', 'n1']), oldest: '0' });
    expect(all.at(-1)).toEqual({ nonce: `${UNANSWERED_MAX}`, names: new Set([`n${UNANSWERED_MAX}`]) });
  });

  test('are blamed by their names if one of those that were merged is refused, and repeated', () => {
    const names = Array.from({ length: UNANSWERED_MAX + 2 }, (_, i) => `n${String(i).padStart(2, '0')}`);
    let [session] = run(openSession('delta', 's'), delta(CDS));
    // Each response has one more cluster.
    names.forEach((_, i) => {
      const text = names.slice(0, i + 1).map(name => `${name}=1`);
      [session] = run(session, ...(i === 0 ? [] : [PUSH]), evaluated(i + 1, { [CDS]: text.join(' ') }), SENT);
    });
    const { unanswered } = watchOf(session, CDS);
    expect(unanswered).toHaveLength(UNANSWERED_MAX);
    expect(unanswered[0]).toMatchObject({ nonce: 's/3', oldest: 's/1' });
    const [refused, effects] = run(session, delta(CDS, [], 's/1', 'n00: no such cluster'));
    const sent = ['n00', 'n01', 'n02'];
    expect(effects[0]).toMatchObject({ kind: 'Nacked', sent, blamed: ['n00'] });
    expect([...watchOf(refused, CDS).nackedNames].sort()).toEqual(sent);
    expect([...watchOf(refused, CDS).due.names].sort()).toEqual(sent);
    // The rest of the merged responses is answered later: accepted, that does not settle the refused names.
    const [accepted] = run(refused, delta(CDS, [], 's/3'));
    expect([...watchOf(accepted, CDS).nackedNames].sort()).toEqual(sent);
    expect(watchOf(accepted, CDS).unanswered[0]).toMatchObject({ nonce: 's/4' });
    const [again, more] = run(refused, delta(CDS, [], 's/3', 'n02: no such cluster'));
    expect(more[0]).toMatchObject({ kind: 'Nacked', blamed: ['n02'] });
    // The repetition is a response of its own; its ACK settles all.
    const all = names.map(name => `${name}=1`).join(' ');
    const [repeated, respond] = run(again, ...[1, 2].map(i => evaluated(names.length + i, { [CDS]: all })));
    expect(respond).toMatchObject([{ kind: 'Respond', names: sent, nonce: `s/${names.length + 1}` }]);
    const [settled] = run(repeated, SENT, delta(CDS, [], `s/${names.length + 1}`));
    expect([...watchOf(settled, CDS).nackedNames]).toEqual([]);
  });

  test('of another stream are not blamed', () => {
    const names = ['a', 'b'];
    const merged: Unanswered = { nonce: 's/3', names: new Set(names), oldest: 's/1' };
    const [asked] = run(openSession('delta', 's'), delta(RDS, names));
    const watch = { ...watchOf(asked, RDS), unanswered: [merged] };
    const session: Session = { ...asked, watches: asked.watches.with(RDS, watch) };
    for (const nonce of ['t/2', 's/0', 's/4', 's/x', '2', '']) {
      expect(run(session, delta(RDS, [], nonce, 'a: no'))[1][0]).toMatchObject({ kind: 'Nacked', sent: [] });
    }
    expect(run(session, delta(RDS, [], 's/2', 'a: no'))[1][0]).toMatchObject({ kind: 'Nacked', sent: names });
  });
});

describe('a subscription', () => {
  test('that changes while a view is under way drops the rest of it', () => {
    const [asked] = run(openSession('delta', 's'), delta(CDS), delta(EDS, ['a']));
    const [writing] = run(asked, evaluated(2, { [CDS]: 'a=1', [EDS]: 'a=1' }));
    expect(writing.pendingTypes).toEqual([EDS]);
    const [changed] = run(writing, unsubscribe(EDS, ['a']));
    expect(changed).toMatchObject({ pendingTypes: [], evaluationDue: true, evaluating: false });
    // With nothing under way, giving up a name asks for nothing.
    const [idle] = run(openSession('delta', 's'), delta(EDS, ['a']), evaluated(1, { [EDS]: 'a=1' }), SENT);
    const [left, effects] = run(idle, unsubscribe(EDS, ['a']));
    expect(effects).toEqual([{ kind: 'Subscribed', typeUrl: EDS, subscribe: [], unsubscribe: ['a'], wildcard: false }]);
    expect(left.evaluationDue).toBe(false);
  });

  test('is recorded with its names in order, and not again when it is repeated', () => {
    const [, effects] = run(openSession('sotw', 's'), sotw(RDS, ['b', 'a']));
    expect(effects[0]).toMatchObject({ kind: 'Subscribed', subscribe: ['a', 'b'], unsubscribe: [] });
    const [session] = run(openSession('sotw', 's'), sotw(RDS, ['b', 'a']), evaluated(1, { [RDS]: 'a=1 b=1' }), SENT);
    expect(run(session, sotw(RDS, ['d', 'c'], 's/1'))[1][1]).toMatchObject({
      subscribe: ['c', 'd'],
      unsubscribe: ['a', 'b'],
    });
    expect(run(session, sotw(RDS, ['a', 'b'], 's/1'))[1]).toEqual([{ kind: 'Acked', typeUrl: RDS, nonce: 's/1' }]);
    expect(run(session, sotw(RDS, ['a', 'c'], 's/1'))[1][1]).toMatchObject({ subscribe: ['c'], unsubscribe: ['b'] });
  });

  test('of nothing that is not watched leaves no trace', () => {
    const [session, effects] = run(openSession('sotw', 's'), sotw(EDS, [], 'old'));
    expect(effects).toEqual([]);
    expect(session.watches.has(EDS)).toBe(false);
  });

  test('by the versions that a reconnecting client holds does not record the star as a name', () => {
    const initial = new Map([
      ['*', ''],
      ['a', '1'],
    ]);
    const [session] = run(openSession('delta', 's'), {
      kind: 'Request',
      request: { protocol: 'delta', typeUrl: EDS, subscribe: ['b', 'c'], unsubscribe: ['c'], initial, nonce: '' },
    });
    expect(watchOf(session, EDS)).toMatchObject({ names: new Set(['b', 'a']), wildcard: false, explicit: true });
    expect([...watchOf(session, EDS).clientVersions]).toEqual([['a', '1']]);
    expect(watchOf(session, EDS).due).toEqual({ answer: true, everything: false, names: new Set() });
  });
});

describe('new clusters', () => {
  const synced = (...listeners: readonly string[]): Session => {
    const [session] = run(
      openSession('delta', 's'),
      delta(CDS),
      evaluated(1, { [CDS]: 'a=1' }),
      SENT,
      delta(CDS, [], 's/1'),
      ...listeners.map(type => delta(type, type === RDS ? ['r'] : [])),
    );
    return { ...session, evaluating: false, pendingTypes: [], view: undefined };
  };

  test.each([
    ['listeners', [LDS], true],
    ['routes', [RDS], true],
    ['neither listeners nor routes', [], false],
  ])('are waited for by a client that watches %s', (_, types, waits) => {
    const before = synced(...types);
    const sets = { [CDS]: 'a=1 b=1', [LDS]: 'l=1', [RDS]: 'r=1' };
    const [after, effects] = run(before, PUSH, evaluated(before.evaluations + 1, sets));
    expect(effects.some(({ kind }) => kind === 'AwaitCdsAck')).toBe(waits);
    expect(after.cdsWait === undefined).toBe(!waits);
    if (!waits) return;
    expect(run(after, SENT)[1]).toEqual([]);
    expect(run(after, SENT, { kind: 'CdsWaitOver', nonce: after.cdsWait?.began ?? '' })[1]).toMatchObject([
      { kind: 'Respond', typeUrl: types[0] },
    ]);
  });
});
