// The transport socket of a cluster: mesh mTLS with the workload certificate, or TLS that a rule asks for.
// Source: Istio pilot/pkg/networking/core/cluster_tls.go.

import type { Generator } from '../../../core/query/memo.ts';
import type { TrafficPolicy_ProxyProtocol } from '../../../core/schema/istio-types.gen.ts';
import { CREDENTIAL_SDS_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import type { UpstreamTlsInputs } from '../../../core/select/cluster/upstream-tls.ts';
import { any, type TypedAny, typeUrl } from '../../proto/any.ts';
import {
  type CertificateValidationContext,
  type Cluster_TransportSocketMatch,
  type CommonTlsContext,
  ProxyProtocolConfig_Version,
  type StringMatcher,
  type TlsParameters,
  TlsParameters_TlsProtocol,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { compliant } from '../common/compliance.ts';
import { allMetadata, internalSocket, rawBuffer } from '../common/internal-upstream.ts';
import { lastOf } from '../common/last.ts';
import { orNone } from '../common/or-none.ts';
import {
  AGENT_SDS_CLUSTER,
  clusterSecret,
  credentialSecret,
  FILE_SDS_CLUSTER,
  ROOT_SECRET,
  WORKLOAD_SECRET,
  workloadSecret,
} from '../common/sds.ts';

type SocketMatch = Cluster_TransportSocketMatch & { readonly transportSocket: TransportSocket };

/** At most one of the two is set. */
export interface UpstreamSockets {
  readonly socket?: TransportSocket;
  /** `socket` is mesh mTLS. */
  readonly mesh?: boolean;
  readonly matches?: readonly SocketMatch[];
}

const UPSTREAM_TLS = typeUrl('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext');
const RAW_BUFFER = 'envoy.transport_sockets.raw_buffer';
/** Where Envoy without an agent finds the roots of the system. */
const SYSTEM_ROOTS_FILE = '/etc/ssl/certs/ca-certificates.crt';
const SYSTEM_ROOTS = 'system';

const MESH_MATCH = 'tlsMode-istio';
/** As endpoints say it of themselves. */
const meshEndpoints = { tlsMode: 'istio' };
const plaintextMatch: SocketMatch = {
  name: 'tlsMode-disabled',
  match: {},
  transportSocket: rawBuffer(RAW_BUFFER),
};

export const upstreamTls: Generator<UpstreamTlsInputs, UpstreamSockets> = {
  name: 'cluster/upstreamTls',
  run: inputs => {
    const common = inputs.mode === 'ISTIO_MUTUAL' ? meshContext(inputs) : originatedContext(inputs);
    const context: TypedAny<'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext'> = {
      '@type': UPSTREAM_TLS,
      commonTlsContext: common,
      sni: inputs.sni === '' ? undefined : inputs.sni,
    };
    const socket: TransportSocket = { name: 'envoy.transport_sockets.tls', typedConfig: context };
    if (!inputs.conditional) return { socket, mesh: inputs.mode === 'ISTIO_MUTUAL' };
    return {
      matches: [{ name: MESH_MATCH, match: meshEndpoints, transportSocket: socket }, plaintextMatch],
    };
  },
};

/** As `lb-endpoint.ts` says it of endpoints that are reached through a tunnel. */
const tunnelledEndpoints = { tunnel: 'http' };

function tunnelMatch(inner: TransportSocket): SocketMatch {
  const transportSocket = internalSocket('envoy.transport_sockets.internal_upstream', inner, allMetadata);
  return { name: 'hbone', match: tunnelledEndpoints, transportSocket };
}

const plainTunnel = tunnelMatch(rawBuffer(RAW_BUFFER));

/**
 * Endpoints that take HBONE tunnels are reached through one, others as before. A tunnel stands in for mesh mTLS; TLS
 * that a rule asks for is carried inside of it.
 * Source: Istio pilot/pkg/networking/core/cluster_tls.go (applyHBONETransportSocketMatches).
 */
export function withTunnels({ socket, mesh, matches }: UpstreamSockets): UpstreamSockets {
  if (matches !== undefined) return { matches: [plainTunnel, ...matches] };
  if (socket === undefined) return { matches: [plainTunnel, plaintextMatch] };
  if (mesh === true) return { matches: [plainTunnel, { name: MESH_MATCH, transportSocket: socket }] };
  return { matches: [tunnelMatch(socket), { name: 'user', transportSocket: socket }] };
}

/** Each socket first sends the client's address in the PROXY protocol. */
export function withProxyProtocol(sockets: UpstreamSockets, settings: TrafficPolicy_ProxyProtocol): UpstreamSockets {
  const wrap = (inner: TransportSocket): TransportSocket => ({
    name: 'envoy.transport_sockets.upstream_proxy_protocol',
    typedConfig: any('envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport', {
      config: { version: settings.version === 'V2' ? ProxyProtocolConfig_Version.V2 : ProxyProtocolConfig_Version.V1 },
      transportSocket: inner,
    }),
  });
  if (sockets.matches !== undefined) {
    return { matches: sockets.matches.map(match => ({ ...match, transportSocket: wrap(match.transportSocket) })) };
  }
  return { socket: wrap(sockets.socket ?? rawBuffer('raw_buffer')) };
}

function meshContext(inputs: UpstreamTlsInputs): CommonTlsContext {
  const { peerExchange, http2, cipherSuites, ecdhCurves, compliance, subjectAltNames, overAds } = inputs;
  const accounts = subjectAltNames.length === 0 ? noNames : subjectAltNames;
  return commonMeshContext(peerExchange, http2, accounts, cipherSuites, ecdhCurves, compliance, overAds);
}

const noNames: readonly string[] = [];

/** Shared by all services with equal TLS settings. */
const commonMeshContext = lastOf(
  (
    peerExchange: boolean,
    http2: boolean,
    subjectAltNames: readonly string[],
    cipherSuites: readonly string[],
    ecdhCurves: readonly string[],
    compliance: string,
    overAds: boolean,
  ): CommonTlsContext => ({
    tlsParams: tlsParameters({ cipherSuites, ecdhCurves, compliance }),
    alpnProtocols: [...(peerExchange ? ['istio-peer-exchange'] : []), 'istio', ...(http2 ? ['h2'] : [])],
    tlsCertificateSdsSecretConfigs: [workloadSecret(WORKLOAD_SECRET, overAds)],
    combinedValidationContext: {
      defaultValidationContext: names(subjectAltNames),
      validationContextSdsSecretConfig: workloadSecret(ROOT_SECRET, overAds),
    },
  }),
);

function originatedContext(inputs: UpstreamTlsInputs): CommonTlsContext {
  const base: CommonTlsContext = {
    tlsParams: tlsParameters(inputs),
    ...(inputs.http2 ? { alpnProtocols: ['h2'] } : {}),
  };
  if (inputs.credentialName !== '') return { ...base, ...fromCredential(inputs) };
  return { ...base, ...(inputs.fileCertificates === 'direct' ? fromFilesDirectly(inputs) : fromFiles(inputs)) };
}

function fromCredential(inputs: UpstreamTlsInputs): CommonTlsContext {
  const { credentialName } = inputs;
  const external = inputs.credentialSocket ? CREDENTIAL_SDS_CLUSTER : '';
  const certificate = credentialSecret(credentialName, false, external);
  return {
    ...(inputs.mode === 'MUTUAL' ? { tlsCertificateSdsSecretConfigs: [certificate] } : {}),
    ...(inputs.skipVerify
      ? {}
      : {
          combinedValidationContext: {
            defaultValidationContext: validation(inputs),
            validationContextSdsSecretConfig: credentialSecret(credentialName, true, external),
          },
        }),
  };
}

/** Through an SDS server that reads the files and watches them. */
function fromFiles(inputs: UpstreamTlsInputs): CommonTlsContext {
  const cluster = inputs.fileCertificates === 'sds-files-grpc' ? FILE_SDS_CLUSTER : AGENT_SDS_CLUSTER;
  const roots = inputs.caCertificates === '' ? SYSTEM_ROOTS : inputs.caCertificates;
  const certificate = clusterSecret(`file-cert:${inputs.clientCertificate}~${inputs.privateKey}`, cluster);
  return {
    ...(inputs.mode === 'MUTUAL' ? { tlsCertificateSdsSecretConfigs: [certificate] } : {}),
    ...(inputs.skipVerify
      ? { validationContext: {} }
      : {
          combinedValidationContext: {
            defaultValidationContext: validation(inputs),
            validationContextSdsSecretConfig: clusterSecret(`file-root:${roots}`, cluster),
          },
        }),
  };
}

/** A proxy without an agent reads the files itself; otherwise it would wait for secrets that no server provides. */
function fromFilesDirectly(inputs: UpstreamTlsInputs): CommonTlsContext {
  const { caCertificates } = inputs;
  const roots = caCertificates === '' || caCertificates === SYSTEM_ROOTS ? SYSTEM_ROOTS_FILE : caCertificates;
  return {
    ...(inputs.mode === 'MUTUAL'
      ? {
          tlsCertificates: [
            { certificateChain: { filename: inputs.clientCertificate }, privateKey: { filename: inputs.privateKey } },
          ],
        }
      : {}),
    validationContext: inputs.skipVerify ? {} : { trustedCa: { filename: roots }, ...validation(inputs) },
  };
}

function validation(inputs: UpstreamTlsInputs): CertificateValidationContext {
  return { ...names(inputs.subjectAltNames), ...(inputs.caCrl === '' ? {} : { crl: { filename: inputs.caCrl } }) };
}

function names(subjectAltNames: readonly string[]): CertificateValidationContext {
  if (subjectAltNames.length === 0) return {};
  return { matchSubjectAltNames: subjectAltNames.map((exact): StringMatcher => ({ exact })) };
}

function tlsParameters(
  inputs: Pick<UpstreamTlsInputs, 'cipherSuites' | 'ecdhCurves' | 'compliance'>,
): TlsParameters | undefined {
  const parameters: TlsParameters = {
    tlsMinimumProtocolVersion: TlsParameters_TlsProtocol.TLSv1_2,
    tlsMaximumProtocolVersion: TlsParameters_TlsProtocol.TLSv1_3,
    cipherSuites: orNone(inputs.cipherSuites),
    ecdhCurves: orNone(inputs.ecdhCurves),
  };
  return compliant(parameters, inputs.compliance);
}
