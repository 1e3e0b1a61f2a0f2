// Which verified client certificates may come in: those of exactly one workload identity of this mesh that may act as
// client and as server, as the certificates that this authority issues do.
// Source: Istio pkg/spiffe/spiffe.go (PeerCertVerifier.VerifyPeerCert), pilot/pkg/bootstrap/server.go
// (initSecureDiscoveryService).

import type { X509Certificate } from 'node:crypto';
import { alternativeNamesOf, trustDomainOf } from './x509/names.ts';
import { allows } from './x509/path.ts';
import { OID_CLIENT_AUTH, OID_SERVER_AUTH } from './x509/profile.ts';

/** Undefined: it may. The chain is verified already. */
export function whyNotAdmitted(certificate: X509Certificate, trustDomains: readonly string[]): string | undefined {
  const uris = alternativeNamesIn(certificate.raw)?.filter(({ kind }) => kind === 'uri') ?? [];
  const [uri, ...more] = uris;
  if (uri === undefined || more.length > 0) return `its certificate has ${uris.length} URIs in place of one`;
  const domain = trustDomainOf(uri.text);
  if (domain === undefined) return 'its certificate has no SPIFFE id';
  if (!trustDomains.includes(domain)) return `its certificate is of the trust domain ${domain}`;
  if (![OID_CLIENT_AUTH, OID_SERVER_AUTH].every(usage => allows(certificate, usage))) {
    return 'its certificate is not for clients and servers';
  }
  return undefined;
}

function alternativeNamesIn(certificate: Uint8Array): ReturnType<typeof alternativeNamesOf> {
  try {
    return alternativeNamesOf(certificate);
  } catch {
    return undefined;
  }
}
