// TLS of the servers of a Gateway. Source: Istio pkg/config/validation (validateServerTLSSettings). What Istio only
// warns of, such as hashes that cannot be right, is not refused.

import type { ServerTLSSettings } from '../../../schema/istio-types.gen.ts';
import type { Report } from '../../report.ts';

/** One RSA and one ECDSA certificate. */
const CERTIFICATES_MAX = 2;

export function checkServerTls(tls: ServerTLSSettings | undefined, path: string, report: Report): void {
  if (tls === undefined) return;
  const { mode = 'PASSTHROUGH' } = tls;
  const files = tls.serverCertificate && tls.privateKey ? ['serverCertificate/privateKey'] : [];
  const credentials = tls.credentialName ? ['credentialName'] : [];
  const lists = (['credentialNames', 'tlsCertificates'] as const).filter(field => (tls[field] ?? []).length > 0);
  if (mode === 'ISTIO_MUTUAL') {
    for (const field of ['serverCertificate', 'privateKey', 'caCertificates', 'credentialName'] as const) {
      if (tls[field]) report(`${path}.${field}`, 'has no meaning in mode ISTIO_MUTUAL');
    }
    for (const field of lists) report(`${path}.${field}`, 'has no meaning in mode ISTIO_MUTUAL');
    return;
  }
  for (const field of ['credentialNames', 'tlsCertificates'] as const) {
    const count = tls[field]?.length;
    if (count === 0) report(`${path}.${field}`, 'is empty; leave it out');
    if (count !== undefined && count > CERTIFICATES_MAX) {
      report(`${path}.${field}`, `has ${count} entries; at most ${CERTIFICATES_MAX} are allowed`);
    }
  }
  const sources = [...credentials, ...lists, ...files];
  if (sources.length > 1) report(path, `has several sources of certificates (${sources.join(', ')}); expected one`);
  const terminating = mode === 'SIMPLE' || mode === 'MUTUAL' || mode === 'OPTIONAL_MUTUAL';
  if (terminating && (tls.credentialName || (tls.credentialNames ?? []).length > 0)) return;
  if (terminating) checkCertificates(tls, mode, path, report);
  if (tls.caCrl && tls.credentialName)
    report(`${path}.caCrl`, 'cannot be combined with credentialName, which may have it');
  if (tls.caCrl && mode === 'SIMPLE') report(`${path}.caCrl`, 'has no meaning in mode SIMPLE');
}

function checkCertificates(tls: ServerTLSSettings, mode: string, path: string, report: Report): void {
  const list = tls.tlsCertificates ?? [];
  const needed = `is missing; mode ${mode} needs it, or credentialName`;
  if (list.length === 0) {
    for (const field of ['serverCertificate', 'privateKey'] as const) {
      if (!tls[field]) report(`${path}.${field}`, needed);
    }
  }
  list.forEach((certificate, i) => {
    for (const field of ['serverCertificate', 'privateKey'] as const) {
      if (!certificate[field]) report(`${path}.tlsCertificates[${i}].${field}`, needed);
    }
  });
  if (mode !== 'SIMPLE' && !tls.caCertificates) report(`${path}.caCertificates`, needed);
}
