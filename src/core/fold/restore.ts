// Folds many events at once, when only the state after the last is wanted: at a start from the journal, and for a state
// of the past.
//
// Invariant: `finish` returns the state that folding the same events one by one gives (law 6). It is faster for two
// reasons. The objects in force follow from records, mesh and settings alone (law 3), so object events only change
// records, and tables and indexes are made once, by `finish`. Other events are folded as they come; of these only a
// change of the mesh filters or of the settings reads records, and `finish` applies the last filters to the pending
// ones. And a version that a later accepted version supersedes leaves no trace, so versions wait undecoded and only the
// last ones are judged (versions.ts).

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

/** Pending versions of one object; past that they are judged together. */
export const PENDING_VERSIONS_MAX = 32;
/** Pending versions of all objects, whichever is more: this many (some tens of megabytes) … */
export const PENDING_MAX = 30_000;
/**
 * … or this many for each object. A pending version is about a kilobyte of text; a kept object is three times that. The
 * limit grows with the mesh so that the share of superseded versions does not shrink.
 */
export const PENDING_PER_OBJECT_MAX = 2;

/** One object of one source: its record, and later versions that are not judged yet. */
interface PendingObject {
  readonly definition: KindDefinition;
  /** As in `State.records`. */
  readonly recordKey: string;
  /** Undefined: absent or deleted. Null: not read yet from the state that restoring began with. */
  record: ObjectRecord | undefined | null;
  versions: Version[];
}

type ByName = Map<string, PendingObject>;

export class Restoring {
  /** The state so far, without pending records, `seq` and `time`. */
  #state: State;
  #seq: number;
  #time: number;
  /** By source, kind and `namespace/name`: nested maps, so that no longer key is concatenated for each event. */
  readonly #pending = new Map<string, Map<KindDefinition, ByName>>();
  /** Pending versions of all objects. */
  #pendingVersions = 0;
  /** Objects with at least one event. */
  #objectsSeen = 0;

  constructor(from: State) {
    this.#state = from;
    this.#seq = from.seq;
    this.#time = from.time;
  }

  get seq(): number {
    return this.#seq;
  }

  /**
   * Adds an event. `rejected`: seqs that the journal records as Rejected; their events have no effect. Returns the
   * message of an assertion that failed while folding it; the event then has no effect, as in `fold`. An assertion that
   * fails while judging an object is thrown, here or by `finish`: another event may be the cause, so the caller folds
   * one by one instead.
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
        this.#postpone(definition, `${namespaceOf(namespace, definition.clusterScoped)}/${name}`, event);
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

  /** Adds a fact of a snapshot (snapshot.ts). */
  fact(source: string, fact: JsonObject): void {
    if (fact.kind !== 'Object') {
      this.#state = restoreFact(this.#state, source, fact);
      this.#seq = this.#state.seq;
      this.#time = this.#state.time;
      return;
    }
    const { writtenAt } = fact;
    for (const version of restoredObjects(source, fact)) {
      const pending = this.#add(version);
      if (pending === undefined) continue;
      const record = this.#judge(pending);
      const isWritten = typeof writtenAt === 'number' && record?.accepted !== undefined;
      pending.record = isWritten ? { ...record, writtenAt } : record;
    }
  }

  /**
   * The state after all events. Throws if an assertion fails while an object is judged: fold one by one to find the
   * event.
   */
  finish(): State {
    const deleted: string[] = [];
    const put: [string, ObjectRecord][] = [];
    const keys = new Map<KindName, Set<string>>();
    for (const pending of this.#all().sort((a, b) => (a.recordKey < b.recordKey ? -1 : 1))) {
      const { recordKey: key } = pending;
      const now = this.#judge(pending);
      const before = this.#state.records.get(key);
      if (now === before) continue;
      if (now === undefined) deleted.push(key);
      else put.push([key, now]);
      const record = (now ?? before)!;
      keysOf(keys, record.kind).add(record.key);
    }
    this.#pending.clear();
    const records = this.#state.records.changed(deleted, put);
    this.#state = settleAll({ ...this.#state, seq: this.#seq, time: this.#time, records }, keys);
    return this.#state;
  }

  /** Undefined: the version cannot have a record, because its kind is unknown or it has no name. */
  #add(version: Version): PendingObject | undefined {
    const { object } = version;
    const definition = isObject(object) ? definitionOf(object.apiVersion, object.kind) : undefined;
    const name = definition && presumedName(definition, version);
    return definition === undefined || name === undefined ? undefined : this.#postpone(definition, name, version);
  }

  #postpone(definition: KindDefinition, name: string, version: Version): PendingObject {
    const pending = this.#pendingFor(definition, version.source, name);
    if (pending.versions.length >= PENDING_VERSIONS_MAX) this.#judge(pending);
    if (this.#pendingVersions >= Math.max(PENDING_MAX, this.#objects() * PENDING_PER_OBJECT_MAX)) {
      for (const other of this.#all()) this.#judge(other);
    }
    pending.versions.push(version);
    this.#pendingVersions++;
    return pending;
  }

  #delete({ ref, source }: Event & { readonly kind: 'Delete' }): void {
    const definition = definitionOf(ref.apiVersion, ref.kind);
    if (definition === undefined) return;
    const namespace = namespaceOf(ref.namespace, definition.clusterScoped);
    const pending = this.#pendingFor(definition, source, `${namespace}/${ref.name}`);
    this.#pendingVersions -= pending.versions.length;
    pending.record = undefined;
    pending.versions = [];
  }

  /** Judges the pending versions and returns the record after them. */
  #judge(pending: PendingObject): ObjectRecord | undefined {
    const { definition, versions } = pending;
    // Read as late as possible: `finish` reads most records in table order, which is several times faster.
    if (pending.record === null) pending.record = this.#state.records.get(pending.recordKey);
    if (versions.length === 0) return pending.record;
    pending.record = recordAfterAll(pending.record, definition, versions);
    pending.versions = [];
    this.#pendingVersions -= versions.length;
    return pending.record;
  }

  #pendingFor(definition: KindDefinition, source: string, name: string): PendingObject {
    const ofKind = mapIn(mapIn(this.#pending, source), definition);
    let pending = ofKind.get(name);
    if (pending === undefined) {
      const slash = name.indexOf('/');
      const key = keyFor(definition, clusterOf(source), name.slice(0, slash), name.slice(slash + 1));
      const ofRecord = recordKey(definition.kind, key, source);
      pending = { definition, recordKey: ofRecord, record: null, versions: [] };
      ofKind.set(name, pending);
      this.#objectsSeen++;
    }
    return pending;
  }

  /** A lower bound of the objects that exist or existed. */
  #objects(): number {
    return Math.max(this.#state.records.size, this.#objectsSeen);
  }

  #all(): PendingObject[] {
    const all: PendingObject[] = [];
    for (const ofSource of this.#pending.values()) {
      for (const ofKind of ofSource.values()) for (const pending of ofKind.values()) all.push(pending);
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
 * The state of a snapshot. An object that this release refuses becomes a refused record without an accepted version.
 */
export function restore(facts: Iterable<SourcedFact>): State {
  const restoring = new Restoring(emptyState);
  for (const { source, fact } of facts) restoring.fact(source, fact);
  return restoring.finish();
}
