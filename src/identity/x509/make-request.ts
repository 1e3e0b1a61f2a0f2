// A certificate signing request of our own (PKCS #10, RFC 2986): an empty subject, and names.

import type { KeyObject } from 'node:crypto';
import { bits, boolean, constructed, integer, octets, oid, sequence, set, write } from './der.ts';
import { publicKeyDer, signatureAlgorithm, signBytes } from './keys.ts';
import { alternativeNamesValue, emptyName, OID_ALTERNATIVE_NAMES } from './names.ts';
import { pemOf } from './pem.ts';
import { OID_EXTENSION_REQUEST } from './request.ts';

/** PEM. */
export async function makeRequest(key: KeyObject, names: readonly string[]): Promise<string> {
  const extension = sequence(oid(OID_ALTERNATIVE_NAMES), boolean(true), octets(alternativeNamesValue(names)));
  const attribute = sequence(oid(OID_EXTENSION_REQUEST), set(sequence(extension)));
  const version = integer(Uint8Array.of(0));
  const info = sequence(version, emptyName, publicKeyDer(key), write(constructed(0), attribute));
  const der = sequence(info, signatureAlgorithm(key), bits(await signBytes(key, info)));
  return pemOf('CERTIFICATE REQUEST', der);
}
