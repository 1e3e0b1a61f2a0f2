// The TLS around HBONE tunnels, of both sides: HTTP/2 over TLS 1.3 with the workload's certificate; peers are verified
// by their SPIFFE id.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildCommonConnectTLSContext).

import type { TunnelTlsSettings } from '../../../core/select/listener/tunnel-tls.ts';
import {
  type CommonTlsContext,
  type SubjectAltNameMatcher,
  SubjectAltNameMatcher_SanType,
  TlsParameters_TlsProtocol as TlsProtocol,
} from '../../proto/types.gen.ts';
import { compliant } from './compliance.ts';
import { orNone } from './or-none.ts';
import { workloadSecrets } from './workload-secrets.ts';

/** `morePeers`: prefixes of SPIFFE ids that are accepted beside those of the trust domains. */
export function tunnelTls(settings: TunnelTlsSettings, morePeers: readonly string[] = []): CommonTlsContext {
  const secrets = workloadSecrets(settings);
  const prefixes = [...settings.trustDomains.map(domain => `spiffe://${domain}/`), ...morePeers];
  return {
    alpnProtocols: ['h2'],
    tlsParams: compliant(
      { tlsMinimumProtocolVersion: TlsProtocol.TLSv1_3, tlsMaximumProtocolVersion: TlsProtocol.TLSv1_3 },
      settings.compliance,
    ),
    tlsCertificateSdsSecretConfigs: [secrets.certificate],
    combinedValidationContext: {
      defaultValidationContext: { matchTypedSubjectAltNames: orNone(prefixes.map(peerPrefix)) },
      validationContextSdsSecretConfig: secrets.root,
    },
  };
}

function peerPrefix(prefix: string): SubjectAltNameMatcher {
  return { sanType: SubjectAltNameMatcher_SanType.URI, matcher: { prefix } };
}
