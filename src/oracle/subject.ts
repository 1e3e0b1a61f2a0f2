// The input of policies: the peer's identity, source and destination addresses, the request, and the metadata of
// earlier filters.
//
// The peer's names are those of the certificate that a chain with a validation context asks for. The address behind
// proxies is taken from x-forwarded-for under the connection manager's trust settings (Envoy's
// Http::ConnectionManagerUtility::mutateRequestHeaders).

import type { FilterChain, HttpConnectionManager } from '../xds/proto/types.gen.ts';
import { canonical, type Socket } from './address.ts';
import { messageOf } from './any.ts';
import type { Headers } from './header-matcher.ts';
import type { Connection } from './question.ts';

/** Dynamic metadata by the name of the filter that wrote it. */
export type DynamicMetadata = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

export interface Subject {
  /** The name in the peer's certificate, '' without one; undefined: the connection is not TLS that the chain ends. */
  readonly peer: string | undefined;
  /** The other end of the connection. */
  readonly direct: string;
  /** The client behind trusted proxies; equal to `direct` outside of HTTP. */
  readonly remote: string;
  readonly local: Socket;
  readonly serverName: string;
  /** Undefined outside of HTTP. */
  readonly headers: Headers | undefined;
  readonly metadata: DynamicMetadata;
}

/** The peer as this chain knows it. */
export function peerOf(chain: FilterChain, { tls }: Connection): string | undefined {
  const context = messageOf(
    'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
    chain.transportSocket?.typedConfig,
  );
  if (context === undefined || tls === undefined) return undefined;
  const common = context.commonTlsContext ?? {};
  const asks =
    common.validationContext !== undefined ||
    common.validationContextSdsSecretConfig !== undefined ||
    common.combinedValidationContext !== undefined ||
    context.requireClientCertificate?.value === true;
  return asks ? (tls.certificate ?? '') : '';
}

/** The client's address as the connection manager sees it. */
export function remoteOf(hcm: HttpConnectionManager, direct: string, headers: Headers): string {
  const listed = (headers.get('x-forwarded-for') ?? '').split(',').map(text => text.trim());
  const hops = hcm.xffNumTrustedHops ?? 0;
  const atEdge = hcm.useRemoteAddress?.value === true;
  if (atEdge && hops === 0) return direct;
  const found = listed.at(atEdge ? -hops : -1 - hops);
  return found === undefined ? direct : (canonical(found) ?? direct);
}

/** `added` joins what the filter wrote before; equal keys are replaced. */
export function withMetadata(
  metadata: DynamicMetadata,
  filter: string,
  added: Readonly<Record<string, unknown>>,
): DynamicMetadata {
  return new Map(metadata).set(filter, { ...metadata.get(filter), ...added });
}
