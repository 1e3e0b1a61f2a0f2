// What istiod's environment variables mean here that are no feature flags: read by a part of the process, without
// meaning because the part of istiod that they steer does not exist, or unsupported, with the reason. Together with
// `features.ts` this covers every variable of pilot-discovery 1.30.3; a test holds both against the list, and
// docs/serving.md has the unsupported ones.
//
// Why one table: the start of the process, `analyze --migration` and the docs say the same of a variable.

import { goBoolean } from '../base/go-boolean.ts';
import { featureDefaults } from './features.ts';

/** Variables that are read besides the feature flags. Sorted. */
export const READ_BESIDES: readonly string[] = [
  'CA_TRUSTED_NODE_ACCOUNTS',
  'CERT_SIGNER_DOMAIN',
  'CITADEL_ENABLE_JITTER_FOR_ROOT_CERT_ROTATOR',
  'CITADEL_SELF_SIGNED_CA_CERT_TTL',
  'CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE',
  'CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL',
  'CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE',
  'CLUSTER_ID',
  'DEBUG_ENDPOINT_AUTH_ALLOWED_NAMESPACES',
  'DEFAULT_WORKLOAD_CERT_TTL',
  'ENABLE_CA_SERVER',
  'ENABLE_DEBUG_ENDPOINT_AUTH',
  'ENABLE_DEBUG_ON_HTTP',
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
  'KUBERNETES_SERVICE_HOST',
  'MAX_WORKLOAD_CERT_TTL',
  'METRICS_LOCALHOST_ACCESS_ONLY',
  'PILOT_CERT_PROVIDER',
  'PILOT_DEBOUNCE_AFTER',
  'PILOT_DEBOUNCE_MAX',
  'PILOT_ENABLE_EDS_DEBOUNCE',
  'PILOT_ENABLE_WARM_UP',
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
  'UNSAFE_ENABLE_ADMIN_ENDPOINTS',
  'USE_CACERTS_FOR_SELF_SIGNED_CA',
  'USE_REMOTE_CERTS',
  'XDS_AUTH',
  'XDS_AUTH_PLAINTEXT',
];

/** Caches, queues and profiles of istiod, its Go runtime, its agent, and switches whose value it does not use. */
const WITHOUT_MEANING: readonly RegExp[] = [
  /^GO(DEBUG|GC|MAXPROCS|MEMLIMIT)$/,
  /^PILOT_(ENABLE_(CDS|RDS|XDS)_CACHE|XDS_CACHE_.*|CONVERT_SIDECAR_SCOPE_CONCURRENCY|STATUS_MAX_WORKERS)$/,
  /^(ENABLE_LAZY_SIDECAR_EVALUATION|ENABLE_VTPROTOBUF|ISTIO_DELTA_XDS|ISTIO_ENABLE_CONTROLLER_QUEUE_METRICS)$/,
  /^(ISTIO_KUBE_CLIENT_CONTENT_TYPE|MUTEX_PROFILE_FRACTION|UNSAFE_PILOT_ENABLE_(RUNTIME_ASSERTIONS|DELTA_TEST))$/,
  /^(ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL|ISTIO_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION)$/,
  /^(PILOT_AGENT_MERGE_ENVOY_STATS|CA_ADDR|K_REVISION)$/,
  /^(KUBECONFIG|KUBERNETES_.*|NO_PROXY|SERVICE_ACCOUNT|PATH|HOME|TZ)$/,
];

type Why = (value: string) => string | undefined;

const ifOn =
  (why: string): Why =>
  value =>
    goBoolean(value) === true ? why : undefined;
const unless =
  (expected: string, why: string): Why =>
  value =>
    value === '' || value === expected ? undefined : why;
const ifGiven =
  (why: string): Why =>
  value =>
    value === '' ? undefined : why;

const OF_1_31 = 'a variable of Istio 1.31, which 1.30.3 does not read either';

/** Why a value is not honoured. Sorted. */
export const UNSUPPORTED: Readonly<Record<string, Why>> = {
  AMBIENT_SCOPED_ADDRESS_PUSHES: ifGiven('every client of addresses gets what changed of its own'),
  AUDIENCE: ifGiven('tokens of an issuer are checked by JWT_RULE, whose audiences count'),
  LOCAL_CLUSTER_SECRET_WATCHER: ifOn('only Secrets of the config cluster are read'),
  MCS_API_GROUP: unless('multicluster.x-k8s.io', 'multicluster.x-k8s.io is read always'),
  MCS_API_VERSION: unless('v1alpha1', 'v1alpha1 is read always'),
  PILOT_ALLOW_ANY_DYNAMIC_DNS_MAX_HOSTS: ifGiven(OF_1_31),
  PILOT_AUTO_SEND_UNHEALTHY_ENDPOINTS: ifGiven(OF_1_31),
  PILOT_ENABLE_AGENTGATEWAY: ifOn('agentgateway is not served'),
  PILOT_ENABLE_STRICT_GATEWAY_MERGING: ifGiven(OF_1_31),
  PILOT_ENABLE_XDS_IDENTITY_CHECK: value =>
    goBoolean(value) === false ? 'a proxy that claims another identity than it proves is refused always' : undefined,
  PILOT_ENVOY_FILTER_STATS: ifOn('pilot_envoy_filter_status is not counted: periplus analyze and explain tell of it'),
  PILOT_INSECURE_MULTICLUSTER_KUBECONFIG_OPTIONS: ifGiven(
    'kubeconfigs of remote clusters that run programs or read files are refused',
  ),
  TOKEN_ISSUER: ifGiven('tokens of an issuer are checked by JWT_RULE'),
};

export interface EnvironmentProblem {
  /** `unsupported`: the value demands what is not built; `unread`: no part knows the variable. */
  readonly kind: 'unsupported' | 'unread';
  readonly text: string;
}

/** Undefined: the variable has its effect, or none is missed. */
export function environmentProblem(name: string, value: string): EnvironmentProblem | undefined {
  const why = Object.hasOwn(UNSUPPORTED, name) ? UNSUPPORTED[name]?.(value) : undefined;
  if (why !== undefined) return { kind: 'unsupported', text: `${name}=${value}: ${why}` };
  return isKnown(name) ? undefined : { kind: 'unread', text: `${name} is not read` };
}

/** True if the variable is read, is without meaning here, or is known to be unsupported. */
export function isKnown(name: string): boolean {
  if (Object.hasOwn(featureDefaults, name) || Object.hasOwn(UNSUPPORTED, name)) return true;
  return READ_BESIDES.includes(name) || WITHOUT_MEANING.some(pattern => pattern.test(name));
}

/** Variables that Kubernetes sets for the Services of a namespace, be they called `pilot` or `istio`. */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT(_.*)?)|PORT(_[0-9]+_(TCP|UDP|SCTP)(_.*)?)?)$/;

/**
 * What a process should say of its own environment at the start: variables of istiod that have no effect. Others, of
 * which a process has many, are passed over unless their name begins as istiod's do.
 */
export function environmentProblems(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env)
    .filter(
      ([name]) => Object.hasOwn(UNSUPPORTED, name) || (/^(PILOT|CITADEL)_/.test(name) && !SERVICE_LINK.test(name)),
    )
    .flatMap(([name, value = '']) => environmentProblem(name, value)?.text ?? [])
    .sort();
}
