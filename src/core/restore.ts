// Many events folded at once, where only the state after the last is wanted: a start from the journal, a look at the past. The same state
// as fold makes of them one by one (law 6), without making those in between.
//
// What is in force follows from the records, the mesh and the settings alone (law 3), so events of objects only change records, and what is
// in force and indexed is worked out once, at the end. Of an object that changed often only the last versions are decoded and judged
// (versions.ts): what the others were can no longer be seen.

import { keyOfRef } from './apply-object.ts';
import type { Event } from './event.ts';
import { settleAll } from './in-force.ts';
import { isObject, type JsonObject } from './json.ts';
import type { KindDefinition, KindName } from './kinds/kinds.ts';
import { definitionOf } from './kinds/registry.ts';
import type { ObjectRecord } from './object.ts';
import { presumedKey, recordKey, type Version } from './record.ts';
import { reduce } from './reduce.ts';
import { restoredObjects, restoreFact, type SourcedFact } from './snapshot.ts';
import { emptyState, type State } from './state.ts';
import { recordAfterAll } from './versions.ts';

/** Versions of an object that wait to be judged together: a bound of the memory they take, and of the comparisons of equal ones. */
export const WAITING_VERSIONS_MAX = 8;

/** What is known of an object under a record key: a record, and versions after it that nobody has looked at. */
interface Waiting {
  readonly definition: KindDefinition;
  /** Undefined: there is none, or it is gone. */
  record: ObjectRecord | undefined;
  versions: Version[];
}

export class Restoring {
  /** Without what the records below say, and without seq and time. */
  #state: State;
  #seq: number;
  #time: number;
  /** By record key. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(from: State) {
    this.#state = from;
    this.#seq = from.seq;
    this.#time = from.time;
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Our bug, if folding this event failed although the journal does not say so; it counts for nothing then, as in fold. A bug in judging an
   * object is thrown instead, here or by finish, for it need not be this event that is to blame: they have to be folded one by one then.
   */
  event(event: Event, rejected: ReadonlySet<number>): string | undefined {
    this.#seq = event.seq;
    this.#time = event.time;
    if (rejected.has(event.seq)) return undefined;
    switch (event.kind) {
      case 'Add':
      case 'Update':
        this.#add({ source: event.source, raw: event.object, origin: event.origin, at: event.seq });
        return undefined;
      case 'Delete': {
        const definition = definitionOf(event.ref.apiVersion, event.ref.kind);
        if (definition === undefined) return undefined;
        const key = recordKey(definition.kind, keyOfRef(definition, event), event.source);
        this.#waiting.set(key, { definition, record: undefined, versions: [] });
        return undefined;
      }
      default:
        return this.#fold(event);
    }
  }

  /** A fact of a snapshot, see snapshot.ts. */
  fact(source: string, fact: JsonObject): void {
    if (fact.kind !== 'Object') {
      this.#state = restoreFact(this.#state, source, fact);
      this.#seq = this.#state.seq;
      this.#time = this.#state.time;
      return;
    }
    const { writtenAt } = fact;
    for (const { raw, origin, at } of restoredObjects(fact)) {
      const waiting = this.#add({ source, raw, origin, at });
      if (waiting === undefined) continue;
      const record = judged(waiting);
      const isWritten = typeof writtenAt === 'number' && record?.accepted !== undefined;
      waiting.record = isWritten ? { ...record, writtenAt } : record;
    }
  }

  /** The state after all of it. Throws only for a bug of ours that fold would have blamed on an event. */
  finish(): State {
    const deleted: string[] = [];
    const put: [string, ObjectRecord][] = [];
    const keys = new Map<KindName, Set<string>>();
    for (const key of [...this.#waiting.keys()].sort()) {
      const now = judged(this.#waiting.get(key)!);
      const before = this.#state.records.get(key);
      if (now === before) continue;
      if (now === undefined) deleted.push(key);
      else put.push([key, now]);
      const record = (now ?? before)!;
      keysOf(keys, record.kind).add(record.key);
    }
    this.#waiting.clear();
    const records = this.#state.records.changed(deleted, put);
    this.#state = settleAll({ ...this.#state, seq: this.#seq, time: this.#time, records }, keys);
    return this.#state;
  }

  /** Undefined: not an object that could have a record. */
  #add(version: Version): Waiting | undefined {
    const { raw } = version;
    const definition = isObject(raw) ? definitionOf(raw.apiVersion, raw.kind) : undefined;
    const key = definition && presumedKey(definition, version);
    if (definition === undefined || key === undefined) return undefined;
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      waiting = { definition, record: this.#state.records.get(key), versions: [] };
      this.#waiting.set(key, waiting);
    } else if (waiting.versions.length >= WAITING_VERSIONS_MAX) judged(waiting);
    waiting.versions.push(version);
    return waiting;
  }

  #fold(event: Event): string | undefined {
    try {
      [this.#state] = reduce(this.#state, event);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

/** The record after all versions, which wait no longer. */
function judged(waiting: Waiting): ObjectRecord | undefined {
  const { record, definition, versions } = waiting;
  if (versions.length === 0) return record;
  waiting.record = recordAfterAll(record, definition, versions);
  waiting.versions = [];
  return waiting.record;
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
