// The tracker is a memo and nothing else: whatever was asked before, of whichever state and proxy, and whatever was
// swept, a value is the one that a run from scratch gives.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProxyRecord } from '../../src/core/model/proxy.ts';
import type { Handle } from '../../src/core/query/proxy-facets.ts';
import type { Query, Selection } from '../../src/core/query/reader.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { put, step } from '../unit/world.ts';
import { anyMoves, anyProgram, type Move, moved, type Program, proxyAt, queriesOf } from './query-programs.ts';
import { parameters } from './seed.ts';

/** Counterexamples found before, replayed first. */
const FOUND: [Program, readonly Move[]][] = [
  // What was called came to the same value, but by asking the proxy something that it had not asked before.
  [
    [
      [
        {
          look: 'if',
          test: { look: 'objects', prefix: 'b/', as: 'count' },
          yes: { look: 'isIn', namespace: 'a' },
        },
      ],
      [{ look: 'query', back: 0, as: 'value' }],
    ],
    [
      { move: 'ask', fromTop: 0, proxy: 0 },
      { move: 'put', key: 'b/one', label: 'x' },
      { move: 'ask', fromTop: 0, proxy: 2 },
      { move: 'ask', fromTop: 0, proxy: 0 },
    ],
  ],
];

/** `runs`: the budget of the question. Two of the labels leave the value as it is. */
type ListMove =
  | { readonly move: 'ask'; readonly list: number; readonly runs: number }
  | { readonly move: 'put'; readonly name: number; readonly mode: string; readonly label: string }
  | { readonly move: 'mesh'; readonly file: string }
  | { readonly move: 'sweep' };

const anyListMoves: fc.Arbitrary<readonly ListMove[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        move: fc.constant('ask' as const),
        list: fc.nat(3),
        runs: fc.constantFrom(1, 2, 9),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        move: fc.constant('put' as const),
        name: fc.nat(1),
        mode: fc.constantFrom('STRICT', 'DISABLE'),
        label: fc.constantFrom('x', 'y'),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ move: fc.constant('mesh' as const), file: fc.constantFrom('', '/dev/stdout') }),
    },
    { weight: 1, arbitrary: fc.record({ move: fc.constant('sweep' as const) }) },
  ),
  { maxLength: 30, size: 'max' },
);

/** Counterexamples found before, replayed first. */
const FOUND_OF_LISTS: [readonly ListMove[]][] = [
  // An interrupted run was lent the calls of another list, whose own next run took them, too.
  [
    [
      { move: 'put', name: 0, mode: 'STRICT', label: 'x' },
      { move: 'ask', list: 0, runs: 9 },
      { move: 'ask', list: 1, runs: 1 },
      { move: 'mesh', file: '/dev/stdout' },
      { move: 'ask', list: 0, runs: 9 },
      { move: 'ask', list: 1, runs: 9 },
      { move: 'put', name: 0, mode: 'STRICT', label: 'y' },
      { move: 'ask', list: 0, runs: 9 },
      { move: 'ask', list: 1, runs: 9 },
      { move: 'put', name: 0, mode: 'DISABLE', label: 'y' },
      { move: 'ask', list: 1, runs: 9 },
    ],
  ],
];

const modeOf: Selection<{ readonly name: string }, string> = {
  name: 'modeOf',
  run: (reader, { name }) => reader.object('PeerAuthentication', `a/${name}`)?.labels.mode ?? '',
};
const modesOf: Selection<{ readonly names: readonly { readonly name: string }[] }, readonly string[]> = {
  name: 'modesOf',
  lineage: () => 'modes',
  run: (reader, { names }) => [...reader.selectEach(modeOf, names), reader.mesh('accessLogFile')],
};

/** Plays the moves; the number of answers, each of which was compared with what was put. */
function playLists(moves: readonly ListMove[]): number {
  const tracker = new Tracker();
  const [first, second, third] = ['0', '1', '2'].map(name => ({ name }));
  const lists = [
    [first!, second!],
    [first!, second!, third!],
    [second!, first!],
    [third!, first!],
  ].map(names => ({ names }));
  const modes = ['', '', ''];
  let file = '';
  let state = emptyState;
  let answers = 0;
  for (const move of moves) {
    if (move.move === 'sweep') tracker.sweep();
    else if (move.move === 'mesh') {
      file = move.file;
      state = step(state, { kind: 'MeshConfig', source: 'file/Kubernetes', value: { accessLogFile: file } }).state;
    } else if (move.move === 'put') {
      modes[move.name] = move.mode;
      state = put(state, {
        apiVersion: 'security.istio.io/v1',
        kind: 'PeerAuthentication',
        metadata: { name: String(move.name), namespace: 'a', labels: { mode: move.mode, other: move.label } },
        spec: {},
      }).state;
    } else {
      const list = lists[move.list]!;
      const { value } = tracker.within(move.runs, () => tracker.select(state, undefined, modesOf, list));
      if (value === undefined) continue;
      answers++;
      expect(value).toEqual([...list.names.map(({ name }) => modes[Number(name)]), file]);
    }
  }
  return answers;
}

type Ask = (state: State, proxy: ProxyRecord, query: Query<string, unknown>) => void;

/** Plays the moves; `ask` is called at each question, with `sweep` in between. */
function play(queries: readonly Query<string, unknown>[], moves: readonly Move[], ask: Ask, sweep: () => void): void {
  let state = emptyState;
  let before = state;
  // A connection keeps its record until its node is another one, as in a state.
  const proxies = [0, 1, 2].map(i => proxyAt(i, i));
  for (const move of moves) {
    if (move.move === 'ask') {
      ask(state, proxies[move.proxy]!, queries[queries.length - 1 - (move.fromTop % queries.length)]!);
    } else if (move.move === 'node') {
      proxies[move.connection] = proxyAt(move.connection, move.node);
    } else if (move.move === 'sweep') sweep();
    else if (move.move === 'back') [state, before] = [before, state];
    else {
      const next = moved(state, move);
      if (next.objects !== state.objects || next.mesh !== state.mesh) before = state;
      state = next;
    }
  }
}

function checked(queries: readonly Query<string, unknown>[], moves: readonly Move[]): void {
  const tracker = new Tracker();
  play(
    queries,
    moves,
    (state, proxy, query) => {
      expect(tracker.get(state, proxy, query, '')).toEqual(new Tracker().get(state, proxy, query, ''));
    },
    () => tracker.sweep(),
  );
}

describe('tracked queries', () => {
  it('equal a run from scratch, after any changes, reads by any proxies, and sweeps', () => {
    fc.assert(
      fc.property(anyProgram, anyMoves, (program, moves) => checked(queriesOf(program), moves)),
      parameters(2_500, FOUND),
    );
  });

  it('give the same values in slices of any size, with any events between two slices', () => {
    fc.assert(
      fc.property(anyProgram, anyMoves, fc.integer({ min: 8, max: 12 }), (program, moves, allowance) => {
        const tracker = new Tracker();
        const slice = (state: State, proxy: ProxyRecord, query: Query<string, unknown>) =>
          tracker.within(allowance, () => ({ answer: tracker.get(state, proxy, query, '') })).value;
        const ask: Ask = (state, proxy, query) => {
          slice(state, proxyAt(2, 3), query);
          let made = slice(state, proxy, query);
          for (let round = 0; made === undefined && round < 100; round++) made = slice(state, proxy, query);
          expect(made).toEqual({ answer: new Tracker().get(state, proxy, query, '') });
        };
        play(queriesOf(program), moves, ask, () => tracker.sweep());
      }),
      parameters(500),
    );
  });

  it('about lists of one lineage equal the lists, after any runs that were interrupted and taken up again or not', () => {
    let finished = 0;
    fc.assert(
      fc.property(anyListMoves, moves => {
        finished += playLists(moves);
      }),
      parameters(2_000, FOUND_OF_LISTS),
    );
    expect(finished).toBeGreaterThan(2_000);
  });

  it('give the same values for any reads and changes between two slices of a sweep', () => {
    let between = 0;
    fc.assert(
      fc.property(anyProgram, anyMoves, fc.integer({ min: 1, max: 60 }), (program, moves, pieces) => {
        const tracker = new Tracker();
        let sweep: Iterator<undefined, void> | undefined;
        const some = (): void => {
          for (let i = 0; i < pieces; i++) {
            sweep ??= tracker.sweeping();
            if (sweep.next().done === true) sweep = undefined;
          }
          if (sweep !== undefined) between++;
        };
        const ask: Ask = (state, proxy, query) => {
          // What is asked now and then is kept by each sweep, and so are the values that it rests on: they must be told
          // of changes.
          expect(tracker.get(state, proxy, query, '')).toEqual(new Tracker().get(state, proxy, query, ''));
          some();
        };
        play(queriesOf(program), moves, ask, some);
      }),
      parameters(2_000),
    );
    expect(between).toBeGreaterThan(2_000);
  });

  it('stay valid only while evaluating again would give the identical value', () => {
    let stood = 0;
    fc.assert(
      fc.property(anyProgram, anyMoves, (program, moves) => {
        const tracker = new Tracker();
        const queries = queriesOf(program);
        const known: { readonly proxy: ProxyRecord; readonly query: Query<string, unknown>; held: Handle<unknown> }[] =
          [];
        const ask: Ask = (state, proxy, query) => {
          for (const one of known) {
            if (!tracker.isCurrent(state, one.proxy, one.held)) continue;
            stood++;
            expect(one.held.value).toEqual(new Tracker().get(state, one.proxy, one.query, ''));
            expect(one.held.value).toBe(tracker.get(state, one.proxy, one.query, ''));
          }
          known.push({ proxy, query, held: tracker.handle(state, proxy, query, '') });
        };
        play(queries, moves, ask, () => tracker.sweep());
      }),
      parameters(1_000),
    );
    expect(stood).toBeGreaterThan(1_000);
  });

  it('have the provenance of a run from scratch', () => {
    fc.assert(
      fc.property(anyProgram, anyMoves, (program, moves) => {
        const tracker = new Tracker();
        const ask: Ask = (state, proxy, query) => {
          const scratch = new Tracker().provenance(state, proxy, query, '');
          expect(tracker.provenance(state, proxy, query, '')).toEqual(scratch);
        };
        play(queriesOf(program), moves, ask, () => tracker.sweep());
      }),
      parameters(500),
    );
  });

  it('are shared: proxies with equal nodes get the identical value at any time', () => {
    fc.assert(
      fc.property(anyProgram, anyMoves, (program, moves) => {
        const tracker = new Tracker();
        const ask: Ask = (state, proxy, query) => {
          const twin = { ...structuredClone(proxy), connection: 'twin' };
          expect(tracker.get(state, twin, query, '')).toBe(tracker.get(state, proxy, query, ''));
        };
        play(queriesOf(program), moves, ask, () => tracker.sweep());
      }),
      parameters(500),
    );
  });

  it('canary: a query that bypasses the reader, and one that reads the proxy, are detected', () => {
    const found = (broken: (state: () => State, proxy: () => ProxyRecord) => unknown): boolean => {
      let now = emptyState;
      let asking = proxyAt(0, 0);
      const query: Query<string, unknown> = {
        name: 'broken',
        run: reader => [
          reader.object('PeerAuthentication', 'a/one'),
          broken(
            () => now,
            () => asking,
          ),
        ],
      };
      const property = fc.property(anyMoves, moves => {
        const tracker = new Tracker();
        const ask: Ask = (state, proxy) => {
          now = state;
          asking = proxy;
          expect(tracker.get(state, proxy, query, '')).toEqual(new Tracker().get(state, proxy, query, ''));
        };
        play([query], moves, ask, () => tracker.sweep());
      });
      return fc.check(property, { numRuns: 300, seed: 1 }).failed;
    };
    expect(found(() => 0)).toBe(false);
    expect(found(state => state().objects.PeerAuthentication.size)).toBe(true);
    expect(found((_, proxy) => proxy().facets.namespace)).toBe(true);
  });
});
