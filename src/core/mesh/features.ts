// Istio's feature flags that change generated configuration: name → default. Read through the tracked reader
// (`reader.feature('PILOT_…')`), so that they are inputs like any other.
// Source of names and defaults: Istio pilot/pkg/features at 1.30.3.

import { goBoolean } from '../base/go-boolean.ts';
import type { Settings } from './settings.ts';

/** The type of the default is the type of the flag. Durations are in milliseconds. */
export const featureDefaults = {
  AMBIENT_ENABLE_DRY_RUN_AUTHORIZATION_POLICY: false,
  AMBIENT_ENABLE_MULTI_NETWORK: false,
  /** Waypoints have listeners and clusters for tunnels to other networks, even without the flag for the others. */
  AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT: true,
  BLOCKED_CIDRS_IN_JWKS_URIS: '',
  COMPLIANCE_POLICY: '',
  DISABLE_SHADOW_HOST_SUFFIX: true,
  DISABLE_TRACK_REMAINING_CB_METRICS: true,
  ENABLE_100_CONTINUE_HEADERS: true,
  ENABLE_CLUSTER_TRUST_BUNDLE_API: false,
  ENABLE_ENHANCED_DESTINATIONRULE_MERGE: true,
  ENABLE_GATEWAY_API_INFERENCE_EXTENSION: false,
  ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT: true,
  ENABLE_HCM_INTERNAL_NETWORKS: false,
  ENABLE_INGRESS_WAYPOINT_ROUTING: true,
  /** Policies for the workload that a waypoint is act on the tunnels that it takes. */
  ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: false,
  ENABLE_LOCALITY_WEIGHTED_LB_CONFIG: false,
  ENABLE_MULTICLUSTER_HEADLESS: true,
  ENABLE_MCS_AUTO_EXPORT: false,
  ENABLE_MCS_CLUSTER_LOCAL: false,
  ENABLE_MCS_HOST: false,
  ENABLE_MCS_SERVICE_DISCOVERY: false,
  /** auto, true or false: sidecars as init containers. */
  ENABLE_NATIVE_SIDECARS: 'auto',
  ENABLE_PROXY_FIND_POD_BY_IP: false,
  ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY: true,
  ENABLE_TLS_ON_SIDECAR_INGRESS: false,
  /** On, unlike in 1.30: the mesh's configuration is for identities of the system namespace (xds/serve/connect.ts). */
  ENABLE_XDS_API_GENERATOR_AUTH: true,
  /** Remote clusters that name this control plane get roots and webhook bundles. */
  EXTERNAL_ISTIOD: false,
  /** '' in this and the other of its kind: caBundle is not written, since an operator manages the webhooks. */
  INJECTION_WEBHOOK_CONFIG_NAME: 'istio-sidecar-injector',
  ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS: false,
  ISTIO_DUAL_STACK: false,
  ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: false,
  ISTIO_MULTIROOT_MESH: false,
  ISTIO_WATCH_NAMESPACE: '',
  ISTIO_WORKLOAD_ENTRY_VALIDATE_IDENTITY: true,
  /** Ours: key sets may be fetched from loopback and link-local addresses. */
  JWKS_RESOLVER_ALLOW_LOCAL_ADDRESSES: false,
  JWKS_RESOLVER_INSECURE_SKIP_VERIFY: false,
  K8S_INGRESS_NS: 'istio-system',
  LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: false,
  MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP: 1,
  /** Ours: where the pods of Istio's CNI plugin are (--cniNamespace); '': beside the control plane. */
  PERIPLUS_CNI_NAMESPACE: '',
  PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS: false,
  /** Ours: whose private keys a proxy may read over SDS (core/select/secret/secret-access.ts). */
  PERIPLUS_SECRET_ACCESS: 'namespace',
  PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: false,
  /** Between two analyses for PILOT_ENABLE_ANALYSIS, at least. */
  PILOT_ANALYSIS_INTERVAL: 10_000,
  PILOT_AUTO_ALLOW_WAYPOINT_POLICY: false,
  PILOT_CA_CERT_CONFIGMAP: 'istio-ca-root-cert',
  PILOT_CRL_CONFIGMAP: 'istio-ca-crl',
  PILOT_DISABLE_MX_ALPN: false,
  PILOT_DNS_CARES_UDP_MAX_QUERIES: 100,
  PILOT_DNS_JITTER_DURATION: 100,
  PILOT_DRAINING_LABEL: 'istio.io/draining',
  PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN: true,
  PILOT_ENABLE_ALPN_FILTER: true,
  PILOT_ENABLE_ALPHA_GATEWAY_API: false,
  PILOT_ENABLE_AMBIENT: false,
  PILOT_ENABLE_AMBIENT_WAYPOINTS: true,
  /** Statuses of Istio's objects have the messages of analyzers (core/wishes/analysis-messages.ts). */
  PILOT_ENABLE_ANALYSIS: false,
  PILOT_ENABLE_CA_CRL: true,
  PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY: true,
  PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: false,
  PILOT_ENABLE_GATEWAY_API: true,
  PILOT_ENABLE_GATEWAY_API_COPY_LABELS_ANNOTATIONS: true,
  PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: true,
  PILOT_ENABLE_GATEWAY_API_GATEWAYCLASS_CONTROLLER: true,
  PILOT_ENABLE_GATEWAY_API_STATUS: true,
  PILOT_ENABLE_IP_AUTOALLOCATE: true,
  PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: true,
  PILOT_ENABLE_METADATA_EXCHANGE: true,
  PILOT_ENABLE_MONGO_FILTER: true,
  PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: false,
  PILOT_ENABLE_MYSQL_FILTER: false,
  PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: false,
  PILOT_ENABLE_PERSISTENT_SESSION_FILTER: false,
  PILOT_ENABLE_QUIC_LISTENERS: false,
  PILOT_ENABLE_REDIS_FILTER: false,
  PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION: true,
  PILOT_ENABLE_SENDING_HBONE: true,
  PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: true,
  PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true,
  /** Istio's objects are told how many proxies have accepted them (core/wishes/distribution.ts). */
  PILOT_ENABLE_STATUS: false,
  PILOT_ENABLE_TELEMETRY_LABEL: true,
  PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION: true,
  PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS: true,
  PILOT_ENDPOINT_TELEMETRY_LABEL: true,
  PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: false,
  PILOT_GATEWAY_API_CONTROLLER_NAME: 'istio.io/gateway-controller',
  PILOT_GATEWAY_API_DEFAULT_GATEWAYCLASS_NAME: 'istio',
  PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT: 15_000,
  PILOT_HBONE_INITIAL_CONNECTION_WINDOW_SIZE: 0,
  PILOT_HBONE_INITIAL_STREAM_WINDOW_SIZE: 0,
  PILOT_HTTP10: false,
  /** Custom resources, `plural.group` or `*.suffix`, that are not watched, and of those the ones that are. */
  PILOT_IGNORE_RESOURCES: '',
  PILOT_INCLUDE_RESOURCES: '',
  PILOT_IP_AUTOALLOCATE_IPV4_PREFIX: '240.240.0.0/16',
  PILOT_IP_AUTOALLOCATE_IPV6_PREFIX: '2001:2::/48',
  PILOT_JWT_ENABLE_REMOTE_JWKS: 'false',
  PILOT_JWT_PUB_KEY_REFRESH_INTERVAL: 20 * 60_000,
  PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API: true,
  /** A folder of kubeconfig files of remote clusters, in place of Secrets. */
  PILOT_MULTICLUSTER_KUBECONFIG_PATH: '',
  PILOT_MX_ADDITIONAL_LABELS: '',
  PILOT_NODE_UNTAINT_CONTROLLERS_TAINT_NAME: 'cni.istio.io/not-ready',
  PILOT_PERSISTENT_SESSION_HEADER_LABEL: 'istio.io/persistent-session-header',
  PILOT_PERSISTENT_SESSION_LABEL: 'istio.io/persistent-session',
  /** Where an endpoint takes mesh mTLS and HBONE. */
  PILOT_PREFER_SENDING_HBONE: false,
  /** How long a remote cluster that does not answer holds back the first readiness; 0: for ever. */
  PILOT_REMOTE_CLUSTER_TIMEOUT: 30_000,
  PILOT_SCOPE_GATEWAY_TO_NAMESPACE: false,
  PILOT_SEND_UNHEALTHY_ENDPOINTS: false,
  PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE: true,
  PILOT_SIDECAR_USE_REMOTE_ADDRESS: false,
  PILOT_SKIP_VALIDATE_TRUST_DOMAIN: false,
  PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY: true,
  /** Counts for PILOT_ENABLE_STATUS: told in a second, at most, and how long apart. */
  PILOT_STATUS_QPS: 100,
  PILOT_STATUS_UPDATE_INTERVAL: 500,
  PILOT_TRACE_SAMPLING: 1,
  PILOT_UNIFIED_SIDECAR_SCOPE: true,
  /** How long a machine that left keeps its WorkloadEntry. */
  PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: 10_000,
  /** openshift: proxies run as a user of the namespace's range. */
  PLATFORM: '',
  PREFER_DESTINATIONRULE_TLS_FOR_EXTERNAL_SERVICES: true,
  RESOLVE_HOSTNAME_GATEWAYS: true,
  VALIDATION_WEBHOOK_CONFIG_NAME: 'istio-istio-system',
} as const;

export type FeatureName = keyof typeof featureDefaults;
type Widen<T> = T extends boolean ? boolean : T extends number ? number : string;
export type FeatureValue<F extends FeatureName> = Widen<(typeof featureDefaults)[F]>;

/** Labels, of which an empty name switches off what the label does. Elsewhere an empty value counts as not given. */
const LABELS: readonly FeatureName[] = [
  'PILOT_DRAINING_LABEL',
  'PILOT_PERSISTENT_SESSION_HEADER_LABEL',
  'PILOT_PERSISTENT_SESSION_LABEL',
];

/** Numbers that are times: given as durations of Go, `10s`. A bare number is none. */
const DURATIONS: readonly FeatureName[] = [
  'PILOT_ANALYSIS_INTERVAL',
  'PILOT_DNS_JITTER_DURATION',
  'PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT',
  'PILOT_JWT_PUB_KEY_REFRESH_INTERVAL',
  'PILOT_REMOTE_CLUSTER_TIMEOUT',
  'PILOT_STATUS_UPDATE_INTERVAL',
  'PILOT_WORKLOAD_ENTRY_GRACE_PERIOD',
];

/** The value of a flag; an unparsable one counts as not given, as in Istio. */
export function featureOf<F extends FeatureName>(settings: Settings, name: F): FeatureValue<F> {
  const fallback: boolean | number | string = featureDefaults[name];
  const given = settings.env[name];
  if (given === '' && LABELS.includes(name)) return '' as FeatureValue<F>;
  if (given && DURATIONS.includes(name)) return (durationMs(given) ?? fallback) as FeatureValue<F>;
  return parse(given, fallback) as FeatureValue<F>;
}

function parse(given: string | undefined, fallback: boolean | number | string): boolean | number | string {
  if (given === undefined || given === '') return fallback;
  if (typeof fallback === 'string') return given;
  if (typeof fallback === 'boolean') return goBoolean(given) ?? fallback;
  return Number.isFinite(Number(given)) ? Number(given) : fallback;
}

/** With both letters that stand for micro. */
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const UNIT = 'ns|us|\u00b5s|\u03bcs|ms|s|m|h';
const DURATION = new RegExp(`^((\\d+(\\.\\d*)?|\\.\\d+)(${UNIT}))+$`);
const AMOUNT = new RegExp(`([0-9.]+)(${UNIT})`, 'g');

/**
 * A Go duration such as `1m30s`, `.5s` or `0`, in milliseconds; undefined if it is none. Source: Go's time
 * (ParseDuration); without a sign, which no setting here has a use for.
 */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0;
  if (!DURATION.test(text)) return undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(AMOUNT)) total += Number(amount) * (unitMs[unit!] ?? 0);
  return total;
}
