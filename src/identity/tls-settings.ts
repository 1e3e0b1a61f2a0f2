// What the secure ports speak: versions, suites and curves by istiod's flags and by COMPLIANCE_POLICY, which counts
// more than they do.
// Source: Istio pilot/cmd/pilot-discovery/app/cmd.go, pilot/pkg/bootstrap/options.go (TLSCipherSuites),
// pkg/model/fips.go, pkg/security compliance.

export interface SecureTls {
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  readonly maxVersion?: 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's names, colon-separated. */
  readonly ciphers?: string;
  readonly curves?: string;
}

/** Go's names of what both Go and OpenSSL have. */
const suites: Readonly<Record<string, string>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};
/** Those of TLS 1.3 are always on. */
const always: readonly string[] = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

const FIPS_SUITES =
  'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384';

/** Throws with the flag that is of no use. */
export function secureTls(minVersion: string, cipherSuites: string, compliance: string): SecureTls {
  if (minVersion !== '1.2' && minVersion !== '1.3') {
    throw new Error(`--tls-min-version ${minVersion}: expected 1.2 or 1.3`);
  }
  if (compliance === 'fips-140-2') {
    return { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: FIPS_SUITES, curves: 'P-256' };
  }
  if (compliance === 'pqc') {
    return {
      minVersion: 'TLSv1.3',
      ciphers: 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384',
      curves: 'X25519MLKEM768',
    };
  }
  const version = minVersion === '1.3' ? 'TLSv1.3' : 'TLSv1.2';
  const names = cipherSuites
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
  const unknown = names.filter(name => !Object.hasOwn(suites, name) && !always.includes(name));
  if (unknown.length > 0) throw new Error(`--tls-cipher-suites: unknown ${unknown.join(', ')}`);
  if (names.length === 0) return { minVersion: version };
  const chosen = names.map(name => suites[name]).filter(name => name !== undefined);
  return { minVersion: version, ciphers: [...always, ...chosen].join(':') };
}
