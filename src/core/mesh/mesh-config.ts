// MeshConfig and MeshNetworks: from the values that sources give to the effective value. Merge rules: Istio
// pkg/config/mesh/mesh.go (ApplyMeshConfig).
//
// Invariant: the effective value keeps the identity of every field that did not change, so queries that read other
// fields stay valid.

import { type Either, isLeft, isRight, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { type Json, jsonEqual } from '../base/json.ts';
import type { Origin, Problem } from '../base/problem.ts';
import type { MeshLayer } from '../event.ts';
import { shapeProblem } from '../kinds/limits.ts';
import { checked } from '../kinds/report.ts';
import { compareText } from '../model/object.ts';
import { decodeIstio } from '../schema/istio.ts';
import type { MeshConfig as DecodedMeshConfig, ProxyConfig } from '../schema/istio-types.gen.ts';
import type { MeshConfig, MeshNetworks } from './effective.ts';
import { checkMeshConfig, checkMeshNetworks, checkProviders, checkProxyConfig } from './mesh-check.ts';
import { defaultMeshConfig, defaultMeshNetworks } from './mesh-defaults.ts';

/** The last accepted value of one source, and a newer one that was refused, if any. */
export interface LayerRecord {
  /** As received; undefined until the source delivers a value. */
  readonly raw: Json | undefined;
  readonly at: number;
  readonly refused?: {
    readonly at: number;
    readonly raw: Json;
    readonly problems: readonly Problem[];
    readonly origin?: Origin;
    /** Why the source could not be parsed; `raw` is its text. */
    readonly reason?: string;
  };
}

/** The value in force; the record of the file, and those of the other sources. */
export interface Applied<T> extends LayerRecord {
  readonly effective: T;
  readonly others?: Readonly<Partial<Record<MeshLayer, LayerRecord>>>;
}

/**
 * The result of checking a value. Warnings go to its author and change nothing: unknown fields, which Istio drops
 * silently, and mistakes in providers, which affect only configuration that uses them.
 */
export interface Accepted<T> {
  readonly value: T;
  readonly warnings: readonly Problem[];
}

/** The accepted value of each source. */
export type Layers = Readonly<Partial<Record<MeshLayer | 'file', Json>>>;

/**
 * Defaults < shared < base, where base is the file or, if there is none, the ConfigMap. Each layer is valid alone;
 * should two together not be, the base stands alone. (Istio pilot/pkg/bootstrap/mesh.go)
 */
export function combineMeshConfig({ file, configMap, shared }: Layers): MeshConfig {
  const below = acceptedOver(shared, defaultMeshConfig) ?? defaultMeshConfig;
  const base = file ?? configMap;
  return acceptedOver(base, below) ?? acceptedOver(base, defaultMeshConfig) ?? below;
}

function acceptedOver(raw: Json | undefined, below: MeshConfig): MeshConfig | undefined {
  const read = raw === undefined ? undefined : meshConfigOf(raw, below);
  return read === undefined || isLeft(read) ? undefined : read.right.value;
}

/** Networks are never merged: the first source with any networks is used alone. */
export function combineMeshNetworks({ file, configMap, shared }: Layers): MeshNetworks {
  const first = shared ?? file ?? configMap;
  const read = first === undefined ? undefined : meshNetworksOf(first);
  return read === undefined || isLeft(read) ? defaultMeshNetworks : read.right.value;
}

type Read = Either<NonEmptyArray<Problem>, Accepted<MeshConfig>>;

/** Over the defaults: a value is judged, then combined with those of other sources at each change of any. */
const readOverDefaults = new WeakMap<object, Read>();

/** The MeshConfig in force with a source's `raw` merged over those before it, or all of its problems. */
export function meshConfigOf(raw: Json, below = defaultMeshConfig): Read {
  if (below !== defaultMeshConfig || typeof raw !== 'object' || raw === null) return readOver(raw, below);
  let read = readOverDefaults.get(raw);
  if (read === undefined) {
    read = readOver(raw, below);
    readOverDefaults.set(raw, read);
  }
  return read;
}

function readOver(raw: Json, below: MeshConfig): Read {
  const decoded = decodeLeniently('istio.mesh.v1alpha1.MeshConfig', raw);
  if (isLeft(decoded)) return decoded;
  const merged = checked(mergeMeshConfig(below, decoded.right.value), checkMeshConfig);
  if (isLeft(merged)) return merged;
  const providers = checked(merged.right, checkProviders);
  const doubts = isLeft(providers) ? providers.left : [];
  return right({ value: merged.right, warnings: [...decoded.right.warnings, ...doubts] });
}

/** The networks in force with a source's `raw`; they replace all earlier ones. */
export function meshNetworksOf(raw: Json): Either<NonEmptyArray<Problem>, Accepted<MeshNetworks>> {
  const decoded = decodeLeniently('istio.mesh.v1alpha1.MeshNetworks', raw);
  if (isLeft(decoded)) return decoded;
  const networks = checked({ ...defaultMeshNetworks, ...decoded.right.value }, checkMeshNetworks);
  return isLeft(networks) ? networks : right({ value: networks.right, warnings: decoded.right.warnings });
}

function decodeLeniently<T extends 'istio.mesh.v1alpha1.MeshConfig' | 'istio.mesh.v1alpha1.MeshNetworks'>(
  type: T,
  raw: Json,
) {
  const shape = shapeProblem(raw);
  if (shape !== undefined) return left<NonEmptyArray<Problem>>([shape]);
  const strict = decodeIstio(type, raw, '');
  if (isRight(strict)) return right({ value: strict.right, warnings: [] });
  const lenient = decodeIstio(type, raw, '', { ignoreUnknown: true });
  return isLeft(lenient) ? lenient : right({ value: lenient.right, warnings: strict.left });
}

/** One source over the value so far. */
export function mergeMeshConfig(base: MeshConfig, over: DecodedMeshConfig): MeshConfig {
  const merged = {
    ...base,
    ...over,
    defaultConfig: mergeProxyConfig(base.defaultConfig, over.defaultConfig ?? {}),
    defaultProviders: { ...base.defaultProviders, ...over.defaultProviders },
    extensionProviders: mergeByName(base.extensionProviders, over.extensionProviders ?? []),
    trustDomainAliases: [...new Set([...base.trustDomainAliases, ...(over.trustDomainAliases ?? [])])].sort(
      compareText,
    ),
  };
  return merged;
}

/**
 * Field by field. Of the messages inside, `proxyMetadata` is merged by key and `proxyHeaders` by INHERITED_HEADERS;
 * every other one is replaced. Rule: Istio pkg/config/mesh/mesh.go (MergeProxyConfig, correctProxyHeaders).
 */
export function mergeProxyConfig(base: ProxyConfig, over: ProxyConfig): ProxyConfig {
  const { serviceCluster, tracingServiceName, ...rest } = base;
  const clusterName =
    over.serviceCluster !== undefined || over.tracingServiceName !== undefined
      ? {}
      : {
          ...(serviceCluster === undefined ? {} : { serviceCluster }),
          ...(tracingServiceName === undefined ? {} : { tracingServiceName }),
        };
  return {
    ...rest,
    ...clusterName,
    ...over,
    ...mergedMetadata(base, over),
    ...mergedHeaders(base, over),
  };
}

function mergedMetadata(base: ProxyConfig, over: ProxyConfig): ProxyConfig {
  if (base.proxyMetadata === undefined && over.proxyMetadata === undefined) return {};
  return { proxyMetadata: { ...base.proxyMetadata, ...over.proxyMetadata } };
}

type Headers = NonNullable<ProxyConfig['proxyHeaders']>;

/** Members of `proxyHeaders` that a later level without them leaves as they are; it resets all others. */
const INHERITED_HEADERS = ['forwardedClientCert', 'requestId', 'attemptCount', 'server', 'envoyDebugHeaders'] as const;

function mergedHeaders(base: ProxyConfig, over: ProxyConfig): ProxyConfig {
  if (base.proxyHeaders === undefined || over.proxyHeaders === undefined) return {};
  const headers: { -readonly [F in keyof Headers]: unknown } = { ...over.proxyHeaders };
  for (const member of INHERITED_HEADERS) {
    const given = headers[member];
    const inherited = base.proxyHeaders[member];
    if ((given === undefined || given === 'UNDEFINED') && inherited !== undefined) headers[member] = inherited;
  }
  return { proxyHeaders: headers as Headers };
}

/**
 * The problems of the ProxyConfig in an annotation, merged over the built-in defaults alone.
 * Rule: Istio pkg/kube/inject/validate.go (validateProxyConfig).
 */
export function proxyConfigProblems(config: ProxyConfig): readonly Problem[] {
  const merged = mergeProxyConfig(defaultMeshConfig.defaultConfig, config);
  const result = checked(merged, (whole, report) => checkProxyConfig(whole, 'ProxyConfig', report));
  return isLeft(result) ? result.left : [];
}

/** The same name replaces in place, a new name is appended. */
function mergeByName<T extends { readonly name?: string }>(base: readonly T[], over: readonly T[]): readonly T[] {
  const merged = new Map(base.map(provider => [provider.name, provider]));
  for (const provider of over) merged.set(provider.name, provider);
  return [...merged.values()];
}

/** `now`, with the members of `old` that say the same; `old` itself when all do. */
export function keepIdentity<T extends object>(old: T, now: T): T {
  const kept: { [F in keyof T]?: T[F] } = {};
  let same = Object.keys(old).length === Object.keys(now).length;
  for (const field of Object.keys(now) as (keyof T)[]) {
    const unchanged = Object.hasOwn(old, field) && jsonEqual(old[field] as Json, now[field] as Json);
    kept[field] = unchanged ? old[field] : now[field];
    same &&= unchanged;
  }
  return same ? old : (kept as T);
}
