// Which object is in force under a key, and where it is indexed. Of what several sources say, the accepted version of the source with
// precedence; of those, only objects that pass the filters of the mesh. What is filtered out stays in `records` and is in no table, so
// that no query has to ask: moving out of the filter is a delete, moving in an add.
//
// Filters (Istio pilot/pkg/config/kube/crdclient/client.go, pkg/kube/namespace/filter.go; spec-events-pushes-protocol §2.1): the namespace
// must be selected by discoverySelectors, for configuration the label istio.io/rev must be absent or our revision.

import type { IndexName, KindDefinition, KindName } from './kinds/kinds.ts';
import { definitions, kindNames } from './kinds/registry.ts';
import type { MeshConfig } from './mesh.ts';
import { compareText, type Obj } from './object.ts';
import { discovers } from './registry/discovery.ts';
import type { State } from './state.ts';
import type { Table } from './table.ts';

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

/** After a change of the mesh configuration or of the settings: everything is filtered anew. The same state when nothing comes of it. */
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

/** Sources in fixed precedence: by name of the adapter, then of the cluster; the first with an accepted version that is ours wins. */
function winner(state: State, kind: KindName, key: string): Obj | undefined {
  let first: { readonly source: string; readonly accepted?: Obj } | undefined;
  for (const record of state.records.range(`${kind}|${key}|`)) {
    if (record.accepted === undefined || !isOurs(state, record.accepted)) continue;
    if (first === undefined || compareText(record.source, first.source) < 0) first = record;
  }
  return first?.accepted;
}

function isOurs(state: State, obj: Obj): boolean {
  return isOfRevision(state, obj) && isDiscovered(state, obj);
}

function isOfRevision(state: State, obj: Obj): boolean {
  // A Gateway of the Gateway API is told by its revision's tags whose it is, when something is made of it.
  if (definitions[obj.kind].store !== 'config' || obj.kind === 'KubernetesGateway') return true;
  const label = obj.labels[REVISION_LABEL];
  const { revision } = state.settings;
  return label === undefined || revision === '' || label === revision;
}

function isDiscovered(state: State, obj: Obj): boolean {
  const selectors = selectorsOf(state) ?? [];
  if (selectors.length === 0 || obj.namespace === '') return true;
  return discovers(selectors, state.objects.Namespace.get(`${obj.cluster}/${obj.namespace}`)?.labels ?? {});
}

function reindex(
  state: State,
  definition: KindDefinition,
  key: string,
  before: Obj | undefined,
  after: Obj | undefined,
): State['indexes'] {
  const old = before === undefined ? {} : definition.indexes(before);
  const now = after === undefined ? {} : definition.indexes(after);
  let indexes: { [I in IndexName]: Table<Obj> } | undefined;
  for (const name of Object.keys({ ...old, ...now }).sort() as IndexName[]) {
    indexes ??= { ...state.indexes };
    const kept = new Set(now[name] ?? []);
    const gone = (old[name] ?? []).filter(entry => !kept.has(entry)).map(entry => `${entry}|${key}`);
    if (gone.length === 0 && kept.size === 0) continue;
    const entries = after === undefined ? [] : [...kept].map(entry => [`${entry}|${key}`, after] as const);
    indexes[name] = indexes[name].changed(gone, entries);
  }
  return indexes ?? state.indexes;
}
