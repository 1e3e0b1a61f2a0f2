// What happens to controllers and must not matter: a crash in the middle, a source that goes back in time, states that
// were never seen. Each operator makes another run of a history; after `settle`, when every source has listed its
// objects once more, the result equals that of a state with these lists alone (laws 2, 3 and 6 at once). The three
// perturbations find most bugs of controllers.

import type { JsonObject } from '../core/base/json.ts';
import type { Fact, Unrecorded } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { newsOfList, rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import { restore } from '../core/fold/restore.ts';
import { snapshotOf } from '../core/fold/snapshot.ts';
import { emptyState, type State } from '../core/state.ts';

/**
 * A run: facts as they come, a restart from a snapshot, or a complete list by a source, of which only the differences
 * become facts.
 */
export type RunStep =
  | { readonly kind: 'fact'; readonly fact: Unrecorded }
  | { readonly kind: 'restart' }
  | { readonly kind: 'relist'; readonly source: string; readonly objects: readonly JsonObject[] };

/** Source → the objects that it has, by key. */
export type SourceContents = ReadonlyMap<string, ReadonlyMap<string, JsonObject>>;

const noneRejected: ReadonlySet<number> = new Set();

export function plain(facts: readonly Unrecorded[]): readonly RunStep[] {
  return facts.map(fact => ({ kind: 'fact', fact }));
}

/** The process dies after `at` facts and starts from a snapshot of its state. */
export function crashed(facts: readonly Unrecorded[], at: number): readonly RunStep[] {
  return [...plain(facts.slice(0, at)), { kind: 'restart' }, ...plain(facts.slice(at))];
}

/**
 * After `at` facts the source lists what it had after `back` of them (a stale replica, a restored backup), and then
 * goes on.
 */
export function backInTime(facts: readonly Unrecorded[], source: string, at: number, back: number): readonly RunStep[] {
  const objects = [
    ...(contentsBySource(facts.slice(0, Math.min(at, back)))
      .get(source)
      ?.values() ?? []),
  ];
  return [...plain(facts.slice(0, at)), { kind: 'relist', source, objects }, ...plain(facts.slice(at))];
}

/**
 * A watcher that was away: of the facts about one object by one source only the last is seen, and those that `seen`
 * lets through.
 */
export function missed(facts: readonly Unrecorded[], seen: (index: number) => boolean): readonly RunStep[] {
  const last = new Map<string, number>();
  facts.forEach((fact, index) => {
    const key = keyOf(fact);
    if (key !== undefined) last.set(key, index);
  });
  return plain(
    facts.filter((fact, index) => {
      const key = keyOf(fact);
      return key === undefined || last.get(key) === index || seen(index);
    }),
  );
}

/**
 * The same facts as other watches would have brought them: those about one object by one source in their order,
 * everything else in any. `choices` say, one after the other, which object is next.
 */
export function reordered(facts: readonly Unrecorded[], choices: Iterable<number>): readonly Unrecorded[] {
  const queues = new Map<string, Unrecorded[]>();
  for (const fact of facts) {
    const key = keyOf(fact) ?? `${fact.source} ${fact.kind}`;
    const queue = queues.get(key);
    if (queue === undefined) queues.set(key, [fact]);
    else queue.push(fact);
  }
  const waiting = [...queues.values()];
  const merged: Unrecorded[] = [];
  const iterator = choices[Symbol.iterator]();
  while (waiting.length > 0) {
    const { value, done } = iterator.next();
    const at = done === true ? 0 : value % waiting.length;
    const queue = waiting[at]!;
    merged.push(queue.shift()!);
    if (queue.length === 0) waiting.splice(at, 1);
  }
  return merged;
}

/** What each source has in the end. */
export function contentsBySource(facts: readonly Unrecorded[]): SourceContents {
  const sources = new Map<string, Map<string, JsonObject>>();
  for (const fact of facts) {
    const key = keyOf(fact);
    const objects = sources.get(fact.source) ?? new Map<string, JsonObject>();
    sources.set(fact.source, objects);
    if (key === undefined) continue;
    if (fact.kind === 'Add' || fact.kind === 'Update') objects.set(key, fact.object);
    else objects.delete(key);
  }
  return sources;
}

export function run(steps: readonly RunStep[], from: State = emptyState): State {
  return steps.reduce((state, step) => {
    if (step.kind === 'restart') return restore([...snapshotOf(state)]);
    if (step.kind === 'fact') return folded(state, step.fact);
    const all = step.objects.map((object): Fact => ({ kind: 'Add', object }));
    return newsOfList(state, step.source, all, []).reduce(
      (at: State, fact) => folded(at, { source: step.source, ...fact }),
      state,
    );
  }, from);
}

/** Every source lists all of its objects again. */
export function settle(state: State, sources: SourceContents): State {
  const lists = [...sources].map(
    ([source, objects]): RunStep => ({ kind: 'relist', source, objects: [...objects.values()] }),
  );
  return run(lists, state);
}

function folded(state: State, fact: Unrecorded): State {
  const { state: next, failure } = fold(state, { ...fact, seq: state.seq + 1, time: state.time }, noneRejected);
  if (failure !== undefined) throw new Error(`${fact.kind} could not be folded: ${failure}`);
  return next;
}

function keyOf(fact: Unrecorded): string | undefined {
  if (fact.kind === 'Delete') return recordKeyOf(fact.source, fact.ref);
  return fact.kind === 'Add' || fact.kind === 'Update' ? recordKeyOf(fact.source, rawRef(fact.object)) : undefined;
}
