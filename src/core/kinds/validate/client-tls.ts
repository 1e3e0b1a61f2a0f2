// TLS towards an upstream. Source: Istio pkg/config/validation/agent (ValidateTLS).

import type { ClientTLSSettings } from '../../schema/istio-types.gen.ts';
import type { Report } from '../report.ts';

export function checkClientTls(tls: ClientTLSSettings | undefined, path: string, report: Report): void {
  if (tls === undefined) return;
  const { mode = 'DISABLE' } = tls;
  if (mode !== 'SIMPLE' && mode !== 'MUTUAL') return;
  if (tls.insecureSkipVerify) checkUnverified(tls, mode, path, report);
  if (tls.credentialName) {
    for (const field of ['clientCertificate', 'caCertificates', 'privateKey', 'caCrl'] as const) {
      if (tls[field]) report(`${path}.${field}`, 'cannot stand beside credentialName, which has it');
    }
    return;
  }
  if (mode === 'MUTUAL') {
    for (const field of ['clientCertificate', 'privateKey'] as const) {
      if (!tls[field]) report(`${path}.${field}`, 'is missing; mode MUTUAL needs it, or credentialName');
    }
  }
}

function checkUnverified(tls: ClientTLSSettings, mode: 'SIMPLE' | 'MUTUAL', path: string, report: Report): void {
  const why = 'has no meaning with insecureSkipVerify';
  if (tls.caCertificates) report(`${path}.caCertificates`, why);
  if ((tls.subjectAltNames ?? []).length > 0) report(`${path}.subjectAltNames`, why);
  if (mode === 'SIMPLE' && tls.credentialName) report(`${path}.credentialName`, why);
}
