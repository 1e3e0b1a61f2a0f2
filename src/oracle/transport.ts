// The transport to a host: the transport socket of the cluster that matches the host's metadata, or the cluster's
// default.

import type { Cluster, Metadata, TransportSocket } from '../xds/proto/types.gen.ts';
import { messageOf, typeIn } from './any.ts';
import type { Host } from './hosts.ts';
import type { Transport } from './prediction.ts';

const MATCH_NAMESPACE = 'envoy.transport_socket_match';

export function transportOf(cluster: Cluster, host: Host | undefined): Transport {
  const labels: Labels = metadataOf(host?.endpoint.metadata) ?? metadataOf(host?.localityMetadata) ?? {};
  const match = (cluster.transportSocketMatches ?? []).find(one =>
    Object.entries(one.match ?? {}).every(([key, value]) => labels[key] === value),
  );
  return socketKind(match === undefined ? cluster.transportSocket : match.transportSocket, match?.name ?? '');
}

type Labels = Readonly<Record<string, unknown>>;

function metadataOf(metadata: Metadata | undefined): Labels | undefined {
  return metadata?.filterMetadata?.[MATCH_NAMESPACE];
}

const PLAINTEXT = { kind: 'plaintext', sni: '', alpn: [], presents: false } as const;
const RAW_BUFFER = /(^|\.)raw_buffer(\.v3\.RawBuffer)?$/;

function socketKind(socket: TransportSocket | undefined, match: string): Transport {
  if (socket === undefined) return { ...PLAINTEXT, match };
  const any = socket.typedConfig;
  const tls = messageOf('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', any);
  if (tls !== undefined) {
    const common = tls.commonTlsContext ?? {};
    const presents =
      (common.tlsCertificates ?? []).length > 0 || (common.tlsCertificateSdsSecretConfigs ?? []).length > 0;
    return { kind: 'tls', match, sni: tls.sni ?? '', alpn: common.alpnProtocols ?? [], presents };
  }
  const inner = innerSocket(any);
  if (inner !== undefined) return socketKind(inner, match);
  if (RAW_BUFFER.test(any === undefined ? (socket.name ?? '') : typeIn(any))) return { ...PLAINTEXT, match };
  return { ...PLAINTEXT, kind: 'unknown', match };
}

/** A wrapping socket only sends a prefix or counts bytes; the inner one decides. */
function innerSocket(any: TransportSocket['typedConfig']): TransportSocket | undefined {
  return (
    messageOf('envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport', any) ??
    messageOf('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport', any)
  )?.transportSocket;
}
