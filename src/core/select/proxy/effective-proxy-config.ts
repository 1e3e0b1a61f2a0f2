// The ProxyConfig of a workload over all levels, as injection and managed gateways use it: mesh defaults < ProxyConfig
// of the root namespace < of the workload's namespace < the annotation proxy.istio.io/config < ProxyConfig that selects
// the workload. Of several objects at one level only the oldest counts. A zero value of a level is no value: the level
// below stays.
//
// `effectiveProxyConfig` is the one rule, a pure function of what `proxyConfigLevels` reads. Generation does not use
// it: an injected proxy sends what it has as metadata PROXY_CONFIG (proxy-config.ts).
// Source: Istio pilot/pkg/model/proxy_config.go (EffectiveProxyConfig), pkg/config/mesh/mesh.go (MergeProxyConfig).

import { isLeft } from 'fp-ts/lib/Either.js';
import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { type Labels, selects } from '../../base/labels.ts';
import { mergeProxyConfig } from '../../mesh/mesh-config.ts';
import { defaultMeshConfig } from '../../mesh/mesh-defaults.ts';
import { readProxyConfig } from '../../mesh/pod-annotations.ts';
import { byAge, type Obj } from '../../model/object.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { podOfProxy } from '../../registry/proxy-workload.ts';
import { proxyLabels } from '../../registry/workload.ts';
import { decodeIstio } from '../../schema/istio.ts';
import type { ProxyConfig } from '../../schema/istio-types.gen.ts';

/** The annotation of a pod, YAML of the mesh API's ProxyConfig. */
export const PROXY_CONFIG_ANNOTATION = 'proxy.istio.io/config';

/** A workload to inject, or a gateway to deploy, whose labels are `gateway.networking.k8s.io/gateway-name` alone. */
export interface ProxyConfigTarget {
  readonly namespace: string;
  readonly labels: Labels;
  /** The value of PROXY_CONFIG_ANNOTATION; what cannot be read is no configuration. */
  readonly annotation?: string;
}

/** Everything the rule looks at beside the workload. */
export interface ProxyConfigLevels {
  /** `defaultConfig` of MeshConfig, built-in defaults included. */
  readonly mesh: ProxyConfig;
  readonly rootNamespace: string;
  /** Objects of the root namespace and of the workload's; others do no harm. */
  readonly objects: readonly Obj<'ProxyConfig'>[];
}

export function effectiveProxyConfig(levels: ProxyConfigLevels, target: ProxyConfigTarget): ProxyConfig {
  const { mesh, rootNamespace } = levels;
  const oldestFirst = [...levels.objects].sort(byAge);
  const oldest = (namespace: string, fits: (obj: Obj<'ProxyConfig'>) => boolean): ProxyConfig =>
    ofObject(oldestFirst.find(obj => obj.namespace === namespace && fits(obj)));
  return [
    mesh,
    oldest(rootNamespace, isGeneral),
    target.namespace === rootNamespace ? {} : oldest(target.namespace, isGeneral),
    ofAnnotation(target.annotation),
    oldest(target.namespace, obj => isFor(obj, target.labels)),
  ].reduce((base, over) => mergeProxyConfig(base, withoutZeros(over)), defaultMeshConfig.defaultConfig);
}

/**
 * Zero values of the fields without presence: Istio writes each level as YAML to merge it, which leaves them out.
 * Messages, wrappers and members of a oneof are kept.
 */
const ZEROS: ProxyConfig = {
  controlPlaneAuthPolicy: 'NONE',
  interceptionMode: 'REDIRECT',
  configPath: '',
  binaryPath: '',
  discoveryAddress: '',
  zipkinAddress: '',
  statsdUdpAddress: '',
  proxyAdminPort: 0,
  availabilityZone: '',
  customConfigFile: '',
  statNameLength: 0,
  proxyBootstrapTemplatePath: '',
  envoyMetricsServiceAddress: '',
  statusPort: 0,
  meshId: '',
};

function withoutZeros(config: ProxyConfig): ProxyConfig {
  const isZero = (name: string, value: unknown): boolean =>
    (Object.hasOwn(ZEROS, name) && value === ZEROS[name as keyof ProxyConfig]) ||
    (Array.isArray(value) && value.length === 0) ||
    (name === 'runtimeValues' && isObject(value as Json) && Object.keys(value as JsonObject).length === 0);
  return Object.fromEntries(Object.entries(config).filter(([name, value]) => !isZero(name, value)));
}

/** What of the state the ProxyConfig of a workload of `namespace` depends on. */
export function proxyConfigLevels(reader: Reader, namespace: string): ProxyConfigLevels {
  const rootNamespace = reader.mesh('rootNamespace');
  const namespaces = new Set([rootNamespace, namespace]);
  const objects = [...namespaces].flatMap(place => reader.objects('ProxyConfig', `${place}/`));
  return { mesh: reader.mesh('defaultConfig'), rootNamespace, objects };
}

/** Of a connected proxy, as if it were injected now. */
export const proxyConfigOfProxy: Query<'', ProxyConfig> = {
  name: 'select/proxyConfigOfProxy',
  run: reader => {
    const namespace = reader.facet('namespace');
    const target = { namespace, labels: reader.derived(proxyLabels), annotation: annotationOf(reader) };
    return effectiveProxyConfig(proxyConfigLevels(reader, namespace), target);
  },
};

/** From the pod, or from the proxy's own metadata. */
function annotationOf(reader: ProxyReader): string | undefined {
  const sent = reader.metadata('ANNOTATIONS');
  const text =
    podOfProxy(reader)?.annotations[PROXY_CONFIG_ANNOTATION] ??
    (isObject(sent) ? sent[PROXY_CONFIG_ANNOTATION] : undefined);
  return typeof text === 'string' ? text : undefined;
}

/** An object with an empty selector is neither general nor for any workload. */
function isGeneral({ spec }: Obj<'ProxyConfig'>): boolean {
  return spec.selector === undefined;
}

function isFor({ spec }: Obj<'ProxyConfig'>, labels: Labels): boolean {
  const wanted = spec.selector?.matchLabels ?? {};
  return Object.keys(wanted).length > 0 && selects(wanted, labels);
}

function ofObject(obj: Obj<'ProxyConfig'> | undefined): ProxyConfig {
  const { concurrency, environmentVariables, image } = obj?.spec ?? {};
  return {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(environmentVariables === undefined ? {} : { proxyMetadata: environmentVariables }),
    ...(image === undefined ? {} : { image }),
  };
}

function ofAnnotation(text: string | undefined): ProxyConfig {
  if (text === undefined) return {};
  const value = readProxyConfig(text);
  if (isLeft(value)) return {};
  const type = 'istio.mesh.v1alpha1.ProxyConfig';
  const decoded = decodeIstio(type, value.right, PROXY_CONFIG_ANNOTATION, { ignoreUnknown: true });
  return isLeft(decoded) ? {} : decoded.right;
}
