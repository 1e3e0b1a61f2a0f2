// What the Deployment of an istiod says that a Periplus in its place would not do: environment variables that are not
// read, values that are not built, flags that have no effect. Read from the Deployment, or from its pods: a journal has
// those.
//
// A variable has effect if it is a feature flag, or stands in `READ_BESIDES`; a test holds that list against the
// sources. Of the others, those in `WITHOUT_MEANING` steer parts that Periplus does not have.

import { memberOf, type Received, textsOf } from '../../analysis/objects.ts';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { featureDefaults } from '../../core/mesh/features.ts';
import type { Found } from './found.ts';

/** Variables that are read besides the feature flags. Sorted. */
export const READ_BESIDES: readonly string[] = [
  'CA_TRUSTED_NODE_ACCOUNTS',
  'CERT_SIGNER_DOMAIN',
  'CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR',
  'CITADEL_SELF_SIGNED_CA_CERT_TTL',
  'CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE',
  'CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL',
  'CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE',
  'DEBUG_ENDPOINT_AUTH_ALLOWED_NAMESPACES',
  'DEFAULT_WORKLOAD_CERT_TTL',
  'ENABLE_CA_SERVER',
  'ENABLE_DEBUG_ENDPOINT_AUTH',
  'ENABLE_LEADER_ELECTION',
  'EXTERNAL_CA',
  'GRPC_KEEPALIVE_INTERVAL',
  'GRPC_KEEPALIVE_TIMEOUT',
  'INJECT_ENABLED',
  'ISTIOD_CUSTOM_HOST',
  'ISTIO_GPRC_MAXRECVMSGSIZE',
  'ISTIO_GPRC_MAXSTREAMS',
  'ISTIO_META_NETWORK',
  'JWT_RULE',
  'K8S_SIGNER',
  'MAX_WORKLOAD_CERT_TTL',
  'PILOT_CERT_PROVIDER',
  'PILOT_DEBOUNCE_AFTER',
  'PILOT_DEBOUNCE_MAX',
  'PILOT_ENABLE_EDS_DEBOUNCE',
  'PILOT_MAX_REQUESTS_PER_SECOND',
  'PILOT_PUSH_THROTTLE',
  'PILOT_XDS_SEND_TIMEOUT',
  'POD_NAME',
  'POD_NAMESPACE',
  'REVISION',
  'ROOT_CA_DIR',
  'SHARED_MESH_CONFIG',
  'TOKEN_AUDIENCES',
  'TRUSTED_GATEWAY_CIDR',
  'USE_CACERTS_FOR_SELF_SIGNED_CA',
  'USE_REMOTE_CERTS',
  'XDS_AUTH',
  'XDS_AUTH_PLAINTEXT',
];

/** Caches, queues and profiles of istiod, its Go runtime, and switches whose value istiod itself does not use. */
const WITHOUT_MEANING: readonly RegExp[] = [
  /^GO(DEBUG|GC|MAXPROCS|MEMLIMIT)$/,
  /^PILOT_(ENABLE_(CDS|RDS|XDS)_CACHE|XDS_CACHE_.*|CONVERT_SIDECAR_SCOPE_CONCURRENCY|STATUS_MAX_WORKERS)$/,
  /^(ENABLE_LAZY_SIDECAR_EVALUATION|ENABLE_VTPROTOBUF|ISTIO_DELTA_XDS|ISTIO_ENABLE_CONTROLLER_QUEUE_METRICS)$/,
  /^(ISTIO_KUBE_CLIENT_CONTENT_TYPE|MUTEX_PROFILE_FRACTION|UNSAFE_PILOT_ENABLE_RUNTIME_ASSERTIONS)$/,
  /^(INJECTION|VALIDATION)_WEBHOOK_CONFIG_NAME$/,
  /^(CLUSTER_ID|KUBECONFIG|KUBERNETES_.*|NO_PROXY|SERVICE_ACCOUNT|PATH|HOME|TZ)$/,
];

/** Values that demand what is not built. */
const NOT_BUILT: Readonly<Record<string, (value: string) => string | undefined>> = {
  LOCAL_CLUSTER_SECRET_WATCHER: value => (isTrue(value) ? 'only Secrets of the config cluster are read' : undefined),
  MCS_API_GROUP: value => (value === 'multicluster.x-k8s.io' ? undefined : 'multicluster.x-k8s.io is read always'),
  MCS_API_VERSION: value => (value === 'v1alpha1' ? undefined : 'v1alpha1 is read always'),
  PILOT_ENABLE_AMBIENT: value => (isTrue(value) ? 'ambient proxies are not served' : undefined),
  PILOT_ENABLE_XDS_IDENTITY_CHECK: value =>
    isTrue(value) ? undefined : 'a proxy that claims another identity than it proves is refused always',
  PILOT_IGNORE_RESOURCES: value => (value === '' ? undefined : 'every kind is read'),
  PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS: value =>
    value === '' ? undefined : 'kubeconfigs of remote clusters that run programs or read files are refused',
};

const isTrue = (value: string): boolean => ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(value);

/** `flags`: the long names of the flags that `periplus serve` has. */
export function processFindings(objects: readonly Received[], flags: readonly string[]): readonly Found[] {
  return objects.flatMap(received => {
    const container = discoveryContainer(received.object);
    if (container === undefined) return [];
    const { at, of } = container;
    return [...environmentOf(of, at), ...flagsOf(of, at, flags)].map(found => ({ ...found, received }));
  });
}

/** True if an istiod's Deployment or pod was among the objects. */
export function hasProcess(objects: readonly Received[]): boolean {
  return objects.some(({ object }) => discoveryContainer(object) !== undefined);
}

function discoveryContainer(object: JsonObject): { readonly at: string; readonly of: JsonObject } | undefined {
  const path = object.kind === 'Pod' ? [] : object.kind === 'Deployment' ? ['spec', 'template'] : undefined;
  if (path === undefined) return undefined;
  const labels = textsOf(memberOf(object, ...path, 'metadata', 'labels'));
  const containers = memberOf(object, ...path, 'spec', 'containers');
  if (labels.app !== 'istiod' || !Array.isArray(containers)) return undefined;
  const index = (containers as readonly Json[]).findIndex(one => isObject(one) && one.name === 'discovery');
  const found = (containers as readonly Json[])[index];
  return isObject(found) ? { at: [...path, `spec.containers[${index}]`].join('.'), of: found } : undefined;
}

type FoundHere = Omit<Found, 'received'>;

function environmentOf({ env }: JsonObject, at: string): readonly FoundHere[] {
  if (!Array.isArray(env)) return [];
  return (env as readonly Json[]).flatMap((entry, i): readonly FoundHere[] => {
    if (!isObject(entry) || typeof entry.name !== 'string') return [];
    const { name, value = '' } = entry;
    const path = `${at}.env[${i}]`;
    const why = Object.hasOwn(NOT_BUILT, name) ? NOT_BUILT[name]?.(String(value)) : undefined;
    if (why !== undefined) return [{ level: 'Error', text: `${name}=${String(value)}: ${why}`, path }];
    if (hasEffect(name) || Object.hasOwn(NOT_BUILT, name)) return [];
    if (WITHOUT_MEANING.some(pattern => pattern.test(name))) return [];
    return [{ level: 'Warning', text: `${name} is not read`, path }];
  });
}

function hasEffect(name: string): boolean {
  return Object.hasOwn(featureDefaults, name) || READ_BESIDES.includes(name);
}

function flagsOf({ args }: JsonObject, at: string, flags: readonly string[]): readonly FoundHere[] {
  if (!Array.isArray(args)) return [];
  return (args as readonly Json[]).flatMap((arg, i): readonly FoundHere[] => {
    const flag = typeof arg === 'string' && arg.startsWith('--') ? arg.split('=')[0]! : undefined;
    if (flag === undefined || flags.includes(flag)) return [];
    return [{ level: 'Warning', text: `the flag ${flag} has no effect`, path: `${at}.args[${i}]` }];
  });
}
