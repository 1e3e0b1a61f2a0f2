// The server side of mesh mTLS: the workload's certificate from its agent, clients verified by trust domain.
// Source: Istio pilot/pkg/security/authn/utils/utils.go (BuildInboundTLS), pilot/pkg/security/model/authentication.go
// (ApplyToCommonTLSContext).

import type { Generator } from '../../../core/query/memo.ts';
import type { MeshTlsSettings } from '../../../core/select/listener/mesh-tls.ts';

import { any } from '../../proto/any.ts';
import {
  type CertificateValidationContext,
  type CommonTlsContext,
  TlsParameters_TlsProtocol as TlsProtocol,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { compliant } from '../common/compliance.ts';
import { workloadSecrets } from '../common/workload-secrets.ts';

export interface MeshTlsInputs {
  readonly alpn: readonly string[];
  readonly settings: MeshTlsSettings;
}

export const meshTls: Generator<MeshTlsInputs, TransportSocket> = {
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
