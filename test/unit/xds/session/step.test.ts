// Cases of the session that the scenarios do not reach: limits, failed evaluations, late answers.

import { describe, expect, test } from 'vitest';
import { blamedNames } from '../../../../src/xds/session/blame.ts';
import {
  NACK_MESSAGE_MAX,
  noVersions,
  openSession,
  type Session,
  type SessionEffect,
  type SessionInput,
  UNANSWERED_MAX,
  WATCHED_NAMES_MAX,
  WATCHED_TYPES_MAX,
} from '../../../../src/xds/session/session.ts';
import { syncState } from '../../../../src/xds/session/status.ts';
import { step } from '../../../../src/xds/session/step.ts';
import { byPushOrder, CDS, ECDS, EDS, LDS, NDS, RDS, rulesOf, SDS } from '../../../../src/xds/session/types.ts';

function run(session: Session, ...inputs: readonly SessionInput[]): readonly [Session, readonly SessionEffect[]] {
  let now = session;
  let last: readonly SessionEffect[] = [];
  for (const input of inputs) [now, last] = step(now, input);
  return [now, last];
}

const delta = (typeUrl: string, subscribe: readonly string[] = [], nonce = ''): SessionInput => ({
  kind: 'Request',
  request: { protocol: 'delta', typeUrl, subscribe, unsubscribe: [], initial: new Map(), nonce },
});
const evaluated = (evaluation: number, typeUrl: string, version: string) => ({
  kind: 'Evaluated' as const,
  evaluation,
  view: { stateSeq: evaluation, sets: new Map([[typeUrl, new Map([['a', version]])]]) },
});

describe('step', () => {
  test('closes the stream for a request without a type or of the other protocol', () => {
    expect(run(openSession('delta', 's'), delta(''))[1]).toMatchObject([{ kind: 'Close', code: 'INVALID_ARGUMENT' }]);
    expect(run(openSession('sotw', 's'), delta(CDS))[1]).toMatchObject([{ kind: 'Close', code: 'INVALID_ARGUMENT' }]);
  });

  test('gives clients that hold nothing the identical empty versions', () => {
    for (const typeUrl of [CDS, EDS]) {
      expect(run(openSession('delta', 's'), delta(typeUrl))[0].watches.get(typeUrl)?.clientVersions).toBe(noVersions);
    }
    expect(run(openSession('delta', 's'), delta(EDS, ['a']))[0].watches.get(EDS)?.clientVersions).toBe(noVersions);
  });

  test('closes a stream that exceeds a limit, and none at the limit', () => {
    const names = Array.from({ length: WATCHED_NAMES_MAX }, (_, i) => `n${i}`);
    expect(run(openSession('delta', 's'), delta(EDS, names))[1]).toMatchObject([
      { kind: 'Subscribed' },
      { kind: 'Evaluate' },
    ]);
    expect(run(openSession('delta', 's'), delta(EDS, [...names, 'more']))[1]).toMatchObject([
      { kind: 'Close', code: 'RESOURCE_EXHAUSTED' },
    ]);
    const types = Array.from({ length: WATCHED_TYPES_MAX }, (_, i) => delta(`type/${i}`));
    expect(run(openSession('delta', 's'), ...types)[1]).toMatchObject([{ kind: 'Subscribed' }, { kind: 'Evaluate' }]);
    expect(run(openSession('delta', 's'), ...types, delta('type/more'))[1]).toMatchObject([
      { kind: 'Close', code: 'RESOURCE_EXHAUSTED' },
    ]);
  });

  test('ends the push after a failed evaluation, does not repeat it by itself, and keeps what is due', () => {
    const [failed, effects] = run(
      openSession('delta', 's'),
      delta(CDS),
      { kind: 'Push' },
      { kind: 'Failed', evaluation: 1 },
    );
    // The push came while the evaluation was under way, so there is one more.
    expect(effects).toEqual([{ kind: 'Evaluate', evaluation: 2 }]);
    const [again, settled] = run(failed, { kind: 'Failed', evaluation: 2 });
    expect(settled).toEqual([{ kind: 'Settled' }]);
    expect(run(again, { kind: 'Push' }, evaluated(3, CDS, '1'))[1]).toMatchObject([{ kind: 'Respond', names: ['a'] }]);
  });

  test('ignores a view that is unrequested or older than the subscription', () => {
    const [session] = run(openSession('delta', 's'), delta(RDS, ['a']), delta(RDS, ['b']));
    expect(run(session, evaluated(1, RDS, '1'))[1]).toEqual([]);
    expect(run(session, evaluated(2, RDS, '1'))[1]).toMatchObject([{ kind: 'Respond', names: ['a'] }]);
    expect(run(session, { kind: 'CdsWaitOver', nonce: 'never' })[1]).toEqual([]);
  });

  test('makes nonces for the stream, and keeps a bounded number of unanswered responses', () => {
    let [session] = run(openSession('delta', 'conn-7'), delta(CDS), evaluated(1, CDS, '0'), { kind: 'Sent' });
    for (let i = 2; i <= 3 * UNANSWERED_MAX; i++) {
      [session] = run(session, { kind: 'Push' }, evaluated(i, CDS, String(i)), { kind: 'Sent' });
    }
    const watch = session.watches.get(CDS)!;
    expect(watch.nonceSent).toBe(`conn-7/${3 * UNANSWERED_MAX}`);
    expect(watch.unanswered).toHaveLength(UNANSWERED_MAX);
    expect(syncState(watch)).toBe('STALE');
    const [answered] = run(session, delta(CDS, [], watch.nonceSent));
    expect(answered.watches.get(CDS)!.unanswered).toEqual([]);
    expect(syncState(answered.watches.get(CDS)!)).toBe('SYNCED');
  });

  test('sends a name again that a NACK with an expired nonce left out', () => {
    const said = (names: readonly string[], nonce: string, error?: string): SessionInput => ({
      kind: 'Request',
      request: { protocol: 'sotw', typeUrl: RDS, names, nonce, error },
    });
    const [session] = run(
      openSession('sotw', 's'),
      said(['a', 'b'], ''),
      evaluated(1, RDS, '1'),
      { kind: 'Sent' },
      { kind: 'Push' },
      evaluated(2, RDS, '2'),
      { kind: 'Sent' },
    );
    const asked = (names: readonly string[]): readonly SessionEffect[] =>
      run(session, said(names, 's/1', 'no'), said(['a', 'b'], 's/2'), evaluated(3, RDS, '2'))[1];
    expect(asked(['b'])).toMatchObject([{ kind: 'Respond', names: ['a'] }]);
    expect(asked(['a', 'b'])).toEqual([]);
  });

  test('ends the wait for a cluster with an empty nonce too: such a client may never answer the response', () => {
    const waiting: Session = { ...openSession('delta', 's'), cdsWait: { began: 's/1', awaited: 's/1' } };
    expect(run(waiting, delta(CDS, ['b'], ''))[0].cdsWait).toBeUndefined();
    expect(run(waiting, delta(CDS, ['b'], 's/1'))[0].cdsWait).toBeUndefined();
    expect(run(waiting, delta(CDS, ['b'], 's/0'))[0].cdsWait?.awaited).toBe('s/1');
    expect(run(waiting, delta(LDS, ['b'], ''))[0].cdsWait?.awaited).toBe('s/1');
  });

  test('keeps both ends of a long refusal: the resource that it names or prints, and the reason', () => {
    const error = `cluster a:${' printed'.repeat(NACK_MESSAGE_MAX)}: value must be less than 100`;
    const nack: SessionInput = {
      kind: 'Request',
      request: {
        protocol: 'delta',
        typeUrl: CDS,
        subscribe: [],
        unsubscribe: [],
        initial: new Map(),
        nonce: 's/1',
        error,
      },
    };
    const [, effects] = run(openSession('delta', 's'), delta(CDS), evaluated(1, CDS, '1'), { kind: 'Sent' }, nack);
    const [{ message }] = effects as readonly [Extract<SessionEffect, { kind: 'Nacked' }>];
    expect(message).toMatch(/^cluster a: printed[\s\S]+\n…\n[\s\S]+ printed: value must be less than 100$/);
    expect(message.length).toBeLessThan(NACK_MESSAGE_MAX + 10);
  });

  test('keeps what an ACK of a later response accepted when a NACK of an earlier one comes late', () => {
    const said = (nonce: string, error?: string): SessionInput => ({
      kind: 'Request',
      request: { protocol: 'delta', typeUrl: CDS, subscribe: [], unsubscribe: [], initial: new Map(), nonce, error },
    });
    const [session] = run(
      openSession('delta', 's'),
      delta(CDS),
      evaluated(1, CDS, '1'),
      { kind: 'Sent' },
      { kind: 'Push' },
      evaluated(2, CDS, '2'),
      { kind: 'Sent' },
    );
    const [late, effects] = run(session, said('s/2'), said('s/1', 'no'));
    expect(late.watches.get(CDS)).toMatchObject({ nonceAcked: 's/2', lastError: 'no', unanswered: [] });
    expect(late.watches.get(CDS)?.nackedNames.size).toBe(0);
    expect(effects).toMatchObject([{ kind: 'Nacked', nonce: 's/1', sent: [], blamed: [] }]);
    // In the order in which they were sent, the refused name is doubtful until it is accepted.
    const [early] = run(session, said('s/1', 'no'));
    expect([...(early.watches.get(CDS)?.nackedNames ?? [])]).toEqual(['a']);
    expect(run(early, said('s/2'))[0].watches.get(CDS)?.nackedNames.size).toBe(0);
    // The same where names are doubtful when the ACK comes: it settles the responses before its own, too.
    const [again] = run(
      early,
      { kind: 'Push' },
      evaluated(3, CDS, '3'),
      { kind: 'Sent' },
      said('s/3'),
      said('s/2', 'no'),
    );
    expect(again.watches.get(CDS)).toMatchObject({ nonceAcked: 's/3', lastError: 'no', unanswered: [] });
    expect(again.watches.get(CDS)?.nackedNames.size).toBe(0);
  });

  test('sends nothing for an unchanged set, by identity or by value', () => {
    const first = evaluated(1, CDS, '1');
    const [session] = run(openSession('delta', 's'), delta(CDS), first, { kind: 'Sent' }, { kind: 'Push' });
    expect(run(session, { ...first, evaluation: 2 })[1]).toEqual([{ kind: 'Settled' }]);
    expect(run(session, evaluated(2, CDS, '1'))[1]).toEqual([{ kind: 'Settled' }]);
  });
});

describe('resource types', () => {
  test('sort in push order', () => {
    const shuffled = [NDS, 'z/Unknown', ECDS, SDS, RDS, LDS, EDS, CDS, 'a/Unknown'];
    expect(shuffled.sort(byPushOrder)).toEqual([CDS, EDS, LDS, RDS, SDS, 'a/Unknown', ECDS, NDS, 'z/Unknown']);
    expect([CDS, EDS, LDS, RDS, SDS, ECDS, NDS].map(url => rulesOf(url).wildcard)).toEqual([
      true,
      false,
      true,
      false,
      false,
      false,
      true,
    ]);
  });
});

describe('blamed names', () => {
  const sent = ['outbound|80||a.ns', 'outbound|80||a.ns.svc', '0.0.0.0_80', 'x'];
  test.each([
    ['Error adding/updating cluster(s) outbound|80||a.ns: bad, outbound|80||a.ns.svc: worse', sent.slice(0, 2)],
    ['Error adding/updating cluster(s) outbound|80||a.ns.svc: bad', ['outbound|80||a.ns.svc']],
    ['Error adding/updating listener(s) 0.0.0.0_80: no such filter', ['0.0.0.0_80']],
    ['Error adding/updating listener(s) 10.0.0.0_80: no such filter', []],
    ['Error adding/updating listener(s) 0.0.0.0_8080: no such filter', []],
    ['Only unique values for domains are permitted', []],
    ["resource 'x' is bad.", ['x']],
    ['about x.', ['x']],
  ])('are parsed from %s', (message, blamed) => {
    expect(blamedNames(message, sent)).toEqual(blamed);
  });

  test('are the one resource of a response, for any message', () => {
    expect(blamedNames('no', ['a'])).toEqual(['a']);
    expect(blamedNames('no', [])).toEqual([]);
  });
});
