// The protocol's rules of each resource type: whether it has wildcard subscriptions, its place in a push, and how a
// session reports absent resources. The query that makes the resources is in another table (assemble/types.ts), because
// sessions do not generate.
// Source: Istio pkg/model/xds.go (type URLs), pilot/pkg/xds/ads.go (PushOrder), pkg/xds/server.go (IsWildcardTypeURL).

export interface TypeRules {
  readonly url: string;
  /** As `proxy-status` prints it. */
  readonly short: string;
  /** True: an empty subscription is a wildcard, and a state-of-the-world response contains the whole set. */
  readonly wildcard: boolean;
  /**
   * How a delta client learns that a resource does not exist. `removed`: in `removed_resources`. `with-others`: there
   * too, but only in a response that contains resources anyway (SDS: a proxy waits for a missing secret). `never`: not
   * at all (ECDS).
   */
  readonly absence: 'removed' | 'with-others' | 'never';
  /** A name may stand for resources of other names, so what a client holds is not known by the names it watches. */
  readonly aliased?: true;
}

const PREFIX = 'type.googleapis.com/';

export const CDS = `${PREFIX}envoy.config.cluster.v3.Cluster`;
export const EDS = `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`;
export const LDS = `${PREFIX}envoy.config.listener.v3.Listener`;
export const RDS = `${PREFIX}envoy.config.route.v3.RouteConfiguration`;
export const SDS = `${PREFIX}envoy.extensions.transport_sockets.tls.v3.Secret`;
export const ECDS = `${PREFIX}envoy.config.core.v3.TypedExtensionConfig`;
export const NDS = `${PREFIX}istio.networking.nds.v1.NameTable`;
export const PCDS = `${PREFIX}istio.mesh.v1alpha1.ProxyConfig`;
export const WORKLOAD_ADDRESS = `${PREFIX}istio.workload.Address`;
export const WORKLOAD = `${PREFIX}istio.workload.Workload`;
export const WORKLOAD_AUTHORIZATION = `${PREFIX}istio.security.Authorization`;

/** From client to server only: istio-agent reports the health of a workload. */
export const HEALTH = `${PREFIX}istio.v1.HealthInformation`;
/** Debug requests are answered at once and leave no state. */
export const DEBUG_PREFIX = 'istio.io/debug';
/** Nonces of such answers begin with it: a request that has one is an ACK, and asks for nothing. */
export const DEBUG_NONCE = 'periplus-debug/';

/** In push order. Types that are not listed follow, sorted by URL. */
export const typeRules: readonly TypeRules[] = [
  { url: CDS, short: 'CDS', wildcard: true, absence: 'removed' },
  { url: EDS, short: 'EDS', wildcard: false, absence: 'removed' },
  { url: LDS, short: 'LDS', wildcard: true, absence: 'removed' },
  { url: RDS, short: 'RDS', wildcard: false, absence: 'removed' },
  { url: SDS, short: 'SDS', wildcard: false, absence: 'with-others' },
  { url: WORKLOAD_ADDRESS, short: 'WDS', wildcard: true, absence: 'removed', aliased: true },
  { url: WORKLOAD, short: 'WORKLOAD', wildcard: true, absence: 'removed', aliased: true },
  { url: WORKLOAD_AUTHORIZATION, short: 'WADS', wildcard: true, absence: 'removed' },
];

const lastRules: readonly TypeRules[] = [
  { url: ECDS, short: 'ECDS', wildcard: false, absence: 'never' },
  { url: NDS, short: 'NDS', wildcard: true, absence: 'removed' },
  { url: PCDS, short: 'PCDS', wildcard: true, absence: 'removed' },
];

const byUrl: ReadonlyMap<string, TypeRules> = new Map(
  [...typeRules, ...lastRules].map(rules => [rules.url, rules] as const),
);
const places: ReadonlyMap<string, number> = new Map(typeRules.map((rules, place) => [rules.url, place] as const));

/** Total: an unknown type counts as a wildcard type, as in Istio. */
export function rulesOf(url: string): TypeRules {
  return byUrl.get(url) ?? { url, short: shortOf(url), wildcard: true, absence: 'removed' };
}

/** `VirtualService` of `networking.istio.io/v1/VirtualService` and of `type.googleapis.com/a.b.VirtualService`. */
function shortOf(url: string): string {
  return url.slice(Math.max(url.lastIndexOf('.'), url.lastIndexOf('/')) + 1);
}

/** CDS, EDS, LDS, RDS, SDS, the workload types, then the rest by URL. */
export function byPushOrder(a: string, b: string): number {
  const left = places.get(a) ?? typeRules.length;
  const right = places.get(b) ?? typeRules.length;
  return left - right || (a < b ? -1 : a > b ? 1 : 0);
}
