// What the protocol has to know of a resource type: may it be asked for by wildcard, in which place does it go out, and what is said of
// resources that are not there. Which query makes the resources is another table (generate/types.ts): sessions do not generate.
// Source: Istio pkg/model/xds.go (type URLs), pilot/pkg/xds/ads.go (PushOrder), pkg/xds/server.go (wildcard types); spec-events §5.4, §6.

export interface TypeRules {
  readonly url: string;
  /** As `proxy-status` prints it. */
  readonly short: string;
  /** True: an empty subscription means everything, and a state-of-the-world response is always the whole set. */
  readonly wildcard: boolean;
  /**
   * How a delta client learns that a name does not exist: `removed`, told; `with-others`, told only in a response that carries
   * resources anyway (SDS: a proxy waits for a missing secret, and silence is what it expects); `never` (ECDS).
   */
  readonly absence: 'removed' | 'with-others' | 'never';
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

/** From client to server only: the health of a workload, by its agent. */
export const HEALTH = `${PREFIX}istio.v1.HealthInformation`;
/** Debug answers are made on the spot and not remembered. */
export const DEBUG_PREFIX = 'istio.io/debug';

/** In push order; what is not listed comes after, by URL. */
export const typeRules: readonly TypeRules[] = [
  { url: CDS, short: 'CDS', wildcard: true, absence: 'removed' },
  { url: EDS, short: 'EDS', wildcard: false, absence: 'removed' },
  { url: LDS, short: 'LDS', wildcard: true, absence: 'removed' },
  { url: RDS, short: 'RDS', wildcard: false, absence: 'removed' },
  { url: SDS, short: 'SDS', wildcard: false, absence: 'with-others' },
  { url: WORKLOAD_ADDRESS, short: 'WDS', wildcard: true, absence: 'removed' },
  { url: WORKLOAD, short: 'WORKLOAD', wildcard: true, absence: 'removed' },
  { url: WORKLOAD_AUTHORIZATION, short: 'WADS', wildcard: true, absence: 'removed' },
];

const afterwards: readonly TypeRules[] = [
  { url: ECDS, short: 'ECDS', wildcard: false, absence: 'never' },
  { url: NDS, short: 'NDS', wildcard: true, absence: 'removed' },
  { url: PCDS, short: 'PCDS', wildcard: true, absence: 'removed' },
];

const byUrl: ReadonlyMap<string, TypeRules> = new Map(
  [...typeRules, ...afterwards].map(rules => [rules.url, rules] as const),
);
const places: ReadonlyMap<string, number> = new Map(typeRules.map((rules, place) => [rules.url, place] as const));

/** Total: an unknown type is taken for one that can be asked for by wildcard, as Istio does. */
export function rulesOf(url: string): TypeRules {
  return byUrl.get(url) ?? { url, short: url.slice(url.lastIndexOf('.') + 1), wildcard: true, absence: 'removed' };
}

/** CDS, EDS, LDS, RDS, SDS, the workload types, then the rest by URL. */
export function byPushOrder(a: string, b: string): number {
  const left = places.get(a) ?? typeRules.length;
  const right = places.get(b) ?? typeRules.length;
  return left - right || (a < b ? -1 : a > b ? 1 : 0);
}
