// Many events folded at once, where only the state after the last is wanted: a start from the journal, a look at the past. The same state
// as fold makes of them one by one (law 6), without making those in between.
//
// What is in force follows from the records, the mesh and the settings alone (law 3), so events of objects only change records, and what is
// in force and indexed is worked out once, at the end. Every version is decoded and judged all the same: of a refused one, the last accepted stays.

import { decodeRecord, recordKey, removedKey } from './apply-object.ts';
import type { Event } from './event.ts';
import { settleAll } from './in-force.ts';
import type { JsonObject } from './json.ts';
import type { KindName } from './kinds/kinds.ts';
import type { ObjectRecord } from './object.ts';
import { reduce } from './reduce.ts';
import { restoredObjects, restoreFact, type SourcedFact } from './snapshot.ts';
import { emptyState, type State } from './state.ts';

export class Restoring {
  /** Without what the records below say. */
  #state: State;
  /** Undefined: gone. */
  #changed = new Map<string, ObjectRecord | undefined>();

  constructor(from: State) {
    this.#state = from;
  }

  get seq(): number {
    return this.#state.seq;
  }

  /** Our bug, if folding this event failed although the journal does not say so; it counts for nothing then, as in fold. */
  event(event: Event, rejected: ReadonlySet<number>): string | undefined {
    const before = this.#state;
    const skipped: State = { ...before, seq: event.seq, time: event.time };
    this.#state = skipped;
    if (rejected.has(event.seq)) return undefined;
    try {
      this.#apply(skipped, event);
      return undefined;
    } catch (error) {
      this.#state = skipped;
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** A fact of a snapshot, see snapshot.ts. */
  fact(source: string, fact: JsonObject): void {
    if (fact.kind !== 'Object') {
      this.#state = restoreFact(this.#state, source, fact);
      return;
    }
    for (const { raw, origin, at } of restoredObjects(fact)) {
      const outcome = decodeRecord(this.#known, source, raw, origin, at);
      if ('problems' in outcome) continue;
      const { record } = outcome;
      const { writtenAt } = fact;
      const isWritten = typeof writtenAt === 'number' && record.accepted !== undefined;
      this.#changed.set(recordKey(record), isWritten ? { ...record, writtenAt } : record);
    }
  }

  /** The state after all of it. Throws only for a bug of ours that fold would have blamed on an event. */
  finish(): State {
    const deleted: string[] = [];
    const put: [string, ObjectRecord][] = [];
    const keys = new Map<KindName, Set<string>>();
    for (const key of [...this.#changed.keys()].sort()) {
      const now = this.#changed.get(key);
      const record = now ?? this.#state.records.get(key);
      if (record === undefined) continue;
      if (now === undefined) deleted.push(key);
      else put.push([key, now]);
      keysOf(keys, record.kind).add(record.key);
    }
    this.#changed = new Map();
    const records = this.#state.records.changed(deleted, put);
    this.#state = settleAll({ ...this.#state, records }, keys);
    return this.#state;
  }

  #apply(state: State, event: Event): void {
    switch (event.kind) {
      case 'Add':
      case 'Update': {
        const outcome = decodeRecord(this.#known, event.source, event.object, event.origin, event.seq);
        if ('record' in outcome) this.#changed.set(recordKey(outcome.record), outcome.record);
        return;
      }
      case 'Delete': {
        const key = removedKey(event);
        if (key !== undefined) this.#changed.set(key, undefined);
        return;
      }
      default:
        [this.#state] = reduce(state, event);
    }
  }

  readonly #known = (key: string): ObjectRecord | undefined =>
    this.#changed.has(key) ? this.#changed.get(key) : this.#state.records.get(key);
}

function keysOf(keys: Map<KindName, Set<string>>, kind: KindName): Set<string> {
  let set = keys.get(kind);
  if (set === undefined) {
    set = new Set();
    keys.set(kind, set);
  }
  return set;
}

/** Folds the facts of a snapshot. An object that this release refuses is kept as refused, with the version before it gone. */
export function restore(facts: Iterable<SourcedFact>): State {
  const restoring = new Restoring(emptyState);
  for (const { source, fact } of facts) restoring.fact(source, fact);
  return restoring.finish();
}
