// Facts about the mesh configuration. A refused value is kept beside the effective one and changes nothing else. A
// value with an equal effect is no change. Any other is a forced full push, in which only queries that read a changed
// field run. Source: Istio pkg/config/mesh/mesh.go (ApplyMeshConfig), pilot/pkg/bootstrap/configcontroller.go (mesh
// handlers push with forced=true).

import { type Either, isLeft, left } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { type Origin, type Problem, problem } from '../base/problem.ts';
import type { Effect } from '../effect.ts';
import type { Event, MeshLayer } from '../event.ts';
import {
  type Accepted,
  type Applied,
  combineMeshConfig,
  combineMeshNetworks,
  keepIdentity,
  type LayerRecord,
  type Layers,
  meshConfigOf,
  meshNetworksOf,
} from '../mesh/mesh-config.ts';
import { pushRequest, type Reason } from '../push-request.ts';
import type { State } from '../state.ts';
import { filtersDiffer, refilter } from './in-force.ts';
import type { Reduced } from './reduced.ts';

/** A source's value; `null` when the source is gone. */
interface LayerValue {
  readonly seq: number;
  readonly value: Json;
  readonly layer?: MeshLayer;
  readonly origin?: Origin;
  /** Why the source could not be parsed. */
  readonly reason?: string;
}
/** How one of the two configurations is read; everything else is the same for both. */
interface Reading<T extends object> {
  readonly object: string;
  readonly reason: Reason;
  readonly combine: (layers: Layers) => T;
  readonly read: (raw: Json) => Either<NonEmptyArray<Problem>, Accepted<T>>;
  /** Keeps the parts of the old value that are equal. */
  readonly keep: (old: T, now: T) => T;
}

const meshConfig: Reading<State['mesh']['effective']> = {
  object: 'MeshConfig',
  reason: 'global',
  combine: combineMeshConfig,
  read: raw => meshConfigOf(raw),
  keep: keepIdentity,
};

const meshNetworks: Reading<State['networks']['effective']> = {
  object: 'MeshNetworks',
  reason: 'networks',
  combine: combineMeshNetworks,
  read: meshNetworksOf,
  keep: (old, now) => keepIdentity(old, { networks: keepIdentity(old.networks, now.networks) }),
};

export function meshConfigHandler(state: State, event: Event & { readonly kind: 'MeshConfig' }): Reduced {
  const [mesh, effects] = applyValue(meshConfig, state.mesh, event);
  return [refiltered(state, { ...state, mesh }), effects];
}

export function meshNetworksHandler(state: State, event: Event & { readonly kind: 'MeshNetworks' }): Reduced {
  const [networks, effects] = applyValue(meshNetworks, state.networks, event);
  return [{ ...state, networks }, effects];
}

/** Applies the current filters of the mesh to all objects. */
function refiltered(before: State, after: State): State {
  return filtersDiffer(before, after) ? refilter(after) : after;
}

/**
 * From a snapshot's `{value?, at, refused?: {raw, at, origin?, reason?}}`. Judged anew: what this release refuses is
 * refused.
 */
export function restoreMesh(state: State, fact: JsonObject): State {
  return refiltered(state, { ...state, mesh: restoreValue(meshConfig, state.mesh, fact) });
}

export function restoreNetworks(state: State, fact: JsonObject): State {
  return { ...state, networks: restoreValue(meshNetworks, state.networks, fact) };
}

function restoreValue<T extends object>(reading: Reading<T>, applied: Applied<T>, fact: JsonObject): Applied<T> {
  const layer = fact.layer === 'configMap' || fact.layer === 'shared' ? fact.layer : undefined;
  let next = withLayerRecord(reading, applied, layer, { ...layerRecordOf(applied, layer), at: Number(fact.at) });
  const { value, refused } = fact;
  if (value !== undefined) [next] = applyValue(reading, next, { seq: Number(fact.at), value, layer });
  if (isObject(refused) && refused.raw !== undefined) {
    const origin = isObject(refused.origin) ? (refused.origin as unknown as Origin) : undefined;
    const reason = typeof refused.reason === 'string' ? refused.reason : undefined;
    [next] = applyValue(reading, next, { seq: Number(refused.at), value: refused.raw, layer, origin, reason });
  }
  return next;
}

function applyValue<T extends object>(
  reading: Reading<T>,
  applied: Applied<T>,
  received: LayerValue,
): readonly [Applied<T>, readonly Effect[]] {
  const { seq, value, layer, origin, reason } = received;
  const before = layerRecordOf(applied, layer);
  const read = value === null ? undefined : reason === undefined ? reading.read(value) : left(unparsed(reason));
  if (read !== undefined && isLeft(read)) {
    const place = origin === undefined ? {} : { origin };
    const why = reason === undefined ? {} : { reason };
    const refused = { at: seq, raw: value, problems: read.left, ...place, ...why };
    const next = withLayerRecord(reading, applied, layer, { ...before, refused });
    return [next, [verdict(reading.object, origin, false, read.left)]];
  }
  const next = withLayerRecord(reading, applied, layer, { raw: value === null ? undefined : value, at: seq });
  const warnings = read?.right.warnings ?? [];
  const effects: Effect[] = [];
  if (before.refused !== undefined || warnings.length > 0) {
    effects.push(verdict(reading.object, origin, true, warnings));
  }
  if (next.effective !== applied.effective) {
    effects.push({ kind: 'Push', request: pushRequest(seq, reading.reason, [], { full: true, forced: true }) });
  }
  return [next, effects];
}

const unparsed = (reason: string): NonEmptyArray<Problem> => [problem('', reason)];

/** The last value of a source. */
export function layerRecordOf(applied: Applied<unknown>, layer: MeshLayer | undefined): LayerRecord {
  if (layer !== undefined) return applied.others?.[layer] ?? { raw: undefined, at: 0 };
  const { raw, at, refused } = applied;
  return { raw, at, ...(refused === undefined ? {} : { refused }) };
}

/**
 * The value in force with this source's value; it depends on the sources' current values, never on their order of
 * arrival.
 */
function withLayerRecord<T extends object>(
  reading: Reading<T>,
  applied: Applied<T>,
  layer: MeshLayer | undefined,
  record: LayerRecord,
): Applied<T> {
  const file = layer === undefined ? record : layerRecordOf(applied, undefined);
  const others = layer === undefined ? applied.others : { ...applied.others, [layer]: record };
  const layers = { file: file.raw, configMap: others?.configMap?.raw, shared: others?.shared?.raw };
  const effective = reading.keep(applied.effective, reading.combine(layers));
  return { effective, ...file, ...(others === undefined ? {} : { others }) };
}

function verdict(object: string, origin: Origin | undefined, accepted: boolean, problems: readonly Problem[]): Effect {
  return { kind: 'Verdict', object, ...(origin === undefined ? {} : { origin }), accepted, problems };
}
