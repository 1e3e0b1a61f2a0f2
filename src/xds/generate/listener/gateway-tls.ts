// The server side of TLS on a gateway: certificates from secrets, files or the mesh (spec-listeners §10.4; Istio core/listener.go
// BuildListenerTLSContext).

import { protocolOf } from '../../../core/model/protocol.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import type { Server, ServerTLSSettings } from '../../../core/schema/istio-types.gen.ts';
import { type TlsChoice, tlsChoice } from '../../../core/select/listener/tls-versions.ts';
import { meshMtls } from '../../../core/select/proxy/proxy-capabilities.ts';
import { saysTrue } from '../../../core/select/proxy/proxy-metadata.ts';
import { providerCluster } from '../../../core/select/telemetry/provider-cluster.ts';
import {
  type CertificateValidationContext,
  type CommonTlsContext,
  type SdsSecretConfig,
  type TlsParameters,
  TlsParameters_TlsProtocol as TlsProtocol,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { compliant } from '../common/compliance.ts';
import {
  AGENT_SDS_CLUSTER,
  CREDENTIAL_SDS_CLUSTER,
  clusterSecret,
  credentialSecret,
  FILE_SDS_CLUSTER,
} from '../common/sds.ts';
import { orNone } from './access-log.ts';
import { SERVER_HTTP, SERVER_HTTP3, serverTcp } from './alpn.ts';
import { type FileCertificates, fileCertificates, quicSocket, tlsSocket, workloadSecrets } from './mesh-tls.ts';

/**
 * Undefined: the proxy cannot serve this. Mesh certificates and certificates in files come from the agent, which a stock Envoy has not;
 * it reads files itself, and what needs the mesh it must not serve.
 */
export function gatewayTlsSocket(reader: ProxyReader, server: Server): TransportSocket | undefined {
  const http = ['HTTPS', 'HTTP'].includes(protocolOf(server.port?.protocol ?? ''));
  return serverTlsSocket(reader, server.tls ?? {}, http);
}

/** As gatewayTlsSocket, for HTTP/3. */
export function gatewayQuicSocket(reader: ProxyReader, server: Server): TransportSocket | undefined {
  return socketOf(reader, server.tls ?? {}, SERVER_HTTP3, true);
}

/** As gatewayTlsSocket; `http`: what is inside of the TLS is HTTP, which matters for mesh certificates only. */
export function serverTlsSocket(
  reader: ProxyReader,
  tls: ServerTLSSettings,
  http: boolean,
): TransportSocket | undefined {
  const alpn = tls.mode === 'ISTIO_MUTUAL' && !http ? serverTcp(reader) : SERVER_HTTP;
  return socketOf(reader, tls, alpn, false);
}

function socketOf(
  reader: ProxyReader,
  tls: ServerTLSSettings,
  alpn: readonly string[],
  quic: boolean,
): TransportSocket | undefined {
  const agent = meshMtls(reader);
  if (!agent && needsMesh(tls)) return undefined;
  const choice = tlsChoice(reader, tls);
  return reader.make(gatewayTls, {
    tls,
    agent,
    alpn,
    quic,
    ...choice,
    ...fileCertificates(reader),
    externalSds: externalSds(reader),
    compliance: reader.feature('COMPLIANCE_POLICY'),
  });
}

/** A socket in the proxy comes first, then the first provider of MeshConfig that is an SDS server. */
function externalSds(reader: ProxyReader): string | undefined {
  if (saysTrue(reader, 'credential')) return CREDENTIAL_SDS_CLUSTER;
  const provider = reader.mesh('extensionProviders').find(({ sds }) => sds !== undefined)?.sds;
  return provider === undefined ? '' : providerCluster(reader, provider.service ?? '', provider.port ?? 0)?.cluster;
}

function needsMesh(tls: ServerTLSSettings): boolean {
  return tls.mode === 'ISTIO_MUTUAL' || credentialNames(tls).some(name => name.startsWith('builtin://'));
}

interface GatewayTlsInputs extends TlsChoice, FileCertificates {
  readonly tls: ServerTLSSettings;
  readonly agent: boolean;
  readonly alpn: readonly string[];
  readonly quic: boolean;
  /** As credentialSecret takes it. */
  readonly externalSds: string | undefined;
  readonly compliance: string;
}

const gatewayTls: Generator<GatewayTlsInputs, TransportSocket> = {
  name: 'listener/gatewayTls',
  run: inputs => {
    const { tls } = inputs;
    const required = tls.mode === 'MUTUAL' || tls.mode === 'ISTIO_MUTUAL';
    const mesh = tls.mode === 'ISTIO_MUTUAL';
    const socket = inputs.quic ? quicSocket : tlsSocket;
    return socket(
      {
        alpnProtocols: inputs.alpn,
        tlsParams: compliant(mesh ? undefined : tlsParameters(inputs), inputs.compliance),
        ...(mesh ? meshContext(inputs) : userContext(inputs, required || tls.mode === 'OPTIONAL_MUTUAL')),
      },
      required,
    );
  },
};

function tlsParameters(choice: TlsChoice): TlsParameters | undefined {
  const minimum = protocolVersion(choice.minVersion);
  const maximum = protocolVersion(choice.maxVersion);
  const ciphers = orNone(choice.ciphers);
  const curves = orNone(choice.curves);
  if ([minimum, maximum, ciphers, curves].every(part => part === undefined)) return undefined;
  return {
    tlsMinimumProtocolVersion: minimum,
    tlsMaximumProtocolVersion: maximum,
    cipherSuites: ciphers,
    ecdhCurves: curves,
  };
}

/** `TLSV1_2` as Envoy spells it. */
function protocolVersion(version: string): TlsParameters['tlsMinimumProtocolVersion'] {
  const name = version.replace('TLSV', 'TLSv');
  return Object.hasOwn(TlsProtocol, name) ? TlsProtocol[name as keyof typeof TlsProtocol] : undefined;
}

function exactNames(tls: ServerTLSSettings): CertificateValidationContext {
  return { matchSubjectAltNames: orNone((tls.subjectAltNames ?? []).map(exact => ({ exact }))) };
}

/** Of certificates in files and of the mesh's: credentials bring a list of revoked ones of their own. */
function validation(tls: ServerTLSSettings): CertificateValidationContext {
  const revoked = tls.caCrl ?? '';
  return { ...exactNames(tls), crl: revoked === '' ? undefined : { filename: revoked } };
}

/** Workload certificates; clients of any trust domain, unless they are named. */
function meshContext(inputs: GatewayTlsInputs): CommonTlsContext {
  const secrets = workloadSecrets(inputs);
  return {
    tlsCertificateSdsSecretConfigs: [secrets.certificate],
    combinedValidationContext: {
      defaultValidationContext: validation(inputs.tls),
      validationContextSdsSecretConfig: secrets.root,
    },
  };
}

function credentialNames(tls: ServerTLSSettings): readonly string[] {
  if (tls.credentialNames !== undefined && tls.credentialNames.length > 0) return tls.credentialNames;
  return tls.credentialName === undefined || tls.credentialName === '' ? [] : [tls.credentialName];
}

function userContext(inputs: GatewayTlsInputs, validates: boolean): CommonTlsContext {
  const names = credentialNames(inputs.tls);
  return names.length > 0 ? credentialContext(inputs, names, validates) : fileContext(inputs, validates);
}

function credentialContext(inputs: GatewayTlsInputs, names: readonly string[], validates: boolean): CommonTlsContext {
  const { tls, externalSds } = inputs;
  const certificates = names.map(name => credentialSecret(name, false, externalSds));
  if (!validates) {
    const named = (tls.subjectAltNames ?? []).length > 0;
    return {
      tlsCertificateSdsSecretConfigs: certificates,
      validationContext: named ? exactNames(tls) : undefined,
    };
  }
  return {
    tlsCertificateSdsSecretConfigs: certificates,
    combinedValidationContext: {
      defaultValidationContext: {
        ...exactNames(tls),
        verifyCertificateSpki: orNone(tls.verifyCertificateSpki ?? []),
        verifyCertificateHash: orNone(tls.verifyCertificateHash ?? []),
      },
      validationContextSdsSecretConfig: authority(tls, names[0]!, externalSds),
    },
  };
}

/** A secret named for the purpose, else the one that goes with the certificate. */
function authority(tls: ServerTLSSettings, name: string, externalSds: string | undefined): SdsSecretConfig {
  const own = tls.caCertCredentialName;
  return own === undefined || own === ''
    ? credentialSecret(name, true, externalSds)
    : credentialSecret(own, false, externalSds);
}

interface CertificateFiles {
  readonly chain: string;
  readonly key: string;
}

function filesOf(tls: ServerTLSSettings): readonly CertificateFiles[] {
  const several = tls.tlsCertificates ?? [];
  const listed = several.length > 0 ? several : [tls];
  return listed.map(files => ({ chain: files.serverCertificate ?? '', key: files.privateKey ?? '' }));
}

function fileContext(inputs: GatewayTlsInputs, validates: boolean): CommonTlsContext {
  const { tls, agent } = inputs;
  const ca = tls.caCertificates ?? (tls.tlsCertificates ?? []).map(files => files.caCertificates).find(file => file);
  const base = validation(tls);
  if (!agent) {
    return {
      tlsCertificates: filesOf(tls).map(({ chain, key }) => ({
        certificateChain: { filename: chain },
        privateKey: { filename: key },
      })),
      validationContext: validates ? { ...base, trustedCa: { filename: ca } } : undefined,
    };
  }
  const source = inputs.fileSource ? FILE_SDS_CLUSTER : AGENT_SDS_CLUSTER;
  return {
    tlsCertificateSdsSecretConfigs: filesOf(tls).map(({ chain, key }) =>
      clusterSecret(`file-cert:${chain}~${key}`, source),
    ),
    combinedValidationContext: validates
      ? {
          defaultValidationContext: base,
          validationContextSdsSecretConfig: clusterSecret(`file-root:${ca ?? ''}`, source),
        }
      : undefined,
  };
}
