// Mesh configuration in ConfigMaps: adds facts about the mesh to the facts that a source reports about these
// ConfigMaps.
//
// The ConfigMap `istio` (`istio-<revision>`) of the system namespace, keys `mesh` and `meshNetworks`; with
// SHARED_MESH_CONFIG another one of lower precedence. An absent ConfigMap or key contributes nothing. Istio:
// pilot/pkg/bootstrap/mesh.go.

import { isObject } from '../core/base/json.ts';
import { showOrigin } from '../core/base/problem.ts';
import type { Fact, MeshLayer, RawObject } from '../core/event.ts';
import { isBelow, rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import { clusterOf } from '../core/fold/record.ts';
import type { State } from '../core/state.ts';
import { singleDocument } from './generate.ts';

/** The revision whose ConfigMap has no suffix. */
const DEFAULT_REVISION = 'default';
const KEYS = [
  ['MeshConfig', 'mesh'],
  ['MeshNetworks', 'meshNetworks'],
] as const;

/** A source, and the state so far. */
export interface MeshConfigSource {
  readonly state: State;
  /** Only sources of the config cluster count. */
  readonly source: string;
  /** Name of the shared ConfigMap, if there is one. */
  readonly shared?: string;
}

/** The facts of a batch; each mesh ConfigMap is followed by its facts about the mesh. */
export function withMeshFacts(meshSource: MeshConfigSource, batch: readonly Fact[]): readonly Fact[] {
  return batch.flatMap(fact => [fact, ...meshFactsOf(meshSource, fact)]);
}

/**
 * As above for a complete list. A ConfigMap that the source had and that is neither listed nor unreadable is withdrawn.
 */
export function withMeshFactsOfList(
  meshSource: MeshConfigSource,
  all: readonly Fact[],
  unreadable: readonly string[],
): readonly Fact[] {
  const facts = withMeshFacts(meshSource, all);
  const layers: readonly MeshLayer[] = ['configMap', 'shared'];
  const gone = layers.filter(
    layer =>
      knows(meshSource, layer, unreadable) && !facts.some(fact => fact.kind === 'MeshConfig' && fact.layer === layer),
  );
  return [...facts, ...gone.flatMap(withdrawalOf)];
}

function meshFactsOf(meshSource: MeshConfigSource, fact: Fact): readonly Fact[] {
  if (fact.kind !== 'Add' && fact.kind !== 'Update' && fact.kind !== 'Delete') return [];
  const ref = fact.kind === 'Delete' ? fact.ref : rawRef(fact.object);
  const { settings } = meshSource.state;
  if (ref?.kind !== 'ConfigMap' || ref.apiVersion !== 'v1' || ref.namespace !== settings.systemNamespace) return [];
  const layer = ref.name === nameOf(meshSource, 'shared') ? 'shared' : 'configMap';
  if (ref.name !== nameOf(meshSource, layer) || clusterOf(meshSource.source) !== settings.clusterId) return [];
  if (fact.kind === 'Delete') return knows(meshSource, layer, []) ? withdrawalOf(layer) : [];
  const place = showOrigin(fact.origin) || `ConfigMap/${ref.namespace}/${ref.name}`;
  return KEYS.map(([kind, key]): Fact => ({ kind, layer, ...dataOf(fact.object, key, place) }));
}

function withdrawalOf(layer: MeshLayer): readonly Fact[] {
  return KEYS.map(([kind]): Fact => ({ kind, layer, value: null }));
}

/** True if the state has the layer's ConfigMap from this source, and not from a file that is unreadable now. */
function knows(meshSource: MeshConfigSource, layer: MeshLayer, unreadable: readonly string[]): boolean {
  const { state, source } = meshSource;
  const name = nameOf(meshSource, layer);
  if (name === undefined) return false;
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: state.settings.systemNamespace, name };
  const record = state.records.get(recordKeyOf(source, ref) ?? '');
  return record !== undefined && !isBelow(record.origin?.file ?? '', new Set(unreadable));
}

function nameOf({ state, shared }: MeshConfigSource, layer: MeshLayer): string | undefined {
  if (layer === 'shared') return shared;
  const { revision } = state.settings;
  return revision === '' || revision === DEFAULT_REVISION ? 'istio' : `istio-${revision}`;
}

/** Malformed text is passed on as text: the core refuses it and keeps the value in force. */
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
