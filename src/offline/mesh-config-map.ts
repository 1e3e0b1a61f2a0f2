// Mesh configuration that stands in ConfigMaps: what a source says of them becomes, beside the object itself, facts about the mesh.
//
// The ConfigMap `istio` (`istio-<revision>`) of the system namespace, keys `mesh` and `meshNetworks`; with SHARED_MESH_CONFIG another one
// below it. A ConfigMap or key that is absent is a source that says nothing. (Istio pilot/pkg/bootstrap/mesh.go; spec-events-pushes-protocol §10.1)

import { isObject } from '../core/base/json.ts';
import { showOrigin } from '../core/base/problem.ts';
import type { Fact, MeshLayer, RawObject } from '../core/event.ts';
import { rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import { clusterOf } from '../core/fold/record.ts';
import type { State } from '../core/state.ts';
import { singleDocument } from './generate.ts';

/** The revision that has no name of its own. */
const DEFAULT_REVISION = 'default';
const KEYS = [
  ['MeshConfig', 'mesh'],
  ['MeshNetworks', 'meshNetworks'],
] as const;

/** Who says it, and what is known so far. */
export interface Saying {
  readonly state: State;
  /** Only sources of the config cluster have a say. */
  readonly source: string;
  /** Name of the shared ConfigMap, if there is one. */
  readonly shared?: string;
}

/** The facts of a batch, with those about the mesh right behind the ConfigMaps that they come from. */
export function withMeshFacts(saying: Saying, batch: readonly Fact[]): readonly Fact[] {
  return batch.flatMap(fact => [fact, ...meshFactsOf(saying, fact)]);
}

/** As above for a complete list: a ConfigMap that the source had and that is neither listed nor unreadable says nothing any more. */
export function withMeshFactsOfList(
  saying: Saying,
  all: readonly Fact[],
  unreadable: readonly string[],
): readonly Fact[] {
  const facts = withMeshFacts(saying, all);
  const layers: readonly MeshLayer[] = ['configMap', 'shared'];
  const gone = layers.filter(
    layer =>
      knows(saying, layer, unreadable) && !facts.some(fact => fact.kind === 'MeshConfig' && fact.layer === layer),
  );
  return [...facts, ...gone.flatMap(silence)];
}

function meshFactsOf(saying: Saying, fact: Fact): readonly Fact[] {
  if (fact.kind !== 'Add' && fact.kind !== 'Update' && fact.kind !== 'Delete') return [];
  const ref = fact.kind === 'Delete' ? fact.ref : rawRef(fact.object);
  const { settings } = saying.state;
  if (ref?.kind !== 'ConfigMap' || ref.apiVersion !== 'v1' || ref.namespace !== settings.systemNamespace) return [];
  const layer = ref.name === nameOf(saying, 'shared') ? 'shared' : 'configMap';
  if (ref.name !== nameOf(saying, layer) || clusterOf(saying.source) !== settings.clusterId) return [];
  if (fact.kind === 'Delete') return knows(saying, layer, []) ? silence(layer) : [];
  const place = showOrigin(fact.origin) || `ConfigMap/${ref.namespace}/${ref.name}`;
  return KEYS.map(([kind, key]): Fact => ({ kind, layer, ...dataOf(fact.object, key, place) }));
}

function silence(layer: MeshLayer): readonly Fact[] {
  return KEYS.map(([kind]): Fact => ({ kind, layer, value: null }));
}

/** True if the state has the ConfigMap of the layer from this source, and not from a file that cannot be read right now. */
function knows(saying: Saying, layer: MeshLayer, unreadable: readonly string[]): boolean {
  const { state, source } = saying;
  const name = nameOf(saying, layer);
  if (name === undefined) return false;
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: state.settings.systemNamespace, name };
  const record = state.records.get(recordKeyOf(source, ref) ?? '');
  return record !== undefined && !unreadable.includes(record.origin?.file ?? '');
}

function nameOf({ state, shared }: Saying, layer: MeshLayer): string | undefined {
  if (layer === 'shared') return shared;
  const { revision } = state.settings;
  return revision === '' || revision === DEFAULT_REVISION ? 'istio' : `istio-${revision}`;
}

/** Text that cannot be read stays text: the core refuses it, and says so beside the value in force. */
function dataOf(object: RawObject, key: string, file: string) {
  const text = isObject(object.data) ? object.data[key] : undefined;
  if (typeof text !== 'string') return { value: null };
  const origin = { file: `${file} data.${key}` };
  try {
    return { value: singleDocument(origin.file, text).value, origin };
  } catch {
    return { value: text, origin };
  }
}
