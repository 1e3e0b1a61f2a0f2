// ALPN lists that listeners match or offer, in the order in which they are sent (spec-listeners §2.2; Istio core/listener.go,
// pilot/pkg/networking/util/util.go).

import type { ProxyReader } from '../../../core/query/reader.ts';

/** What the mesh's clients say inside mesh mTLS when they speak HTTP. */
export const MESH_HTTP: readonly string[] = ['istio-http/1.0', 'istio-http/1.1', 'istio-h2'];
/** … and when they speak anything else. */
export const MESH_TCP: readonly string[] = ['istio-peer-exchange', 'istio'];
export const MESH_ALL: readonly string[] = ['istio', 'istio-peer-exchange', ...MESH_HTTP];
/** What servers offer on a chain of HTTP. */
export const SERVER_HTTP: readonly string[] = ['h2', 'http/1.1'];
/** … over QUIC. */
export const SERVER_HTTP3: readonly string[] = ['h3'];

const PLAIN: readonly string[] = ['http/1.1', 'h2c'];
const PLAIN_WITH_HTTP10: readonly string[] = ['http/1.0', ...PLAIN];
const SERVER_TCP: readonly string[] = ['istio-peer-exchange', ...SERVER_HTTP];

/** What the HTTP inspector finds in plain text. */
export function plainHttp(reader: ProxyReader): readonly string[] {
  return reader.feature('PILOT_HTTP10') ? PLAIN_WITH_HTTP10 : PLAIN;
}

/** What servers offer on a chain of TCP: also that they exchange metadata. */
export function serverTcp(reader: ProxyReader): readonly string[] {
  const exchanges = reader.feature('PILOT_ENABLE_METADATA_EXCHANGE') && !reader.feature('PILOT_DISABLE_MX_ALPN');
  return exchanges ? SERVER_TCP : SERVER_HTTP;
}
