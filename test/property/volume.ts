// Very many random facts through one state, made and folded in portions, so that only the state is kept.

import fc from 'fast-check';
import { fold } from '../../src/core/fold/fold-event.ts';
import { restore } from '../../src/core/fold/restore.ts';
import { snapshotOf } from '../../src/core/fold/snapshot.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { anyFact } from '../../src/testing/facts.ts';

const PORTION = 1_000;
const noneRejected: ReadonlySet<number> = new Set();

export interface Volume {
  readonly state: State;
  readonly failures: readonly string[];
  /** Positions at which the state was not that of its snapshot. */
  readonly unlike: readonly number[];
  readonly pushes: number;
  /** Bytes of heap at the end of each portion, as far as the garbage collector can be asked for. */
  readonly heap: readonly number[];
}

/**
 * The same seed, the same facts. At every `restartEvery`th portion the state is replaced by what its snapshot restores.
 */
export function foldVolume(count: number, seed: number, restartEvery: number): Volume {
  let state: State = emptyState;
  let pushes = 0;
  const failures: string[] = [];
  const unlike: number[] = [];
  const heap: number[] = [];
  for (let portion = 0; portion * PORTION < count; portion++) {
    for (const fact of fc.sample(anyFact, { numRuns: PORTION, seed: seed + portion })) {
      const {
        state: next,
        effects,
        failure,
      } = fold(state, { ...fact, seq: state.seq + 1, time: state.seq * 1_000 }, noneRejected);
      if (failure !== undefined) failures.push(`${next.seq} ${fact.kind}: ${failure}`);
      pushes += effects.filter(({ kind }) => kind === 'Push').length;
      state = next;
    }
    if (portion % restartEvery === restartEvery - 1) {
      const restored = restore([...snapshotOf(state)]);
      if (stateHash(restored) !== stateHash(state)) unlike.push(state.seq);
      state = restored;
    }
    globalThis.gc?.();
    heap.push(process.memoryUsage().heapUsed);
  }
  return { state, failures, unlike, pushes, heap };
}
