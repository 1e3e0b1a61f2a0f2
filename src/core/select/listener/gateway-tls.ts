// Inputs of the TLS that users configure on a server: its settings, the mesh's defaults, the source of its
// certificates.
//
// Mesh certificates and certificates in files come from the agent. A stock Envoy has none: it reads files itself, and a
// server that needs the mesh is not served there.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListenerTLSContext), pilot/pkg/model/credentials.

import { protocolOf } from '../../model/protocol.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { Server, ServerTLSSettings } from '../../schema/istio-types.gen.ts';
import { CREDENTIAL_SDS_CLUSTER } from '../cluster/cluster-names.ts';
import { meshMtls } from '../proxy/proxy-capabilities.ts';
import { isTrueText } from '../proxy/proxy-metadata.ts';
import { providerCluster } from '../telemetry/provider-cluster.ts';
import { gatewayTcp, SERVER_HTTP, SERVER_HTTP3 } from './alpn.ts';
import { type FileCertificates, fileCertificates } from './mesh-tls.ts';
import { type TlsChoice, tlsChoice } from './tls-versions.ts';

export interface GatewayTlsInputs extends TlsChoice, FileCertificates {
  readonly tls: ServerTLSSettings;
  /** The proxy has an agent that serves certificates. */
  readonly agent: boolean;
  readonly alpn: readonly string[];
  readonly quic: boolean;
  /**
   * Cluster of an SDS server outside of the mesh; '' without one, undefined if it is configured but cannot be reached.
   */
  readonly externalSds: string | undefined;
  readonly compliance: string;
}

/** TLS of a Gateway's server; `quic`: for HTTP/3. Undefined: the proxy cannot serve it. */
export function selectGatewayTls(reader: ProxyReader, server: Server, quic: boolean): GatewayTlsInputs | undefined {
  const tls = server.tls ?? {};
  if (quic) return selectTls(reader, tls, SERVER_HTTP3, true);
  const http = ['HTTPS', 'HTTP'].includes(protocolOf(server.port?.protocol ?? ''));
  return selectServerTls(reader, tls, http);
}

/** `http`: TLS carries HTTP; matters for mesh certificates only. Undefined: the proxy cannot serve it. */
export function selectServerTls(
  reader: ProxyReader,
  tls: ServerTLSSettings,
  http: boolean,
): GatewayTlsInputs | undefined {
  const alpn = tls.mode === 'ISTIO_MUTUAL' && !http ? gatewayTcp(reader) : SERVER_HTTP;
  return selectTls(reader, tls, alpn, false);
}

function selectTls(
  reader: ProxyReader,
  tls: ServerTLSSettings,
  alpn: readonly string[],
  quic: boolean,
): GatewayTlsInputs | undefined {
  const agent = meshMtls(reader);
  if (!agent && needsMesh(tls)) return undefined;
  return {
    tls,
    agent,
    alpn,
    quic,
    ...tlsChoice(reader, tls),
    ...fileCertificates(reader),
    externalSds: externalSds(reader),
    compliance: reader.feature('COMPLIANCE_POLICY'),
  };
}

/** A socket in the proxy comes first, then the first provider of MeshConfig that is an SDS server. */
function externalSds(reader: ProxyReader): string | undefined {
  if (isTrueText(reader, 'credential')) return CREDENTIAL_SDS_CLUSTER;
  const provider = reader.mesh('extensionProviders').find(({ sds }) => sds !== undefined)?.sds;
  return provider === undefined ? '' : providerCluster(reader, provider.service ?? '', provider.port ?? 0)?.cluster;
}

function needsMesh(tls: ServerTLSSettings): boolean {
  return tls.mode === 'ISTIO_MUTUAL' || credentialNames(tls).some(name => name.startsWith('builtin://'));
}

/** `credentialNames`, else the single `credentialName`. */
export function credentialNames(tls: ServerTLSSettings): readonly string[] {
  if (tls.credentialNames !== undefined && tls.credentialNames.length > 0) return tls.credentialNames;
  return tls.credentialName === undefined || tls.credentialName === '' ? [] : [tls.credentialName];
}
