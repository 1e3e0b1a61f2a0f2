// The objects that analyzers look at: every kind of a set of YAML files, of a cluster or of a journal position, sorted,
// with Istio's specs decoded leniently, because a refused object is analysed too.
//
// Invariants: immutable; the order is kind, namespace, name, so that two runs report alike; an object whose spec does
// not fit its schema is left out here, its problems are reported by the schema analyzer. Kubernetes objects stay JSON:
// analyzers read a few members of kinds that Periplus otherwise never decodes (Deployment, CustomResourceDefinition).

import { isRight } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { Labels } from '../core/base/labels.ts';
import type { Origin } from '../core/base/problem.ts';
import type { MeshConfig, MeshNetworks } from '../core/mesh/effective.ts';
import { compareText } from '../core/model/object.ts';
import { decodeIstio } from '../core/schema/istio.ts';
import type { IstioTypeMap } from '../core/schema/istio-types.gen.ts';

/** Kind → the message that its spec is. */
const istioSpecs = {
  AuthorizationPolicy: 'istio.security.v1beta1.AuthorizationPolicy',
  DestinationRule: 'istio.networking.v1alpha3.DestinationRule',
  EnvoyFilter: 'istio.networking.v1alpha3.EnvoyFilter',
  Gateway: 'istio.networking.v1alpha3.Gateway',
  PeerAuthentication: 'istio.security.v1beta1.PeerAuthentication',
  ProxyConfig: 'istio.networking.v1beta1.ProxyConfig',
  RequestAuthentication: 'istio.security.v1beta1.RequestAuthentication',
  ServiceEntry: 'istio.networking.v1alpha3.ServiceEntry',
  Sidecar: 'istio.networking.v1alpha3.Sidecar',
  Telemetry: 'istio.telemetry.v1alpha1.Telemetry',
  VirtualService: 'istio.networking.v1alpha3.VirtualService',
  WasmPlugin: 'istio.extensions.v1alpha1.WasmPlugin',
  WorkloadEntry: 'istio.networking.v1alpha3.WorkloadEntry',
  WorkloadGroup: 'istio.networking.v1alpha3.WorkloadGroup',
} as const satisfies Readonly<Record<string, keyof IstioTypeMap>>;

/** Kubernetes kinds by API group; Gateway API's Gateway has Istio's name and another group. */
const kubernetesKinds = {
  ConfigMap: '',
  CustomResourceDefinition: 'apiextensions.k8s.io',
  Deployment: 'apps',
  GRPCRoute: 'gateway.networking.k8s.io',
  HTTPRoute: 'gateway.networking.k8s.io',
  KubernetesGateway: 'gateway.networking.k8s.io',
  MutatingWebhookConfiguration: 'admissionregistration.k8s.io',
  Namespace: '',
  Node: '',
  Pod: '',
  Secret: '',
  Service: '',
  ValidatingWebhookConfiguration: 'admissionregistration.k8s.io',
} as const;

export type IstioKindName = keyof typeof istioSpecs;
export type AnalysisKind = IstioKindName | keyof typeof kubernetesKinds | 'MeshNetworks' | 'MeshConfig';
type SpecOf<K extends AnalysisKind> = K extends IstioKindName ? IstioTypeMap[(typeof istioSpecs)[K]] : JsonObject;

export const istioKinds = Object.keys(istioSpecs) as readonly IstioKindName[];
export const clusterScoped: ReadonlySet<AnalysisKind> = new Set<AnalysisKind>([
  'CustomResourceDefinition',
  'MutatingWebhookConfiguration',
  'Namespace',
  'Node',
  'ValidatingWebhookConfiguration',
]);

export type Provenance = 'of-template' | 'of-installation';

/** An object as an analyzer reads it. */
export interface Item<K extends AnalysisKind = AnalysisKind> {
  readonly kind: K;
  readonly cluster: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Labels;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: SpecOf<K>;
  readonly status: JsonObject;
  readonly raw: JsonObject;
  readonly source: string;
  readonly origin?: Origin;
  /** Not read, but made: from a workload's template, or as what an installation of Istio brings. */
  readonly made?: Provenance;
}

export interface Received {
  readonly object: JsonObject;
  readonly source: string;
  readonly cluster: string;
  readonly origin?: Origin;
  readonly made?: Provenance;
}

/** Namespaces of Kubernetes itself, which analysis leaves out. Source: Istio pkg/kube/inject/initializer.go. */
const IGNORED_NAMESPACES: ReadonlySet<string> = new Set([
  'kube-system',
  'kube-public',
  'kube-node-lease',
  'local-path-storage',
]);

/** The members of metadata that name an object. */
export interface Named {
  readonly namespace: string;
  readonly name: string;
}

export interface AnalyzedObjects {
  readonly all: <K extends AnalysisKind>(kind: K) => readonly Item<K>[];
  /** The first object of that name, of any cluster. */
  readonly find: <K extends AnalysisKind>(kind: K, name: Named) => Item<K> | undefined;
  readonly mesh: MeshConfig;
  readonly networks: MeshNetworks;
  readonly domain: string;
  readonly systemNamespace: string;
  /** When certificates are judged, ms since the epoch. */
  readonly now: number;
  /** Whether a PEM text holds certificates that are valid at `now`. */
  readonly certificateIsValid: (pem: string, now: number) => boolean;
}

export type AnalysisContext = Omit<AnalyzedObjects, 'all' | 'find'>;

/** The kind of an object, if any analyzer knows it. */
export function analysisKindOf(object: JsonObject): AnalysisKind | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  if (Object.hasOwn(istioSpecs, kind) && group.endsWith('.istio.io')) return kind as IstioKindName;
  const name = kind === 'Gateway' ? 'KubernetesGateway' : kind;
  const known = Object.hasOwn(kubernetesKinds, name) ? (name as keyof typeof kubernetesKinds) : undefined;
  return known !== undefined && kubernetesKinds[known] === group ? known : undefined;
}

/** `defaultNamespace`: the namespace of objects without one. */
export function analyzedObjects(
  objects: readonly Received[],
  context: AnalysisContext,
  defaultNamespace = 'default',
): AnalyzedObjects {
  const items = objects.map(received => itemOf(received, defaultNamespace));
  return snapshotOf(
    items.filter(item => item !== undefined),
    context,
  );
}

/** Of objects that have been decoded. */
export function snapshotOf(objects: readonly Item[], context: AnalysisContext): AnalyzedObjects {
  const byKind = new Map<AnalysisKind, Item[]>();
  for (const item of objects) {
    const items = byKind.get(item.kind);
    if (items === undefined) byKind.set(item.kind, [item]);
    else items.push(item);
  }
  const byName = new Map<string, Item>();
  for (const items of byKind.values()) {
    items.sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name));
    for (const item of items) {
      const key = keyOf(item.kind, item);
      if (!byName.has(key)) byName.set(key, item);
    }
  }
  return {
    ...context,
    all: <K extends AnalysisKind>(kind: K) => (byKind.get(kind) ?? []) as readonly Item[] as readonly Item<K>[],
    find: <K extends AnalysisKind>(kind: K, name: Named) => byName.get(keyOf(kind, name)) as Item<K> | undefined,
  };
}

function keyOf(kind: AnalysisKind, { namespace, name }: Named): string {
  return `${kind}|${namespace}|${name}`;
}

/** Undefined: no analyzer reads the object, or its spec cannot be decoded. */
export function itemOf({ object, ...from }: Received, defaultNamespace: string): Item | undefined {
  const kind = analysisKindOf(object);
  const metadata = object.metadata;
  if (kind === undefined || !isObject(metadata) || typeof metadata.name !== 'string') return undefined;
  const namespace = clusterScoped.has(kind) ? '' : textOf(metadata.namespace) || defaultNamespace;
  if (IGNORED_NAMESPACES.has(kind === 'Namespace' ? metadata.name : namespace)) return undefined;
  const spec = specOf(kind, object);
  if (spec === undefined) return undefined;
  return {
    ...from,
    kind,
    namespace,
    name: metadata.name,
    labels: textsOf(metadata.labels),
    annotations: textsOf(metadata.annotations),
    spec: spec as Item['spec'],
    status: isObject(object.status) ? object.status : {},
    raw: object,
  };
}

function specOf(kind: AnalysisKind, object: JsonObject): unknown {
  const { spec } = object;
  if (!Object.hasOwn(istioSpecs, kind)) return isObject(spec) ? spec : {};
  const decoded = decodeIstio(istioSpecs[kind as IstioKindName], spec, 'spec', { ignoreUnknown: true, skipNull: true });
  return isRight(decoded) ? decoded.right : undefined;
}

// --- reading JSON that nothing has checked ---------------------------------------------------------------------------

export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A map of texts, entries of other types left out. */
export function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  const texts: Record<string, string> = {};
  for (const [key, member] of Object.entries(value)) if (typeof member === 'string') texts[key] = member;
  return texts;
}

/** The objects of a list; anything else is none. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : [];
}

export function memberOf(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found;
}

/** `namespace/name`, or the name alone. */
export function fullName({ namespace, name }: Named): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

/** `ns/name` or `name` of `namespace`. */
export function shortOrFullName(namespace: string, text: string): Named {
  const slash = text.indexOf('/');
  return slash < 0 ? { namespace, name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** As Kubernetes prints a selector: `a=b,c=d`, sorted. */
export function selectorText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',');
}
