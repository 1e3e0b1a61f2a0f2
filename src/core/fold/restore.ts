// Many events folded at once, where only the state after the last is wanted: a start from the journal, a look at the
// past. The same state as fold makes of them one by one (law 6), without making those in between.
//
// What is in force follows from the records, the mesh and the settings alone (law 3), so events of objects only change
// records, and what is in force and indexed is worked out once, at the end. Of an object that changed often only the
// last versions are decoded and judged (versions.ts): the others leave no trace in the state.

import { isObject, type JsonObject } from '../base/json.ts';
import type { Event } from '../event.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { namespaceOf } from '../kinds/meta.ts';
import { definitionOf } from '../kinds/registry.ts';
import type { KindName } from '../model/kind.ts';
import type { ObjectRecord } from '../model/object.ts';
import { reduce } from '../reduce.ts';
import { emptyState, type State } from '../state.ts';
import { settleAll } from './in-force.ts';
import { clusterOf, keyFor, presumedName, recordKey, type UnreadVersion, type Version } from './record.ts';
import { restoredObjects, restoreFact, type SourcedFact } from './snapshot.ts';
import { recordAfterAll } from './versions.ts';

/** Versions of an object that wait to be judged together. */
export const WAITING_VERSIONS_MAX = 16;
/** Limit of waiting versions in total, some tens of megabytes. */
export const WAITING_MAX = 20_000;
/**
 * Limit of waiting versions for each object. Most are text while they wait, a kilobyte each; an object that is kept
 * weighs thrice that. A share of the objects, so that as much is superseded in a large mesh as in a small one.
 */
export const WAITING_PER_OBJECT_MAX = 2;

/** An object of a source: its record, and later versions not yet examined. */
interface Waiting {
  readonly definition: KindDefinition;
  /** As in `State.records`. */
  readonly recordKey: string;
  /** Undefined: there is none, or it is gone. Null: the state before the restore has not been read yet. */
  record: ObjectRecord | undefined | null;
  versions: Version[];
}

type ByName = Map<string, Waiting>;

export class Restoring {
  /** Without the records below, and without seq and time. */
  #state: State;
  #seq: number;
  #time: number;
  /** By source, kind and `namespace/name`: each event looks in here, so no longer key is put together for it. */
  readonly #waiting = new Map<string, Map<KindDefinition, ByName>>();
  /** Versions that wait. */
  #versions = 0;
  /** Objects with any version. */
  #touched = 0;

  constructor(from: State) {
    this.#state = from;
    this.#seq = from.seq;
    this.#time = from.time;
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Our bug, if folding this event failed although the journal does not say so; it counts for nothing then, as in fold.
   * A bug in judging an object is thrown instead, here or by finish, for it need not be this event that is to blame:
   * they have to be folded one by one then.
   */
  event(event: Event | UnreadVersion, rejected: ReadonlySet<number>): string | undefined {
    this.#seq = event.seq;
    this.#time = event.time;
    if (rejected.has(event.seq)) return undefined;
    switch (event.kind) {
      case 'Unread': {
        const { apiVersion, kind, namespace, name } = event.ref;
        const definition = definitionOf(apiVersion, kind);
        if (definition === undefined) return undefined;
        this.#wait(definition, `${namespaceOf(namespace, definition.clusterScoped)}/${name}`, event);
        return undefined;
      }
      case 'Add':
      case 'Update':
        this.#add(event);
        return undefined;
      case 'Delete':
        this.#delete(event);
        return undefined;
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
    for (const version of restoredObjects(source, fact)) {
      const waiting = this.#add(version);
      if (waiting === undefined) continue;
      const record = this.#judged(waiting);
      const isWritten = typeof writtenAt === 'number' && record?.accepted !== undefined;
      waiting.record = isWritten ? { ...record, writtenAt } : record;
    }
  }

  /** The state after all of it. Throws only for a bug of ours that fold would have blamed on an event. */
  finish(): State {
    const deleted: string[] = [];
    const put: [string, ObjectRecord][] = [];
    const keys = new Map<KindName, Set<string>>();
    for (const waiting of this.#all().sort((a, b) => (a.recordKey < b.recordKey ? -1 : 1))) {
      const { recordKey: key } = waiting;
      const now = this.#judged(waiting);
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
    const { object } = version;
    const definition = isObject(object) ? definitionOf(object.apiVersion, object.kind) : undefined;
    const name = definition && presumedName(definition, version);
    return definition === undefined || name === undefined ? undefined : this.#wait(definition, name, version);
  }

  #wait(definition: KindDefinition, name: string, version: Version): Waiting {
    const waiting = this.#waitingFor(definition, version.source, name);
    if (waiting.versions.length >= WAITING_VERSIONS_MAX) this.#judged(waiting);
    if (this.#versions >= Math.max(WAITING_MAX, this.#objects() * WAITING_PER_OBJECT_MAX)) {
      for (const other of this.#all()) this.#judged(other);
    }
    waiting.versions.push(version);
    this.#versions++;
    return waiting;
  }

  #delete({ ref, source }: Event & { readonly kind: 'Delete' }): void {
    const definition = definitionOf(ref.apiVersion, ref.kind);
    if (definition === undefined) return;
    const namespace = namespaceOf(ref.namespace, definition.clusterScoped);
    const waiting = this.#waitingFor(definition, source, `${namespace}/${ref.name}`);
    this.#versions -= waiting.versions.length;
    waiting.record = undefined;
    waiting.versions = [];
  }

  /** The record after all versions, which wait no longer. */
  #judged(waiting: Waiting): ObjectRecord | undefined {
    const { definition, versions } = waiting;
    // Not sooner: `finish` examines most of them in the order of the table, which is several times as fast.
    if (waiting.record === null) waiting.record = this.#state.records.get(waiting.recordKey);
    if (versions.length === 0) return waiting.record;
    waiting.record = recordAfterAll(waiting.record, definition, versions);
    waiting.versions = [];
    this.#versions -= versions.length;
    return waiting.record;
  }

  #waitingFor(definition: KindDefinition, source: string, name: string): Waiting {
    const ofKind = mapIn(mapIn(this.#waiting, source), definition);
    let waiting = ofKind.get(name);
    if (waiting === undefined) {
      const slash = name.indexOf('/');
      const key = keyFor(definition, clusterOf(source), name.slice(0, slash), name.slice(slash + 1));
      const ofRecord = recordKey(definition.kind, key, source);
      waiting = { definition, recordKey: ofRecord, record: null, versions: [] };
      ofKind.set(name, waiting);
      this.#touched++;
    }
    return waiting;
  }

  /** Lower limit of the number of objects, past ones included. */
  #objects(): number {
    return Math.max(this.#state.records.size, this.#touched);
  }

  #all(): Waiting[] {
    const all: Waiting[] = [];
    for (const ofSource of this.#waiting.values()) {
      for (const ofKind of ofSource.values()) for (const waiting of ofKind.values()) all.push(waiting);
    }
    return all;
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

function mapIn<K, A, B>(maps: Map<K, Map<A, B>>, key: K): Map<A, B> {
  let map = maps.get(key);
  if (map === undefined) {
    map = new Map();
    maps.set(key, map);
  }
  return map;
}

function keysOf(keys: Map<KindName, Set<string>>, kind: KindName): Set<string> {
  let set = keys.get(kind);
  if (set === undefined) {
    set = new Set();
    keys.set(kind, set);
  }
  return set;
}

/**
 * Folds the facts of a snapshot. An object that this release refuses is kept as refused, with the version before it
 * gone.
 */
export function restore(facts: Iterable<SourcedFact>): State {
  const restoring = new Restoring(emptyState);
  for (const { source, fact } of facts) restoring.fact(source, fact);
  return restoring.finish();
}
