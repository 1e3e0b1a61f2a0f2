// TLS settings of servers that users choose: versions and cipher suites.
// Source: Istio pilot/pkg/networking/core/listener.go, pkg/config/security/security.go (IsValidCipherSuite).

import type { Reader } from '../../query/reader.ts';
import type { ServerTLSSettings } from '../../schema/istio-types.gen.ts';

export interface TlsChoice {
  /** As in Istio's API, e.g. `TLSV1_2`; '' leaves it to the proxy. */
  readonly minVersion: string;
  readonly maxVersion: string;
  readonly ciphers: readonly string[];
  readonly curves: readonly string[];
}

/** Suites that Envoy's TLS library knows by these names; others would make it refuse the whole listener. */
const knownCiphers: ReadonlySet<string> = new Set([
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES256-SHA',
  'DES-CBC3-SHA',
]);

/**
 * True for these suites, and for what only the proxy's library can judge: `ALL`, groups of equal preference in
 * brackets, and operators.
 */
export function isKnownCipher(suite: string): boolean {
  return suite === '' || suite === 'ALL' || !STARTS_A_NAME.test(suite) || knownCiphers.has(suite);
}

const STARTS_A_NAME = /^[\p{L}\p{N}]/u;

/** The mesh's defaults, then the server's settings. */
export function tlsChoice(reader: Reader, tls: ServerTLSSettings): TlsChoice {
  const defaults = reader.mesh('tlsDefaults');
  const own = usableCiphers(tls.cipherSuites ?? []);
  return {
    minVersion: versionOf(tls.minProtocolVersion) || defaultMinimum(defaults?.minProtocolVersion),
    maxVersion: versionOf(tls.maxProtocolVersion),
    ciphers: own.length > 0 ? own : (defaults?.cipherSuites ?? []),
    curves: defaults?.ecdhCurves ?? [],
  };
}

function usableCiphers(ciphers: readonly string[]): readonly string[] {
  return [...new Set(ciphers)].filter(isKnownCipher);
}

function versionOf(version: string | undefined): string {
  return version === undefined || version === 'TLS_AUTO' ? '' : version;
}

/** The mesh's minimum is 1.2 or 1.3: older versions are left out. */
function defaultMinimum(version: string | undefined): string {
  return version === 'TLSV1_2' || version === 'TLSV1_3' ? version : '';
}
