// Settings of the HTTP connection managers of a class of traffic: MeshConfig, flags, ProxyConfig and the proxy's
// metadata.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildHTTPConnectionManager),
// pilot/pkg/networking/util/proxy_headers.go.

import ipaddr from 'ipaddr.js';
import { isObject, type JsonObject } from '../../base/json.ts';
import { compareText } from '../../model/object.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { gatewayTopology, proxyHeaders } from '../proxy/proxy-config.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { tracing } from '../telemetry/tracing.ts';
import { isWaypointTraffic, type TrafficClass } from '../telemetry/traffic-class.ts';
import { forwardsIdentity } from './http-filters.ts';

export interface HcmSettings {
  readonly traffic: TrafficClass;
  /** ProxyConfig.proxyHeaders. */
  readonly headers: JsonObject;
  /** ProxyConfig.gatewayTopology; gateways only. */
  readonly topology: JsonObject | undefined;
  readonly pathNormalization: string;
  readonly useRemoteAddress: boolean;
  /** `prefix/length`, sorted. */
  readonly internalNetworks: readonly string[];
  readonly continue100: boolean;
  readonly http10: boolean;
  readonly idleTimeout: string;
  readonly sampleByRequestId: boolean;
  /** Of a waypoint: the header with the client's identity is passed on. */
  readonly forwardsIdentity: boolean;
}

/** `httpProxy`: of the HTTP proxy port, whose clients are local to the proxy whatever the flag. */
export function selectHcm(reader: ProxyReader, traffic: TrafficClass, httpProxy: boolean): HcmSettings {
  const asFlagged = traffic === 'outbound' && !httpProxy;
  const useRemoteAddress = traffic === 'gateway' || (asFlagged && reader.feature('PILOT_SIDECAR_USE_REMOTE_ADDRESS'));
  const internal = useRemoteAddress || reader.feature('ENABLE_HCM_INTERNAL_NETWORKS');
  return {
    traffic,
    headers: reader.derived(proxyHeaders),
    topology: traffic === 'gateway' ? reader.derived(gatewayTopology) : undefined,
    pathNormalization: normalizationOf(reader),
    useRemoteAddress,
    internalNetworks: internal ? internalNetworks(reader) : [],
    continue100: reader.feature('ENABLE_100_CONTINUE_HEADERS'),
    http10: reader.feature('PILOT_HTTP10') || metadataText(reader, 'HTTP10') === '1',
    idleTimeout: metadataText(reader, 'IDLE_TIMEOUT'),
    forwardsIdentity: isWaypointTraffic(traffic) && forwardsIdentity(reader),
    sampleByRequestId: reader.get(tracing, traffic).useRequestIdForTraceSampling,
  };
}

function normalizationOf(reader: ProxyReader): string {
  const settings = reader.mesh('pathNormalization');
  const value = isObject(settings) ? settings.normalization : undefined;
  return typeof value === 'string' ? value : 'DEFAULT';
}

/** Every `fromCidr` of the mesh's networks: their addresses count as internal. One of two networks is there twice. */
function internalNetworks(reader: ProxyReader): readonly string[] {
  const networks = reader.networks().networks;
  const ranges: string[] = [];
  for (const network of isObject(networks) ? Object.values(networks) : []) {
    const endpoints = isObject(network) && Array.isArray(network.endpoints) ? network.endpoints : [];
    for (const endpoint of endpoints) {
      if (isObject(endpoint) && typeof endpoint.fromCidr === 'string') ranges.push(endpoint.fromCidr);
    }
  }
  return ranges.sort(byAddress);
}

/** By the value of the address, IPv4 first, then by length. */
function byAddress(a: string, b: string): number {
  const [addressA = '', lengthA = HOST_LENGTH] = a.split('/');
  const [addressB = '', lengthB = HOST_LENGTH] = b.split('/');
  return compareText(sortKey(addressA), sortKey(addressB)) || Number(lengthA) - Number(lengthB);
}

/** Of an address without a length: no less than any length of its family. */
const HOST_LENGTH = 128;

function sortKey(address: string): string {
  const bytes = ipaddr.isValid(address) ? ipaddr.parse(address).toByteArray() : [];
  return String.fromCharCode(bytes.length, ...bytes);
}
