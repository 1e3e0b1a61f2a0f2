// Law 4: delta client = state-of-the-world client after quiescence. Two clients, one of each protocol, live through the
// same history of changed sets, pushes, subscriptions, reconnects and slow reading, each answering (or refusing) in its
// own time. In the end both hold what generation gives for their subscription: exactly, for types with a wildcard and
// for delta; for named types of state of the world every resource that exists (the protocol has no words for one that
// is gone).

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Versions } from '../../src/xds/session/session.ts';
import { CDS, EDS, LDS, RDS, rulesOf } from '../../src/xds/session/types.ts';
import { BAD, TestClient } from '../protocol/test-client.ts';
import type { Config } from '../protocol/world.ts';
import { parameters } from './seed.ts';

const TYPES = [CDS, EDS, LDS, RDS] as const;
const NAMES = ['a', 'b', 'c', 'd'] as const;

type Weighed = { readonly weight: number; readonly arbitrary: fc.Arbitrary<Action> };
type Action =
  | { readonly kind: 'set'; readonly typeUrl: string; readonly set: Versions; readonly push: boolean }
  | { readonly kind: 'subscribe'; readonly typeUrl: string; readonly names: readonly string[] }
  | { readonly kind: 'push' }
  | { readonly kind: 'answer' | 'read' | 'stall' | 'reconnect'; readonly who: number };

/** Few, so that what was there comes back. */
const version = fc.constantFrom('1', '1', '2', BAD);
const type = fc.constantFrom(...TYPES);
const who = fc.integer({ min: 0, max: 1 });
const set = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...NAMES), version), { selector: ([name]) => name })
  .map(pairs => new Map(pairs.sort(([a], [b]) => (a < b ? -1 : 1))));
const weighed = <A extends Action>(weight: number, arbitrary: fc.Arbitrary<A>) => ({ weight, arbitrary });
const names = fc.subarray([...NAMES], { minLength: 1 });
/** What clients do. */
const theirs = [
  weighed(2, fc.record({ kind: fc.constant('subscribe' as const), typeUrl: type, names })),
  weighed(5, fc.record({ kind: fc.constant('answer' as const), who })),
  weighed(2, fc.record({ kind: fc.constantFrom('read' as const, 'stall' as const, 'reconnect' as const), who })),
];
/** What happens to the mesh. */
const ours = [
  weighed(4, fc.record({ kind: fc.constant('set' as const), typeUrl: type, set, push: fc.boolean() })),
  weighed(2, fc.constant({ kind: 'push' as const })),
];
const histories = fc.array(fc.oneof<Weighed[]>(...ours, ...theirs), { maxLength: 60, size: 'max' });
/** The time after the last push, without further events. */
const tails = fc.array(fc.oneof<Weighed[]>(...theirs), { maxLength: 15, size: 'max' });

type Look = (clients: readonly [TestClient, TestClient]) => void;

function live(
  actions: readonly Action[],
  tail: readonly Action[],
  look?: Look,
): readonly [sotw: TestClient, delta: TestClient] {
  const config: Config = new Map(TYPES.map(typeUrl => [typeUrl, new Map<string, string>()]));
  const clients = [new TestClient('sotw', config), new TestClient('delta', config)] as const;
  for (const one of clients) for (const typeUrl of TYPES) one.subscribe(typeUrl, ['a', 'b']);
  for (const act of actions) {
    run(act, config, clients);
    look?.(clients);
  }
  // Quiescence: no rejected resource is left, and every client has been pushed to, has subscribed, read and answered.
  for (const [typeUrl, all] of config) {
    for (const [name, held] of all) if (held === BAD) config.get(typeUrl)!.set(name, 'mended');
  }
  for (const one of clients) {
    one.world.changed();
    one.push();
  }
  for (const act of tail) run(act, config, clients);
  for (const one of clients) one.settle();
  return clients;
}

function run(act: Action, config: Config, clients: readonly [TestClient, TestClient]): void {
  switch (act.kind) {
    case 'set':
      config.set(act.typeUrl, new Map(act.set));
      for (const one of clients) one.world.changed();
      if (act.push) for (const one of clients) one.push();
      break;
    case 'subscribe':
      for (const one of clients) one.subscribe(act.typeUrl, act.names);
      break;
    case 'push':
      for (const one of clients) one.push();
      break;
    case 'answer':
      clients[act.who]!.answer();
      break;
    case 'reconnect':
      clients[act.who]!.reconnect();
      break;
    case 'read':
    case 'stall':
      clients[act.who]!.read(act.kind === 'read');
      break;
  }
}

function expectedOf(client: TestClient, typeUrl: string): Versions {
  const names = client.wants.get(typeUrl);
  return client.world.expected(typeUrl, { wildcard: names === undefined, names: names ?? new Set() })!;
}

function check([sotw, delta]: readonly [TestClient, TestClient]): void {
  for (const typeUrl of TYPES) {
    const expected = [...expectedOf(delta, typeUrl)];
    expect([...(delta.holds.get(typeUrl) ?? [])].sort(), `delta ${typeUrl}`).toEqual(expected);
    const held = [...(sotw.holds.get(typeUrl) ?? [])].sort();
    const known = rulesOf(typeUrl).wildcard
      ? held
      : held.filter(([name]) => expected.some(([other]) => other === name));
    expect(known, `sotw ${typeUrl}`).toEqual(expected);
  }
}

const CENSUS = 200;

const answers = (count: number, who: number): Action[] =>
  Array.from({ length: count }, () => ({ kind: 'answer', who }));
const setTo = (typeUrl: string, versions: Readonly<Record<string, string>>, push: boolean): Action => ({
  kind: 'set',
  typeUrl,
  set: new Map(Object.entries(versions)),
  push,
});

/** Counterexamples found before, replayed first; and what chance seldom comes to. */
const FOUND: readonly (readonly [history: Action[], tail?: Action[]])[] = [
  // A cluster that was refused, and went, and was to be taken away later, was said to be gone, and not sent when it was
  // back.
  [
    [
      ...answers(2, 1),
      setTo(CDS, { b: '3', d: BAD }, true),
      setTo(CDS, { d: '1' }, false),
      ...answers(2, 1),
      { kind: 'push' },
      { kind: 'answer', who: 1 },
      setTo(CDS, { b: '3' }, false),
    ],
  ],
  [
    [
      setTo(CDS, { c: BAD, d: '2' }, true),
      { kind: 'answer', who: 1 },
      setTo(CDS, { a: '1' }, false),
      ...answers(4, 1),
      { kind: 'push' },
      setTo(CDS, { d: '2' }, false),
    ],
  ],
  // A client of state of the world names something else, and then the first again, before any of it was in time.
  [
    [
      ...answers(3, 0),
      setTo(CDS, { a: '3' }, false),
      { kind: 'subscribe', typeUrl: RDS, names: ['b'] },
      setTo(EDS, { a: '1' }, false),
      { kind: 'subscribe', typeUrl: EDS, names: ['d'] },
      { kind: 'push' },
      setTo(EDS, { a: '1', b: '1' }, true),
      ...answers(4, 0),
      { kind: 'subscribe', typeUrl: EDS, names: ['a', 'b'] },
    ],
  ],
  // The refused cluster comes back while it waits to be taken away, with nothing else to say.
  [
    [
      setTo(CDS, { b: '1', d: BAD }, true),
      setTo(CDS, { d: '1' }, true),
      ...answers(5, 1),
      setTo(CDS, { b: '1', d: '1' }, true),
    ],
  ],
  // What was refused with something that is gone may be accepted now.
  [[...answers(4, 0), setTo(EDS, { a: BAD, b: '1' }, true), ...answers(1, 0), setTo(EDS, { b: '1' }, false)]],
  // Given up and wanted again while a response is on its way that has something else.
  [
    [setTo(EDS, { a: '1', b: '1' }, true), ...answers(8, 0), setTo(EDS, { a: '1', b: '2' }, false)],
    [
      { kind: 'subscribe', typeUrl: EDS, names: ['b'] },
      { kind: 'subscribe', typeUrl: EDS, names: ['a', 'b'] },
    ],
  ],
  // A client of state of the world names something else, by a request that is too late, and again while it refuses what
  // came in between.
  [
    [
      { kind: 'subscribe', typeUrl: EDS, names: ['c', 'd'] },
      setTo(EDS, { c: 'bad' }, false),
      { kind: 'answer', who: 0 },
      { kind: 'subscribe', typeUrl: RDS, names: ['d'] },
      { kind: 'answer', who: 0 },
      { kind: 'subscribe', typeUrl: EDS, names: ['a', 'd'] },
      setTo(EDS, { a: '1' }, false),
    ],
  ],
];

describe('law 4: delta client = state-of-the-world client after quiescence', () => {
  test('holds under arbitrary interleavings of changes, ACKs, NACKs, reconnects, subscriptions and slow reads', () => {
    fc.assert(
      fc.property(histories, tails, (actions, tail) => check(live(actions, tail))),
      parameters<[Action[], Action[]]>(
        1_500,
        FOUND.map(([actions, tail = []]) => [actions, tail]),
      ),
    );
  });

  test('canary: a client that loses one response is detected', () => {
    const [sotw, delta] = live([{ kind: 'set', typeUrl: CDS, set: new Map([['a', '1']]), push: true }], []);
    delta.holds.get(CDS)?.delete('a');
    expect(() => check([sotw, delta])).toThrow();
  });

  test('census: the histories contain NACKs, held removals, and types that wait for slow readers, clusters or ACKs', () => {
    const met = { refused: 0, onHold: 0, unread: 0, waiting: 0, unanswered: 0 };
    for (const actions of fc.sample(histories, { numRuns: CENSUS, seed: 1 })) {
      const now = { onHold: false, unread: false, waiting: false, unanswered: false };
      const clients = live(actions, [], ([sotw, delta]) => {
        const { watches, cdsWait } = delta.world.session;
        now.onHold ||= (watches.get(CDS)?.heldRemovals.size ?? 0) > 0;
        now.waiting ||= cdsWait !== undefined;
        now.unread ||= [sotw, delta].some(
          ({ world }) => world.session.writing && world.session.pendingTypes.length > 0,
        );
        now.unanswered ||= TYPES.some(typeUrl => (watches.get(typeUrl)?.unanswered.length ?? 0) > 1);
      });
      if (clients.every(({ refusals }) => refusals > 0)) met.refused++;
      for (const what of ['onHold', 'unread', 'waiting', 'unanswered'] as const) if (now[what]) met[what]++;
    }
    expect(Math.min(...Object.values(met)), JSON.stringify(met)).toBeGreaterThan(CENSUS / 10);
  });
});
