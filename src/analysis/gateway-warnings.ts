// Warnings about Gateways: TLS settings that do nothing. Source: Istio pkg/config/validation/validation.go
// (ValidateGateway, validateTLSOptions).

import { isHttp, protocolOf } from '../core/model/protocol.ts';
import type { Gateway, ServerTLSSettings } from '../core/schema/istio-types.gen.ts';
import { isKnownCipher } from '../core/select/listener/tls-versions.ts';

const SERVER_CERTIFICATES_MAX = 2;

export function gatewayWarnings({ servers = [] }: Gateway, warn: (text: string) => void): void {
  for (const { tls } of servers) if (tls !== undefined) ofTls(tls, warn);
  for (const { port, tls } of servers) {
    if (tls?.httpsRedirect === true && !isHttp(protocolOf(port?.protocol ?? ''))) {
      warn('tls.httpsRedirect should only be used with http servers');
    }
  }
}

function ofTls(tls: ServerTLSSettings, warn: (text: string) => void): void {
  const { mode = 'PASSTHROUGH', minProtocolVersion, cipherSuites = [], tlsCertificates = [] } = tls;
  if ((minProtocolVersion === 'TLSV1_0' || minProtocolVersion === 'TLSV1_1') && cipherSuites.length === 0) {
    warn(
      'TLS version below TLSV1_2 require setting compatible ciphers as by default they no longer include compatible ciphers.',
    );
  }
  const unknown = cipherSuites.filter(suite => !isKnownCipher(suite));
  const repeated = cipherSuites.filter((suite, i) => isKnownCipher(suite) && cipherSuites.indexOf(suite) !== i);
  if (unknown.length > 0) warn(`ignoring invalid cipher suites: ${listOf(unknown)}`);
  if (repeated.length > 0) warn(`ignoring duplicate cipher suites: ${listOf(repeated)}`);
  if (mode === 'PASSTHROUGH' || mode === 'AUTO_PASSTHROUGH') {
    if (namesCertificates(tls)) warn(`${mode} mode does not use certificates, they will be ignored`);
    return;
  }
  if (mode !== 'ISTIO_MUTUAL' && tlsCertificates.length > SERVER_CERTIFICATES_MAX) {
    warn(`${mode === 'SIMPLE' ? 'SIMPLE' : 'MUTUAL'} TLS can support up to 2 server certificates`);
  }
}

function namesCertificates(tls: ServerTLSSettings): boolean {
  const texts = [tls.caCrl, tls.serverCertificate, tls.privateKey, tls.caCertificates, tls.credentialName];
  return (
    texts.some(text => (text ?? '') !== '') ||
    (tls.tlsCertificates ?? []).length > 0 ||
    (tls.credentialNames ?? []).length > 0
  );
}

/** As Go prints a list. */
function listOf(names: readonly string[]): string {
  return `[${[...new Set(names)].sort().join(' ')}]`;
}
