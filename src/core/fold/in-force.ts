// The object in force under each key, and its index entries. Several sources may have an object with one key: the
// accepted version of the source with the highest precedence is in force, provided that it passes the filters of the
// mesh. A filtered object stays in `State.records` and is in no table, so queries need not filter: leaving the filter
// is a delete, entering it an add.
//
// Invariant: `State.objects` and `State.indexes` are a function of records, mesh and settings (law 3); the order of
// events leaves no trace.
//
// Filters (Istio pilot/pkg/config/kube/crdclient/client.go, pkg/kube/namespace/filter.go): the namespace must be
// selected by discoverySelectors; if ISTIO_WATCH_NAMESPACE names one, it must be that one; and Istio's configuration,
// including WorkloadEntries of remote clusters, must have no label istio.io/rev or our revision in it.

import type { KindDefinition } from '../kinds/definition.ts';
import { definitions, kindNames } from '../kinds/registry.ts';
import { discovers } from '../mesh/discovery-selectors.ts';
import type { MeshConfig } from '../mesh/effective.ts';
import { featureOf } from '../mesh/features.ts';
import type { IndexEntries, IndexName, KindName } from '../model/kind.ts';
import { compareText, type Obj, type ObjectRecord } from '../model/object.ts';
import type { State } from '../state.ts';
import type { Table } from '../table.ts';

export const REVISION_LABEL = 'istio.io/rev';

export interface InForceChange {
  readonly next: State;
  readonly before: Obj | undefined;
  readonly after: Obj | undefined;
}

/** Puts the object with precedence in force under a key; undefined if it already is. */
export function putInForce(state: State, definition: KindDefinition, key: string): InForceChange | undefined {
  const { kind } = definition;
  const before = state.objects[kind].get(key);
  const after = winner(state, kind, key);
  if (before === after) return undefined;
  const table = after === undefined ? state.objects[kind].without(key) : state.objects[kind].with(key, after);
  const indexes = reindex(state, definition, key, before, after);
  const next: State = { ...state, objects: { ...state.objects, [kind]: table }, indexes };
  return { next: kind === 'Namespace' ? followNamespace(next, key, before, after) : next, before, after };
}

/**
 * Filters all objects again, after a change of the mesh configuration or the settings. Returns the same state if no
 * verdict changes.
 */
export function refilter(state: State): State {
  let next = state;
  for (const kind of kindNames) next = refilterRange(next, kind, `${kind}|`);
  return next;
}

/** True if the discovery selectors or the revision, by which objects are filtered, differ. */
export function filtersDiffer(before: State, after: State): boolean {
  return selectorsOf(before) !== selectorsOf(after) || before.settings.revision !== after.settings.revision;
}

function selectorsOf(state: State): NonNullable<MeshConfig['discoverySelectors']> | undefined {
  return state.mesh.effective.discoverySelectors;
}

/** Filters the objects of a namespace again if its labels changed whether discovery selectors match it. */
function followNamespace(state: State, key: string, before: Obj | undefined, after: Obj | undefined): State {
  const selectors = selectorsOf(state) ?? [];
  if (selectors.length === 0) return state;
  if (discovers(selectors, before?.labels ?? {}) === discovers(selectors, after?.labels ?? {})) return state;
  const namespace = key.slice(key.indexOf('/') + 1);
  let next = state;
  for (const kind of kindNames) {
    const { clusterScoped, store } = definitions[kind];
    if (!clusterScoped) next = refilterRange(next, kind, `${kind}|${store === 'config' ? namespace : key}/`);
  }
  return next;
}

function refilterRange(state: State, kind: KindName, prefix: string): State {
  let next = state;
  let last: string | undefined;
  for (const { key } of state.records.range(prefix)) {
    if (key === last) continue;
    last = key;
    next = putInForce(next, definitions[kind] as KindDefinition, key)?.next ?? next;
  }
  return next;
}

/**
 * The first accepted version that passes the filters, with sources in order of adapter name, then cluster name; else
 * the stand-in of a refused version (KindDefinition.standIn), in the same order.
 */
function winner(state: State, kind: KindName, key: string): Obj | undefined {
  let first: ObjectRecord | undefined;
  let standIn: ObjectRecord | undefined;
  for (const record of state.records.range(`${kind}|${key}|`)) {
    const obj = record.accepted ?? record.standIn;
    if (obj === undefined || !passesFilters(state, obj)) continue;
    if (record.accepted === undefined) standIn = firstSource(standIn, record);
    else first = firstSource(first, record);
  }
  return first?.accepted ?? standIn?.standIn;
}

function firstSource(a: ObjectRecord | undefined, b: ObjectRecord): ObjectRecord {
  return a === undefined || compareText(b.source, a.source) < 0 ? b : a;
}

function passesFilters(state: State, obj: Obj): boolean {
  return isOfRevision(state, obj) && isWatched(state, obj) && isDiscovered(state, obj);
}

/**
 * Translated whatever revision they are labelled with; a Gateway of the Gateway API is then matched by the revision's
 * tags, and of the others too only the status goes by the label.
 */
const OF_ALL_REVISIONS: ReadonlySet<KindName> = new Set(['KubernetesGateway', 'Ingress', 'IngressClass']);

function isOfRevision(state: State, obj: Obj): boolean {
  if (OF_ALL_REVISIONS.has(obj.kind)) return true;
  if (definitions[obj.kind].store !== 'config' && obj.kind !== 'RemoteWorkloadEntry') return true;
  const label = obj.labels[REVISION_LABEL];
  const { revision } = state.settings;
  return label === undefined || revision === '' || label === revision;
}

/** Objects without a namespace pass. */
function isWatched(state: State, obj: Obj): boolean {
  const only = featureOf(state.settings, 'ISTIO_WATCH_NAMESPACE');
  return only === '' || obj.namespace === '' || obj.namespace === only;
}

function isDiscovered(state: State, obj: Obj): boolean {
  const selectors = selectorsOf(state) ?? [];
  if (selectors.length === 0 || obj.namespace === '') return true;
  return discovers(selectors, state.objects.Namespace.get(`${obj.cluster}/${obj.namespace}`)?.labels ?? {});
}

/** The changes of one index. Entries are in the order of the kind's definition. */
interface Reindexing {
  readonly gone: string[];
  readonly put: [string, Obj][];
}

function reindex(
  state: State,
  definition: KindDefinition,
  key: string,
  before: Obj | undefined,
  after: Obj | undefined,
): State['indexes'] {
  const changes = new Map<IndexName, Reindexing>();
  noteEntries(changes, definition, key, before, after);
  return withEntries(state.indexes, changes);
}

function withEntries(indexes: State['indexes'], changes: ReadonlyMap<IndexName, Reindexing>): State['indexes'] {
  if (changes.size === 0) return indexes;
  const next: { [I in IndexName]: Table<Obj> } = { ...indexes };
  for (const [name, { gone, put }] of changes) next[name] = next[name].changed(gone, put);
  return next;
}

/** A list up to this length is searched faster than a set of it is made. */
const FEW_ENTRIES = 8;
const NO_ENTRIES: IndexEntries = {};
const NONE: readonly string[] = [];

function noteEntries(
  changes: Map<IndexName, Reindexing>,
  definition: KindDefinition,
  key: string,
  before: Obj | undefined,
  after: Obj | undefined,
): void {
  const old = before === undefined ? NO_ENTRIES : definition.indexes(before);
  const now = after === undefined ? NO_ENTRIES : definition.indexes(after);
  // A kind has the same indexes for every object of it.
  for (const name in after === undefined ? old : now) {
    const was = old[name as IndexName] ?? NONE;
    const is = now[name as IndexName] ?? NONE;
    if (was.length === 0 && is.length === 0) continue;
    let change = changes.get(name as IndexName);
    if (change === undefined) {
      change = { gone: [], put: [] };
      changes.set(name as IndexName, change);
    }
    const stays = is.length > FEW_ENTRIES ? new Set(is) : undefined;
    for (const entry of was) {
      if (stays === undefined ? !is.includes(entry) : !stays.has(entry)) change.gone.push(`${entry}|${key}`);
    }
    if (after !== undefined) for (const entry of is) change.put.push([`${entry}|${key}`, after]);
  }
}

/**
 * Puts the objects with precedence in force under many keys at once: the same state as `putInForce` for each key gives.
 * Used after `records` were changed in bulk.
 */
export function settleAll(state: State, keys: ReadonlyMap<KindName, ReadonlySet<string>>): State {
  const namespacesFirst = [...keys.keys()].sort((a, b) => Number(b === 'Namespace') - Number(a === 'Namespace'));
  let next = state;
  for (const kind of namespacesFirst) next = settleKind(next, kind, [...keys.get(kind)!].sort());
  return keys.has('Namespace') && (selectorsOf(state) ?? []).length > 0 ? refilter(next) : next;
}

function settleKind(state: State, kind: KindName, keys: readonly string[]): State {
  const definition = definitions[kind] as KindDefinition;
  const gone: string[] = [];
  const put: [string, Obj][] = [];
  const changes = new Map<IndexName, Reindexing>();
  for (const key of keys) {
    const before = state.objects[kind].get(key);
    const after = winner(state, kind, key);
    if (before === after) continue;
    if (after === undefined) gone.push(key);
    else put.push([key, after]);
    noteEntries(changes, definition, key, before, after);
  }
  if (gone.length + put.length === 0) return state;
  for (const change of changes.values()) change.put.sort(([a], [b]) => (a < b ? -1 : 1));
  const objects = { ...state.objects, [kind]: state.objects[kind].changed(gone, put) };
  return { ...state, objects, indexes: withEntries(state.indexes, changes) };
}
