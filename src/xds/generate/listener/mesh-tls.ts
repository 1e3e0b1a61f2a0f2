// The server side of mesh mTLS (spec-listeners §5; Istio pilot/pkg/security/authn/utils/utils.go, pilot/pkg/security/model/authentication.go).

import { isObject } from '../../../core/base/json.ts';
import { type Generator, interning } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { trustDomains } from '../../../core/select/policy/trust-domains.ts';
import { metadataText } from '../../../core/select/proxy/proxy-config.ts';
import { saysTrue } from '../../../core/select/proxy/proxy-metadata.ts';
import { any } from '../../proto/any.ts';
import {
  type CertificateValidationContext,
  type CommonTlsContext,
  type SdsSecretConfig,
  TlsParameters_TlsProtocol as TlsProtocol,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { compliant } from '../common/compliance.ts';
import {
  AGENT_SDS_CLUSTER,
  clusterSecret,
  FILE_SDS_CLUSTER,
  ROOT_SECRET,
  WORKLOAD_SECRET,
  workloadSecret,
} from '../common/sds.ts';
import { SERVER_HTTP, serverTcp } from './alpn.ts';

const defaultCiphers: readonly string[] = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
];

/** Argument: what the chain carries. */
export const meshTlsSocket: Query<'http' | 'tcp', TransportSocket> = {
  name: 'generate/meshTlsSocket',
  run: (reader, carries) => {
    const alpn = carries === 'http' ? SERVER_HTTP : serverTcp(reader);
    return reader.make(meshTls, { alpn, settings: reader.get(meshTlsSettings, '') });
  },
};

/** What does not depend on what is carried. */
interface MeshTlsSettings extends FileCertificates {
  readonly tls13: boolean;
  readonly ciphers: readonly string[];
  readonly trustDomains: readonly string[];
  readonly compliance: string;
}

const meshTlsSettings: Query<'', MeshTlsSettings> = {
  name: 'generate/meshTlsSettings',
  run: reader => {
    const settings = reader.mesh('meshMTLS') as unknown;
    const mesh = isObject(settings as never) ? (settings as Readonly<Record<string, unknown>>) : {};
    const ciphers = mesh.cipherSuites;
    return reader.make(oneOfEqualSettings, {
      tls13: mesh.minProtocolVersion === 'TLSV1_3',
      ciphers: Array.isArray(ciphers) && ciphers.length > 0 ? (ciphers as readonly string[]) : defaultCiphers,
      trustDomains: reader.feature('PILOT_SKIP_VALIDATE_TRUST_DOMAIN') ? [] : trustDomains(reader),
      ...fileCertificates(reader),
      compliance: reader.feature('COMPLIANCE_POLICY'),
    });
  },
};

/** Workload certificates in files that the proxy announced; SDS names of the agent, '' for its usual ones. */
export interface FileCertificates {
  readonly certificate: string;
  readonly root: string;
  readonly fileSource: boolean;
}

export function fileCertificates(reader: ProxyReader): FileCertificates {
  const chain = metadataText(reader, 'TLS_SERVER_CERT_CHAIN');
  const key = metadataText(reader, 'TLS_SERVER_KEY');
  const root = metadataText(reader, 'TLS_SERVER_ROOT_CERT');
  return {
    certificate: chain === '' || key === '' ? '' : `file-cert:${chain}~${key}`,
    root: root === '' ? '' : `file-root:${root}`,
    fileSource: saysTrue(reader, 'file-credential'),
  };
}

/** The workload's own certificate and the roots that it trusts, as secrets. */
export function workloadSecrets(files: FileCertificates): {
  readonly certificate: SdsSecretConfig;
  readonly root: SdsSecretConfig;
} {
  const source = files.fileSource ? FILE_SDS_CLUSTER : AGENT_SDS_CLUSTER;
  return {
    certificate: files.certificate === '' ? workloadSecret(WORKLOAD_SECRET) : clusterSecret(files.certificate, source),
    root: files.root === '' ? workloadSecret(ROOT_SECRET) : clusterSecret(files.root, source),
  };
}

const oneOfEqualSettings = interning<MeshTlsSettings>('listener/oneOfEqualMeshTlsSettings');

interface MeshTlsInputs {
  readonly alpn: readonly string[];
  readonly settings: MeshTlsSettings;
}

const meshTls: Generator<MeshTlsInputs, TransportSocket> = {
  name: 'listener/meshTls',
  run: ({ alpn, settings }) => {
    const secrets = workloadSecrets(settings);
    const validation: CertificateValidationContext = {
      matchSubjectAltNames: settings.trustDomains.map(domain => ({ prefix: `spiffe://${domain}/` })),
    };
    return tlsSocket(
      {
        alpnProtocols: alpn,
        tlsParams: compliant(
          {
            tlsMinimumProtocolVersion: settings.tls13 ? TlsProtocol.TLSv1_3 : TlsProtocol.TLSv1_2,
            tlsMaximumProtocolVersion: TlsProtocol.TLSv1_3,
            cipherSuites: settings.ciphers,
          },
          settings.compliance,
        ),
        tlsCertificateSdsSecretConfigs: [secrets.certificate],
        combinedValidationContext: {
          defaultValidationContext: validation,
          validationContextSdsSecretConfig: secrets.root,
        },
      },
      true,
    );
  },
};

export function tlsSocket(commonTlsContext: CommonTlsContext, requireClientCertificate: boolean): TransportSocket {
  return {
    name: 'envoy.transport_sockets.tls',
    typedConfig: any('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', {
      commonTlsContext,
      requireClientCertificate: { value: requireClientCertificate },
    }),
  };
}

export function quicSocket(commonTlsContext: CommonTlsContext, requireClientCertificate: boolean): TransportSocket {
  return {
    name: 'envoy.transport_sockets.quic',
    typedConfig: any('envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport', {
      downstreamTlsContext: { commonTlsContext, requireClientCertificate: { value: requireClientCertificate } },
    }),
  };
}
