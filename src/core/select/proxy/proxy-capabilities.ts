// Capabilities of a proxy, and whether an agent runs beside it.
//
// istio-proxy has Istio's own filters compiled in, and an agent that serves workload certificates through the bootstrap
// cluster `sds-grpc`. A proxy that lists its extensions without Istio's filters is a stock Envoy: it rejects those
// filters, and would wait forever for secrets of an `sds-grpc` that does not exist. A proxy that lists no extensions at
// all is taken for istio-proxy.

import type { ProxyReader } from '../../query/reader.ts';

/**
 * Names under which istio-proxy registers the filters that generated configuration uses (Istio proxy,
 * source/extensions/filters).
 */
const istioExtensions: readonly string[] = [
  'envoy.filters.network.metadata_exchange',
  'envoy.filters.network.upstream.metadata_exchange',
  'envoy.filters.http.peer_metadata',
  'envoy.filters.http.istio_stats',
];

/** True if Istio's filters (metadata exchange, peer metadata, stats, alpn) may be sent to the proxy. */
export function istioFilters(reader: ProxyReader): boolean {
  return istioExtensions.some(name => reader.hasExtension(name));
}

/** True if the proxy can take part in mesh mTLS: it has an agent that delivers its workload certificate. */
export function meshMtls(reader: ProxyReader): boolean {
  return istioFilters(reader);
}

/**
 * Whether proxies tell each other who they are by Istio's metadata exchange filters, and the labels sent besides the
 * usual ones.
 */
export function metadataExchange(reader: ProxyReader): { readonly on: boolean; readonly labels: string } {
  const on = reader.feature('PILOT_ENABLE_METADATA_EXCHANGE') && istioFilters(reader);
  return { on, labels: on ? reader.feature('PILOT_MX_ADDITIONAL_LABELS') : '' };
}
