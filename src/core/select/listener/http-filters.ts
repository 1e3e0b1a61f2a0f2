// The inputs of a connection manager's HTTP filters: class of traffic, traits of the chain, capabilities and settings
// of the proxy.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildHTTPConnectionManager).

import { isObject } from '../../base/json.ts';
import { configKey } from '../../model/object.ts';
import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { poolsOfParent } from '../../translate/gateway-api/inference-parents.ts';
import { gatewayName } from '../policy/attachment.ts';
import { proxyHeaders } from '../proxy/proxy-config.ts';
import { isWaypointTraffic, reportsAs, type TrafficClass } from '../telemetry/traffic-class.ts';
import { exchangedLabels, overridesAlpn, type PeerDirection, peerDirection } from './istio-filters.ts';

/** The traits of a chain that decide its filters. */
export interface HttpChainTraits {
  readonly traffic: TrafficClass;
  /** The port's protocol is GRPC-Web. */
  readonly grpcWeb: boolean;
  /** Host of a DYNAMIC_DNS service with a wildcard host, else ''. */
  readonly dynamicForwardProxy: string;
  /** The chain is an HTTP proxy, which serves requests for any host: peers outside the mesh get metadata too. */
  readonly httpProxy: boolean;
  /** The port by which extensions fit, as `extensionPort` gives it. */
  readonly extensionPort: number;
  /**
   * Connections came through a tunnel, which says who the peer is; undefined: no. To a service's port: peers do not
   * tell each other who they are.
   */
  readonly tunnelled?: 'no' | 'service' | 'passthrough';
}

export interface HttpFilterChoice {
  /** As `exchangedLabels` gives it. */
  readonly exchangedLabels: string | undefined;
  readonly peerDirection: PeerDirection;
  /** The proxy serves a Gateway with a route to an InferencePool. */
  readonly picksEndpoints: boolean;
  readonly grpcWeb: boolean;
  readonly overridesAlpn: boolean;
  readonly keepsSessions: boolean;
  /** '' for none. */
  readonly dynamicForwardProxy: string;
  /** The router adds no x-envoy headers for debugging. */
  readonly suppressDebugHeaders: boolean;
  /** The annotation of a waypoint asks for headers that tell who the client is. */
  readonly forwardsIdentity: boolean;
}

export function selectHttpFilters(reader: ProxyReader, traits: HttpChainTraits): HttpFilterChoice {
  const client = reportsAs(traits.traffic) === 'CLIENT';
  const debug = reader.derived(proxyHeaders).envoyDebugHeaders as { readonly disabled?: boolean } | undefined;
  return {
    exchangedLabels: traits.tunnelled === 'service' ? undefined : exchangedLabels(reader),
    peerDirection: peerDirection(reader, traits.traffic, traits.httpProxy),
    picksEndpoints: reader.derived(picksEndpoints),
    grpcWeb: traits.grpcWeb,
    overridesAlpn: client && overridesAlpn(reader),
    keepsSessions: client && reader.feature('PILOT_ENABLE_PERSISTENT_SESSION_FILTER'),
    dynamicForwardProxy: traits.dynamicForwardProxy,
    suppressDebugHeaders: debug?.disabled === true,
    forwardsIdentity: isWaypointTraffic(traits.traffic) && forwardsIdentity(reader),
  };
}

const IDENTITY_ANNOTATION = 'ambient.istio.io/xfcc-include-client-identity';

/** The waypoint's annotation asks that workloads learn who the client is. */
export function forwardsIdentity(reader: ProxyReader): boolean {
  const annotations = reader.metadata('ANNOTATIONS');
  const value = isObject(annotations) ? annotations[IDENTITY_ANNOTATION] : undefined;
  return typeof value === 'string' && value.toLowerCase() === 'true';
}

const picksEndpoints: Derivation<boolean> = {
  name: 'select/picksEndpoints',
  run: reader => {
    if (!reader.feature('ENABLE_GATEWAY_API_INFERENCE_EXTENSION')) return false;
    const gateway = reader.derived(gatewayName);
    return gateway !== null && reader.get(poolsOfParent, configKey(reader.facet('namespace'), gateway)).length > 0;
  },
};
