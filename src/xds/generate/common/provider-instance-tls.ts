// TLS for proxyless gRPC: certificates come from the provider `default` of the program's own bootstrap, which reads
// files that an agent renews. No key and no certificate is sent.
// Source: Istio pilot/pkg/networking/grpcgen/grpcgen.go (buildCommonTLSContext).

import type { CommonTlsContext, CommonTlsContext_CertificateProviderInstance } from '../../proto/types.gen.ts';

export const TLS_SOCKET = 'envoy.transport_sockets.tls';

const certificate: CommonTlsContext_CertificateProviderInstance = {
  instanceName: 'default',
  certificateName: 'default',
};
const roots: CommonTlsContext_CertificateProviderInstance = { instanceName: 'default', certificateName: 'ROOTCA' };

/**
 * `identities`: those of which the peer's certificate must prove one; empty: any that the roots vouch for, and always
 * so on servers, where gRPC refuses a list. Each instance is written twice, because older gRPC reads the deprecated
 * field only.
 */
export function providerInstanceTls(identities: readonly string[]): CommonTlsContext {
  return {
    tlsCertificateProviderInstance: certificate,
    tlsCertificateCertificateProviderInstance: certificate,
    combinedValidationContext: {
      defaultValidationContext: {
        caCertificateProviderInstance: roots,
        ...(identities.length === 0 ? {} : { matchSubjectAltNames: identities.map(exact => ({ exact })) }),
      },
      validationContextCertificateProviderInstance: roots,
    },
  };
}
