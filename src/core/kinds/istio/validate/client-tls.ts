// TLS towards an upstream. Source: Istio pkg/config/validation/agent (ValidateTLS).

import type { ClientTLSSettings } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';

const CONFIG_MAP = 'configmap://';

/** `namespace` is that of the object; '' for settings of the mesh. */
export function checkClientTls(
  tls: ClientTLSSettings | undefined,
  namespace: string,
  path: string,
  report: Report,
): void {
  if (tls === undefined) return;
  const { mode = 'DISABLE' } = tls;
  checkConfigMap(tls.credentialName ?? '', namespace, `${path}.credentialName`, report);
  if (mode !== 'SIMPLE' && mode !== 'MUTUAL') return;
  if (tls.insecureSkipVerify) checkUnverified(tls, mode, path, report);
  if (tls.credentialName) {
    for (const field of ['clientCertificate', 'caCertificates', 'privateKey', 'caCrl'] as const) {
      if (tls[field]) report(`${path}.${field}`, 'cannot be combined with credentialName, which has it');
    }
    return;
  }
  if (mode === 'MUTUAL') {
    for (const field of ['clientCertificate', 'privateKey'] as const) {
      if (!tls[field]) report(`${path}.${field}`, 'is missing; mode MUTUAL needs it, or credentialName');
    }
  }
}

/** A ConfigMap is named with its namespace, which has to be that of the object. */
function checkConfigMap(credentialName: string, namespace: string, path: string, report: Report): void {
  if (!credentialName.startsWith(CONFIG_MAP)) return;
  const [owner = '', name = ''] = credentialName.slice(CONFIG_MAP.length).split('/');
  if (owner === '' || name === '') {
    report(path, `${quoted(credentialName)} does not name a ConfigMap: expected ${CONFIG_MAP}namespace/name`);
  } else if (owner !== namespace) {
    report(path, `${quoted(owner)} is another namespace: expected a ConfigMap of ${quoted(namespace)}`);
  }
}

function checkUnverified(tls: ClientTLSSettings, mode: 'SIMPLE' | 'MUTUAL', path: string, report: Report): void {
  const why = 'has no meaning with insecureSkipVerify';
  if (tls.caCertificates) report(`${path}.caCertificates`, why);
  if ((tls.subjectAltNames ?? []).length > 0) report(`${path}.subjectAltNames`, why);
  if (mode === 'SIMPLE' && tls.credentialName) report(`${path}.credentialName`, why);
}
