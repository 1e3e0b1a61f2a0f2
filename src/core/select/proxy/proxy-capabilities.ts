// Capabilities of a proxy, and whether an agent runs beside it.
//
// istio-proxy has Istio's own filters compiled in, and an agent that serves workload certificates through the bootstrap
// cluster `sds-grpc`. A proxy that lists its extensions without Istio's filters is a stock Envoy: it rejects those
// filters, and would wait forever for secrets of an `sds-grpc` that does not exist. A proxy that lists no extensions at
// all is taken for istio-proxy.

import type { Obj } from '../../model/object.ts';
import type { ProxyReader, Reader } from '../../query/reader.ts';

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

/**
 * True if the proxy can take part in mesh mTLS: an agent delivers its workload certificate, or this control plane
 * does.
 */
export function meshMtls(reader: ProxyReader): boolean {
  return istioFilters(reader) || certificatesOverAds(reader);
}

/**
 * Whether proxies tell each other who they are by Istio's metadata exchange filters, and the labels sent besides the
 * usual ones.
 */
export function metadataExchange(reader: ProxyReader): { readonly on: boolean; readonly labels: string } {
  const on = reader.feature('PILOT_ENABLE_METADATA_EXCHANGE') && istioFilters(reader);
  return { on, labels: on ? reader.feature('PILOT_MX_ADDITIONAL_LABELS') : '' };
}

/**
 * True if this control plane delivers the workload certificate: to a stock Envoy whose stream proves its identity,
 * while there is an authority that signs for workloads. On a stream that proves nothing no key is ever sent, so such a
 * proxy stays outside mesh mTLS.
 */
export function certificatesOverAds(reader: ProxyReader): boolean {
  if (istioFilters(reader) || reader.identity() === undefined) return false;
  const authority = meshAuthority(reader);
  return authority !== undefined && authority.spec.mode !== 'registration';
}

/** What the certificate authority of this control plane says of itself; undefined: there is none. */
export function meshAuthority(reader: Reader): Obj<'TrustAnchors'> | undefined {
  return reader.object('TrustAnchors', `${reader.setting('clusterId')}/${AUTHORITY_NAME}`);
}

export const AUTHORITY_NAME = 'istio-ca';
/** Roots of the signers that a registration authority hands requests on to. */
export const REGISTRATION_NAME = 'istio-ra';
/** Roots of the control plane's own certificate where files have it; no workload trusts its peers by them. */
export const SERVING_NAME = 'istiod-serving';
