// The tracker is a memo and nothing else: whatever was asked before, of whichever state and proxy, and whatever was
// swept, a value is the one that a run from scratch gives.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProxyRecord } from '../../src/core/model/proxy.ts';
import type { Handle } from '../../src/core/query/proxy-facets.ts';
import type { Query } from '../../src/core/query/reader.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { emptyState, type State } from '../../src/core/state.ts';
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
