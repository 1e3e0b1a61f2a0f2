// Folds the events of a batch one after the other, in slices that yield to the event loop, and gathers what follows
// from them: one merged push request, all other effects, a Rejected fact for each event that cannot be folded. Such an
// event leaves the state as it was (law 8: no event is fatal). Listeners see each event with both its states.

import type { Steps } from '../core/base/steps.ts';
import type { Effect } from '../core/effect.ts';
import type { Event, Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { judgeAhead } from '../core/fold/record.ts';
import { type PushRequest, PushRequestSum } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import type { Progress } from './progress.ts';

/** Folding yields to the event loop after this time. */
export const FOLD_SLICE_MS = 10;

export interface WorldListener {
  /**
   * After each event, in journal order. After a journal gap is recorded, its events come again and `before` is not the
   * last `after`. Facts that were restored (`recordCarried`) have no call of their own.
   */
  onEvent?(before: State, event: Event, after: State): void;
  /**
   * After each batch, in journal order: the merged push requests of its events, and all other effects. `tookMs`: the
   * time of folding.
   */
  onFolded(state: State, request: PushRequest, effects: readonly Effect[], tookMs: number): void;
}

type ErrorLog = (level: 'error', message: string) => void;

/** What a batch led to. */
export interface FoldedBatch {
  readonly state: State;
  readonly request: PushRequest;
  readonly effects: readonly Effect[];
  /** Facts to be recorded, one for each event that could not be folded. */
  readonly failures: readonly Unrecorded[];
}

export interface FoldBatchOptions {
  readonly clock: Clock;
  readonly log: ErrorLog;
  /** Seqs of events that the journal says could not be folded. */
  readonly rejected: ReadonlySet<number>;
  readonly listeners: readonly WorldListener[];
  readonly progress: Progress;
}

export async function foldBatch(
  from: State,
  events: readonly Event[],
  { clock, log, rejected, listeners, progress }: FoldBatchOptions,
): Promise<FoldedBatch> {
  const effects: Effect[] = [];
  const request = new PushRequestSum();
  let state = from;
  const failures: Unrecorded[] = [];
  let sliceEnd = clock.now() + FOLD_SLICE_MS;
  for (const event of events) {
    for (const _ of stepsBefore(event, rejected)) {
      if (clock.now() < sliceEnd) continue;
      // Where a connection was read an immediate still comes in the same pass of the event loop.
      await progress.pause();
      await progress.pause();
      sliceEnd = clock.now() + FOLD_SLICE_MS;
    }
    // Without a connected proxy no push request is computed: a proxy that connects gets the newest state.
    const folded = fold(state, event, rejected, state.proxies.size > 0);
    for (const listener of listeners) listener.onEvent?.(state, event, folded.state);
    state = folded.state;
    if (folded.failure !== undefined) failures.push(rejection(event, folded.failure, log));
    for (const effect of folded.effects) {
      if (effect.kind === 'Push') request.add(effect.request);
      else effects.push(effect);
    }
    if (clock.now() >= sliceEnd) {
      await progress.pause();
      sliceEnd = clock.now() + FOLD_SLICE_MS;
    }
  }
  return { state, request: request.total(), effects, failures };
}

/** What can be done in steps before an event is folded. An error comes again in the fold. */
function* stepsBefore(event: Event, rejected: ReadonlySet<number>): Steps<void> {
  if ((event.kind !== 'Add' && event.kind !== 'Update') || rejected.has(event.seq)) return;
  try {
    yield* judgeAhead(event);
  } catch {
    // Folding the event fails alike, and says so.
  }
}

function rejection(event: Event, reason: string, log: ErrorLog): Unrecorded {
  log('error', `event ${event.seq} (${event.kind}) could not be folded and is skipped: ${reason}`);
  return { source: 'runtime', kind: 'Rejected', rejected: event.seq, reason };
}
