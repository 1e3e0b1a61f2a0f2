// Settings of the TLS around HBONE tunnels: the workload's certificate, and the trust domains of its peers.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildCommonConnectTLSContext).

import { interning } from '../../query/memo.ts';
import type { Query } from '../../query/reader.ts';
import { trustDomains } from '../policy/trust-domains.ts';
import { type FileCertificates, fileCertificates } from './mesh-tls.ts';

export interface TunnelTlsSettings extends FileCertificates {
  readonly trustDomains: readonly string[];
  readonly compliance: string;
}

export const tunnelTlsSettings: Query<'', TunnelTlsSettings> = {
  name: 'select/tunnelTlsSettings',
  run: reader =>
    reader.make(oneOfEqualSettings, {
      trustDomains: reader.feature('PILOT_SKIP_VALIDATE_TRUST_DOMAIN') ? [] : trustDomains(reader),
      ...fileCertificates(reader),
      compliance: reader.feature('COMPLIANCE_POLICY'),
    }),
};

const oneOfEqualSettings = interning<TunnelTlsSettings>('select/oneOfEqualTunnelTlsSettings');
