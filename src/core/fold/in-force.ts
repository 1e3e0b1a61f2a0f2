// Which object is in force under a key, and where it is indexed. Of the versions of several sources, the accepted one
// of the source with precedence, if it passes the filters of the mesh. A filtered object stays in `records` but is in
// no table, so queries need no filter: an object that leaves the filter is a delete, one that enters it an add.
//
// Filters (Istio pilot/pkg/config/kube/crdclient/client.go, pkg/kube/namespace/filter.go): the namespace must be
// selected by discoverySelectors and be the only one watched, if one is (ISTIO_WATCH_NAMESPACE), for configuration the
// label istio.io/rev must be absent or our revision.

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

export interface Settled {
  readonly next: State;
  readonly before: Obj | undefined;
  readonly after: Obj | undefined;
}

/** Puts in force what now has precedence under a key; undefined if that is what already is. */
export function inForce(state: State, definition: KindDefinition, key: string): Settled | undefined {
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
 * After a change of the mesh configuration or of the settings: everything is filtered anew. The same state when nothing
 * changes.
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

/** All that a namespace holds comes or goes with it. */
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
    next = inForce(next, definitions[kind] as KindDefinition, key)?.next ?? next;
  }
  return next;
}

/**
 * Sources in fixed precedence: by name of the adapter, then of the cluster; the first with an accepted version that is
 * ours wins. What acts for a refused version comes after all of them.
 */
function winner(state: State, kind: KindName, key: string): Obj | undefined {
  let first: ObjectRecord | undefined;
  let standIn: ObjectRecord | undefined;
  for (const record of state.records.range(`${kind}|${key}|`)) {
    const obj = record.accepted ?? record.standIn;
    if (obj === undefined || !isOurs(state, obj)) continue;
    if (record.accepted === undefined) standIn = firstSource(standIn, record);
    else first = firstSource(first, record);
  }
  return first?.accepted ?? standIn?.standIn;
}

function firstSource(a: ObjectRecord | undefined, b: ObjectRecord): ObjectRecord {
  return a === undefined || compareText(b.source, a.source) < 0 ? b : a;
}

function isOurs(state: State, obj: Obj): boolean {
  return isOfRevision(state, obj) && isWatched(state, obj) && isDiscovered(state, obj);
}

function isOfRevision(state: State, obj: Obj): boolean {
  // Revision tags decide the owner of a Gateway of the Gateway API at translation.
  if (definitions[obj.kind].store !== 'config' || obj.kind === 'KubernetesGateway') return true;
  const label = obj.labels[REVISION_LABEL];
  const { revision } = state.settings;
  return label === undefined || revision === '' || label === revision;
}

/** Objects without a namespace always are. */
function isWatched(state: State, obj: Obj): boolean {
  const only = featureOf(state.settings, 'ISTIO_WATCH_NAMESPACE');
  return only === '' || obj.namespace === '' || obj.namespace === only;
}

function isDiscovered(state: State, obj: Obj): boolean {
  const selectors = selectorsOf(state) ?? [];
  if (selectors.length === 0 || obj.namespace === '') return true;
  return discovers(selectors, state.objects.Namespace.get(`${obj.cluster}/${obj.namespace}`)?.labels ?? {});
}

/** Applies an object's change to an index. Entries are in the order of the definition. */
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

/** Up to this length, a linear search is faster than a set. */
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
 * Puts in force what has precedence now under many keys at once, which is what inForce would come to one by one. For
 * callers that changed `records` without updating the objects in force.
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
