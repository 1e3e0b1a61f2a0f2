// ALPN lists that filter chains match or servers offer, in the order in which they are sent.
// Source: Istio pilot/pkg/networking/util/util.go (ALPNInMesh, ALPNHttp …), pilot/pkg/networking/core/listener.go.

import type { ProxyReader } from '../../query/reader.ts';
import { istioFilters } from '../proxy/proxy-capabilities.ts';

/** Sent by clients of the mesh with HTTP inside mesh mTLS. */
export const MESH_HTTP: readonly string[] = ['istio-http/1.0', 'istio-http/1.1', 'istio-h2'];
/** Sent by clients of the mesh with another protocol inside mesh mTLS. */
export const MESH_TCP: readonly string[] = ['istio-peer-exchange', 'istio'];
export const MESH_ALL: readonly string[] = ['istio', 'istio-peer-exchange', ...MESH_HTTP];
/** Offered by servers on HTTP chains. */
export const SERVER_HTTP: readonly string[] = ['h2', 'http/1.1'];
/** Offered by servers over QUIC. */
export const SERVER_HTTP3: readonly string[] = ['h3'];

const PLAIN: readonly string[] = ['http/1.1', 'h2c'];
const PLAIN_WITH_HTTP10: readonly string[] = ['http/1.0', ...PLAIN];
const SERVER_TCP: readonly string[] = ['istio-peer-exchange', ...SERVER_HTTP];

/** The protocols that the HTTP inspector finds in plain text. */
export function plainHttp(reader: ProxyReader): readonly string[] {
  return reader.feature('PILOT_HTTP10') ? PLAIN_WITH_HTTP10 : PLAIN;
}

/** Offered by servers on TCP chains: metadata exchange first, unless it is off. */
export function serverTcp(reader: ProxyReader): readonly string[] {
  return reader.feature('PILOT_ENABLE_METADATA_EXCHANGE') ? gatewayTcp(reader) : SERVER_HTTP;
}

/** As `serverTcp`, on gateways, for which one flag of the two does not count. */
export function gatewayTcp(reader: ProxyReader): readonly string[] {
  // Who offers it must exchange metadata, which a stock Envoy cannot.
  return !reader.feature('PILOT_DISABLE_MX_ALPN') && istioFilters(reader) ? SERVER_TCP : SERVER_HTTP;
}
