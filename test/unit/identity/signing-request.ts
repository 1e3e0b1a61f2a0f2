// Certificate signing requests as agents make them, and malformed ones: for tests of the authority, here and end to
// end.

import type { KeyObject } from 'node:crypto';
import {
  bits,
  boolean,
  constructed,
  integer,
  octets,
  oid,
  sequence,
  set,
  text,
  write,
} from '../../../src/identity/x509/der.ts';
import {
  generateKeys,
  type KeyType,
  publicKeyDer,
  signatureAlgorithm,
  signBytes,
} from '../../../src/identity/x509/keys.ts';
import { alternativeNamesValue } from '../../../src/identity/x509/names.ts';
import { pemOf } from '../../../src/identity/x509/pem.ts';

export interface RequestOptions {
  readonly key?: KeyObject;
  readonly type?: KeyType;
  readonly names?: readonly string[];
  readonly commonName?: string;
  /** Another key signs than the one that is in the request. */
  readonly forged?: boolean;
}

export interface MadeRequest {
  readonly pem: string;
  readonly der: Buffer;
  readonly key: KeyObject;
}

const OID_ORGANIZATION = '2.5.4.10';
const OID_COMMON_NAME = '2.5.4.3';
const OID_EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const OID_ALTERNATIVE_NAMES = '2.5.29.17';

export async function signingRequest(options: RequestOptions = {}): Promise<MadeRequest> {
  const key = options.key ?? (await generateKeys(options.type ?? { ec: 'P-256' })).privateKey;
  const signer = options.forged === true ? (await generateKeys({ ec: 'P-256' })).privateKey : key;
  const part = (id: string, value: string): Buffer => set(sequence(oid(id), text(value)));
  const commonName = options.commonName === undefined ? [] : [part(OID_COMMON_NAME, options.commonName)];
  const info = sequence(
    integer(Uint8Array.of(0)),
    sequence(part(OID_ORGANIZATION, ''), ...commonName),
    publicKeyDer(key),
    write(constructed(0), ...attributes(options.names)),
  );
  const der = sequence(info, signatureAlgorithm(signer), bits(await signBytes(signer, info)));
  return { pem: pemOf('CERTIFICATE REQUEST', der), der, key };
}

function attributes(names: readonly string[] | undefined): readonly Buffer[] {
  if (names === undefined) return [];
  const extension = sequence(oid(OID_ALTERNATIVE_NAMES), boolean(true), octets(alternativeNamesValue(names)));
  return [sequence(oid(OID_EXTENSION_REQUEST), set(sequence(extension)))];
}
