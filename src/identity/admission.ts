// Which verified client certificates may come in: those of exactly one workload identity of this mesh that may act as
// client and as server, as the certificates that this authority issues do.
// Source: Istio pkg/spiffe/spiffe.go (PeerCertVerifier.VerifyPeerCert), pilot/pkg/bootstrap/server.go
// (initSecureDiscoveryService).

import { elementOf, inside, oidOf, TAG } from './x509/der.ts';
import {
  type AlternativeName,
  alternativeNamesIn,
  type Extension,
  OID_ALTERNATIVE_NAMES,
  partsOfCertificate,
  trustDomainOf,
} from './x509/names.ts';
import { OID_ANY_USAGE } from './x509/path.ts';
import { OID_CLIENT_AUTH, OID_EXTENDED_KEY_USAGE, OID_SERVER_AUTH } from './x509/profile.ts';

/** `certificate`: DER. Undefined: it may. The chain is verified already. */
export function whyNotAdmitted(certificate: Uint8Array, trustDomains: readonly string[]): string | undefined {
  const parts = readOf(certificate);
  if (parts === undefined) return 'its certificate cannot be read';
  const uris = parts.names.filter(({ kind }) => kind === 'uri');
  const [uri, ...more] = uris;
  if (uri === undefined || more.length > 0) return `its certificate has ${uris.length} URIs in place of one`;
  const domain = trustDomainOf(uri.text);
  if (domain === undefined) return 'its certificate has no SPIFFE id';
  if (!trustDomains.includes(domain)) return `its certificate is of the trust domain ${domain}`;
  if (![OID_CLIENT_AUTH, OID_SERVER_AUTH].every(usage => allows(parts.usages, usage))) {
    return 'its certificate is not for clients and servers';
  }
  return undefined;
}

interface Read {
  readonly names: readonly AlternativeName[];
  /** Undefined: the certificate does not limit them. */
  readonly usages: readonly string[] | undefined;
}

function readOf(certificate: Uint8Array): Read | undefined {
  try {
    const { extensions } = partsOfCertificate(certificate);
    const names = extensionOf(extensions, OID_ALTERNATIVE_NAMES);
    const usages = extensionOf(extensions, OID_EXTENDED_KEY_USAGE);
    return {
      names: names === undefined ? [] : alternativeNamesIn(names),
      usages: usages && inside(elementOf(usages), TAG.sequence).map(oidOf),
    };
  } catch {
    return undefined;
  }
}

function extensionOf(extensions: readonly Extension[], id: string): Buffer | undefined {
  return extensions.find(({ oid }) => oid === id)?.value;
}

function allows(usages: readonly string[] | undefined, usage: string): boolean {
  return usages === undefined || usages.includes(usage) || usages.includes(OID_ANY_USAGE);
}
