// Which of Istio's own filters a chain has, by the proxy's capabilities, flags and ProxyConfig.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildHTTPConnectionManager),
// pilot/pkg/xds/filters/filters.go.

import type { ProxyReader } from '../../query/reader.ts';
import { istioFilters, metadataExchange } from '../proxy/proxy-capabilities.ts';
import { proxyHeaders } from '../proxy/proxy-config.ts';
import { ignoresHostHeader, type StatsSpec, stats } from '../telemetry/metrics.ts';
import { isWaypointTraffic, reportsAs, type TrafficClass } from '../telemetry/traffic-class.ts';

/** The labels that metadata exchange sends besides the usual ones; undefined: the proxy exchanges no metadata. */
export function exchangedLabels(reader: ProxyReader): string | undefined {
  const { on, labels } = metadataExchange(reader);
  return on ? labels : undefined;
}

/** Which side of a request the peer metadata filter looks at; `inMesh`: upstream, but only clusters of the mesh. */
export type PeerDirection = 'downstream' | 'upstream' | 'inMesh';

/** `always`: ProxyConfig's IN_MESH mode does not count. */
export function peerDirection(reader: ProxyReader, traffic: TrafficClass, always: boolean): PeerDirection {
  if (reportsAs(traffic) === 'SERVER') return 'downstream';
  if (always) return 'upstream';
  const headers = reader.derived(proxyHeaders).metadataExchangeHeaders as { readonly mode?: string } | undefined;
  return headers?.mode === 'IN_MESH' ? 'inMesh' : 'upstream';
}

export function overridesAlpn(reader: ProxyReader): boolean {
  return istioFilters(reader) && reader.feature('PILOT_ENABLE_ALPN_FILTER');
}

/** Inputs of the `istio.stats` filters of a class of traffic, one for each metrics provider in force. */
export function selectStats(reader: ProxyReader, traffic: TrafficClass): readonly StatsInputs[] {
  if (!istioFilters(reader)) return [];
  const noHostHeader = ignoresHostHeader(traffic);
  const waypoint = isWaypointTraffic(traffic);
  return reader.get(stats, traffic).map(spec => ({ spec, noHostHeader, waypoint }));
}

export interface StatsInputs {
  readonly spec: StatsSpec;
  readonly noHostHeader: boolean;
  readonly waypoint: boolean;
}
