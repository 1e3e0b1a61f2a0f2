// Mesh configuration in ConfigMaps: adds facts about the mesh to the facts that a source reports about these
// ConfigMaps.
//
// The ConfigMap `istio` (`istio-<revision>`) of the system namespace, keys `mesh` and `meshNetworks`; with
// SHARED_MESH_CONFIG another one of lower precedence. An absent ConfigMap or key contributes nothing. Istio:
// pilot/pkg/bootstrap/mesh.go.
//
// The texts are YAML of up to the size of a ConfigMap. A process that serves has them parsed elsewhere first
// (`meshTexts`) and hands over what they are.

import { type ParsedText, parseDocuments } from '../adapters/file/parse.ts';
import { isObject } from '../core/base/json.ts';
import { showOrigin } from '../core/base/problem.ts';
import type { Fact, MeshLayer } from '../core/event.ts';
import { isBelow, rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import { clusterOf } from '../core/fold/record.ts';
import type { State } from '../core/state.ts';

/** The revision whose ConfigMap has no suffix. */
const DEFAULT_REVISION = 'default';
const KEYS = [
  ['MeshConfig', 'mesh'],
  ['MeshNetworks', 'meshNetworks'],
] as const;

/** A source, and the state so far. */
export interface MeshConfigSource {
  readonly state: Pick<State, 'settings' | 'records'>;
  /** Only sources of the config cluster count. */
  readonly source: string;
  /** Name of the shared ConfigMap, if there is one. */
  readonly shared?: string;
}

/** A text of a mesh ConfigMap, and its name in messages. */
export interface MeshText {
  readonly file: string;
  readonly text: string;
}

/** The documents of a text. */
export type ReadMeshText = (text: MeshText) => ParsedText;

const readAtOnce: ReadMeshText = ({ file, text }) => parseDocuments(file, text);

/** The texts that the facts of a batch need to be read. */
export function meshTexts(meshSource: MeshConfigSource, batch: readonly Fact[]): readonly MeshText[] {
  return batch.flatMap(fact => {
    const layer = layerOf(meshSource, fact);
    if (layer === undefined || fact.kind === 'Delete') return [];
    return KEYS.flatMap(([, key]) => textOf(fact, key) ?? []);
  });
}

/** The facts of a batch; each mesh ConfigMap is followed by its facts about the mesh. */
export function withMeshFacts(
  meshSource: MeshConfigSource,
  batch: readonly Fact[],
  read: ReadMeshText = readAtOnce,
): readonly Fact[] {
  return batch.flatMap(fact => [fact, ...meshFactsOf(meshSource, fact, read)]);
}

/**
 * As above for a complete list. A ConfigMap that the source had and that is neither listed nor unreadable is withdrawn.
 */
export function withMeshFactsOfList(
  meshSource: MeshConfigSource,
  all: readonly Fact[],
  unreadable: readonly string[],
  read: ReadMeshText = readAtOnce,
): readonly Fact[] {
  const facts = withMeshFacts(meshSource, all, read);
  const layers: readonly MeshLayer[] = ['configMap', 'shared'];
  const gone = layers.filter(
    layer =>
      knows(meshSource, layer, unreadable) && !facts.some(fact => fact.kind === 'MeshConfig' && fact.layer === layer),
  );
  return [...facts, ...gone.flatMap(withdrawalOf)];
}

function meshFactsOf(meshSource: MeshConfigSource, fact: Fact, read: ReadMeshText): readonly Fact[] {
  const layer = layerOf(meshSource, fact);
  if (layer === undefined) return [];
  if (fact.kind === 'Delete') return knows(meshSource, layer, []) ? withdrawalOf(layer) : [];
  return KEYS.map(([kind, key]): Fact => ({ kind, layer, ...wordOf(textOf(fact, key), read) }));
}

/** Undefined: the fact is about no mesh ConfigMap. */
function layerOf(meshSource: MeshConfigSource, fact: Fact): MeshLayer | undefined {
  if (fact.kind !== 'Add' && fact.kind !== 'Update' && fact.kind !== 'Delete') return undefined;
  const ref = fact.kind === 'Delete' ? fact.ref : rawRef(fact.object);
  const { settings } = meshSource.state;
  if (ref?.kind !== 'ConfigMap' || ref.apiVersion !== 'v1' || ref.namespace !== settings.systemNamespace) {
    return undefined;
  }
  const layer = ref.name === nameOf(meshSource, 'shared') ? 'shared' : 'configMap';
  const isOurs = ref.name === nameOf(meshSource, layer) && clusterOf(meshSource.source) === settings.clusterId;
  return isOurs ? layer : undefined;
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

function textOf(fact: Fact, key: string): MeshText | undefined {
  if (fact.kind !== 'Add' && fact.kind !== 'Update') return undefined;
  const { data } = fact.object;
  const text = isObject(data) ? data[key] : undefined;
  const { namespace, name } = rawRef(fact.object) ?? {};
  const place = showOrigin(fact.origin) || `ConfigMap/${namespace}/${name}`;
  return typeof text === 'string' ? { file: `${place} data.${key}`, text } : undefined;
}

/** A text that cannot be parsed is passed on as it is: the core refuses it and keeps the value in force. */
function wordOf(text: MeshText | undefined, read: ReadMeshText) {
  if (text === undefined) return { value: null };
  const origin = { file: text.file };
  const parsed = read(text);
  const [document] = 'documents' in parsed ? parsed.documents : [];
  const wrong = 'reason' in parsed ? parsed : document?.errors[0];
  if (wrong === undefined) return { value: document?.value ?? null, origin };
  const { line, column = 1 } = wrong.origin;
  const reason = line === undefined ? wrong.reason : `${line}:${column}: ${wrong.reason}`;
  return { value: text.text, origin, reason };
}
