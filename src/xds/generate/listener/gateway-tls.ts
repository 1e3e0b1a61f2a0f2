// The server side of TLS that users configure, on gateways and on Sidecar ingress listeners: certificates from secrets,
// files or the mesh.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListenerTLSContext),
// pilot/pkg/networking/core/listener.go (BuildListenerTLSContext).

import type { Generator } from '../../../core/query/memo.ts';
import type { ServerTLSSettings } from '../../../core/schema/istio-types.gen.ts';
import { credentialNames, type GatewayTlsInputs } from '../../../core/select/listener/gateway-tls.ts';
import type { TlsChoice } from '../../../core/select/listener/tls-versions.ts';
import {
  type CertificateValidationContext,
  type CommonTlsContext,
  type SdsSecretConfig,
  type TlsParameters,
  TlsParameters_TlsProtocol as TlsProtocol,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { compliant } from '../common/compliance.ts';
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
import { workloadSecrets } from '../common/workload-secrets.ts';
import { quicSocket, tlsSocket } from './mesh-tls.ts';

export const gatewayTls: Generator<GatewayTlsInputs, TransportSocket> = {
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

/** `TLSV1_2` in Envoy's spelling. */
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

function userContext(inputs: GatewayTlsInputs, validates: boolean): CommonTlsContext {
  const names = credentialNames(inputs.tls);
  return names.length > 0 ? credentialContext(inputs, names, validates) : fileContext(inputs, validates);
}

function credentialContext(inputs: GatewayTlsInputs, names: readonly string[], validates: boolean): CommonTlsContext {
  const { tls, externalSds } = inputs;
  const certificates = names.map(name => credentialSecret(name, false, externalSds, inputs.overAds));
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
      validationContextSdsSecretConfig: authority(inputs, names[0]!),
    },
  };
}

/** A secret named for the purpose, else the one that goes with the certificate. */
function authority({ tls, externalSds, overAds }: GatewayTlsInputs, name: string): SdsSecretConfig {
  const own = tls.caCertCredentialName;
  return own === undefined || own === ''
    ? credentialSecret(name, true, externalSds, overAds)
    : credentialSecret(own, false, externalSds, overAds);
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

/** Without an agent, files that are not named are a secret that is never served: the port's other servers go on. */
function fileContext(inputs: GatewayTlsInputs, validates: boolean): CommonTlsContext {
  const { tls, agent } = inputs;
  const ca = tls.caCertificates ?? (tls.tlsCertificates ?? []).map(files => files.caCertificates).find(file => file);
  const base = validation(tls);
  const files = filesOf(tls);
  if (!agent) {
    const validationContext = validates ? { ...base, trustedCa: { filename: ca } } : undefined;
    if (!files.every(isNamed)) return { tlsCertificateSdsSecretConfigs: [NEVER_SERVED], validationContext };
    return {
      tlsCertificates: files.map(({ chain, key }) => ({
        certificateChain: { filename: chain },
        privateKey: { filename: key },
      })),
      validationContext,
    };
  }
  const source = inputs.fileSource ? FILE_SDS_CLUSTER : AGENT_SDS_CLUSTER;
  const root = ca ? clusterSecret(`file-root:${ca}`, source) : workloadSecret(ROOT_SECRET, false);
  return {
    tlsCertificateSdsSecretConfigs: files.map(one =>
      isNamed(one)
        ? clusterSecret(`file-cert:${one.chain}~${one.key}`, source)
        : workloadSecret(WORKLOAD_SECRET, false),
    ),
    combinedValidationContext: validates
      ? { defaultValidationContext: base, validationContextSdsSecretConfig: root }
      : undefined,
  };
}

const NEVER_SERVED = credentialSecret('invalid://', false, undefined);

/** Else the agent serves the certificate of the workload. */
function isNamed({ chain, key }: CertificateFiles): boolean {
  return chain !== '' && key !== '';
}
