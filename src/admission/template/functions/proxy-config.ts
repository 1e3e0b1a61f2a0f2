// The ProxyConfig that a pod is given in its environment: without the fields that have the built-in default, so that
// the usual one is {}. Members in the order of their numbers in the message, as protojson writes them.
// Source: Istio pkg/kube/inject/template.go (cleanProxyConfig), istio.io/api mesh/v1alpha1/proxy.proto.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { goJson } from '../go-json.ts';

/**
 * What Istio pkg/config/mesh/mesh.go (DefaultProxyConfig) sets, of the fields that are left out where they equal it.
 */
const DEFAULTS: JsonObject = {
  configPath: './etc/istio/proxy',
  binaryPath: '/usr/local/bin/envoy',
  controlPlaneAuthPolicy: 'MUTUAL_TLS',
  serviceCluster: 'istio-proxy',
  drainDuration: '45s',
  terminationDrainDuration: '5s',
  discoveryAddress: 'istiod.istio-system.svc:15012',
  proxyAdminPort: 15000,
  statNameLength: 189,
  statusPort: 15020,
};

/** By field number. */
const ORDER: readonly string[] = [
  'configPath',
  'binaryPath',
  'serviceCluster',
  'drainDuration',
  'discoveryAddress',
  'zipkinAddress',
  'statsdUdpAddress',
  'proxyAdminPort',
  'controlPlaneAuthPolicy',
  'customConfigFile',
  'statNameLength',
  'concurrency',
  'proxyBootstrapTemplatePath',
  'interceptionMode',
  'tracing',
  'envoyAccessLogService',
  'envoyMetricsService',
  'sds',
  'proxyMetadata',
  'runtimeValues',
  'statusPort',
  'extraStatTags',
  'gatewayTopology',
  'terminationDrainDuration',
  'meshId',
  'readinessProbe',
  'proxyStatsMatcher',
  'holdApplicationUntilProxyStarts',
  'caCertificatesPem',
  'image',
  'privateKeyProvider',
  'proxyHeaders',
  'tracingServiceName',
  'fileFlushInterval',
  'fileFlushMinSizeKb',
  'statsCompression',
  'statsEvictionInterval',
];

/** Not what it is in Istio's message if it equals one of these: they print as nothing. */
const ZERO: readonly Json[] = ['', 0, false];
/** Wrappers and messages keep a value that is zero. */
const KEEP_ZERO: readonly string[] = [
  'concurrency',
  'fileFlushMinSizeKb',
  'holdApplicationUntilProxyStarts',
  'statsCompression',
];
/** The first value of an enum prints as nothing. */
const ZERO_ENUMS: JsonObject = { controlPlaneAuthPolicy: 'NONE', interceptionMode: 'REDIRECT' };

export function withoutDefaults(config: JsonObject): JsonObject {
  const kept = Object.entries(config).filter(([name, value]) => value !== undefined && isKept(name, value));
  const rank = (name: string): number => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
  kept.sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(kept.map(([name, value]) => [name, sortedMaps(name, value!)])) as JsonObject;
}

function isKept(name: string, value: Json): boolean {
  if (value === null || (ZERO.includes(value) && !KEEP_ZERO.includes(name))) return false;
  if (Object.hasOwn(ZERO_ENUMS, name) && value === ZERO_ENUMS[name]) return false;
  if ((name === 'proxyMetadata' || name === 'runtimeValues') && isObject(value) && Object.keys(value).length === 0)
    return false;
  if (Array.isArray(value) && value.length === 0) return false;
  const usual = DEFAULTS[name];
  return usual === undefined || goJson(usual) !== goJson(value);
}

function sortedMaps(name: string, value: Json): Json {
  if ((name !== 'proxyMetadata' && name !== 'runtimeValues') || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) as JsonObject;
}
