// The operator's restrictions on every TLS context (COMPLIANCE_POLICY); they take precedence over rules. Applied last.
// Source: Istio pkg/model/fips.go (EnforceCompliance).

import { type TlsParameters, TlsParameters_TlsProtocol as TlsProtocol } from '../../proto/types.gen.ts';

const approvedCiphers: readonly string[] = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];
/** Key agreement that a quantum computer does not break. */
const POST_QUANTUM_CURVE = 'X25519MLKEM768';

/** `policy`: the value of COMPLIANCE_POLICY. An unknown one restricts nothing. */
export function compliant(parameters: TlsParameters | undefined, policy: string): TlsParameters | undefined {
  if (policy === 'fips-140-2') {
    const { ecdhCurves: _curves, cipherSuites = [], ...rest } = parameters ?? {};
    const ciphers = cipherSuites.filter(cipher => approvedCiphers.includes(cipher));
    return {
      ...rest,
      tlsMinimumProtocolVersion: TlsProtocol.TLSv1_2,
      tlsMaximumProtocolVersion: TlsProtocol.TLSv1_2,
      ...(ciphers.length === 0 ? {} : { cipherSuites: ciphers }),
    };
  }
  if (policy !== 'pqc') return parameters;
  return {
    ...parameters,
    tlsMinimumProtocolVersion: TlsProtocol.TLSv1_3,
    cipherSuites: approvedCiphers,
    ecdhCurves: [POST_QUANTUM_CURVE],
  };
}
