// Certificate signing requests (PKCS #10, RFC 2986) as agents send them: read, and the proof of possession verified.
//
// What a request says of itself counts for nothing but its public key and whether it has a common name; the rest is
// read for the registration authority, which hands requests on to another signer and so has to look at them.
// Source: Istio security/pkg/pki/util/crypto.go (ParsePemEncodedCSR), security/pkg/pki/ra/common.go (ValidateCSR).

import { bitsOf, constructed, type Element, elementOf, elementsOf, inside, oidOf, TAG } from './der.ts';
import { verifyBytes, whyUnfit } from './keys.ts';
import {
  type AlternativeName,
  alternativeNamesIn,
  type Extension,
  extensionsIn,
  OID_ALTERNATIVE_NAMES,
  OID_COMMON_NAME,
  partsOfName,
} from './names.ts';
import { pemBlocks } from './pem.ts';

export interface SigningRequest {
  readonly der: Buffer;
  readonly spki: Buffer;
  readonly hasCommonName: boolean;
  /** `oid=text` in order. */
  readonly subject: readonly string[];
  /** undefined: no such extension. */
  readonly names: readonly AlternativeName[] | undefined;
  /** OIDs of all extensions asked for. */
  readonly extensions: readonly string[];
}

/** Bytes of a request in PEM; one with an RSA key of 16,384 bits has 5 KB. */
export const REQUEST_BYTES_MAX = 64 * 1024;

/** RFC 2985 §5.4.2 */
export const OID_EXTENSION_REQUEST = '1.2.840.113549.1.9.14';

/** Rejects with what is wrong; the signature is good when it resolves. */
export async function readRequest(pem: string): Promise<SigningRequest> {
  if (pem.length > REQUEST_BYTES_MAX)
    throw new Error(`certificate signing request is larger than ${REQUEST_BYTES_MAX} bytes`);
  const [block] = pemBlocks(pem);
  if (block === undefined) throw new Error('certificate signing request is not properly encoded');
  const { raw, algorithm, signature, ...request } = parsed(block.der);
  const why = readable(() => whyUnfit(request.spki));
  if (why !== undefined) throw new Error(`the key of the certificate signing request cannot be certified: ${why}`);
  const isGood = await verifyBytes(algorithm, request.spki, raw, signature).catch(() => false);
  if (!isGood) throw new Error('certificate signing request has no valid signature of its key');
  return request;
}

interface Parsed extends SigningRequest {
  /** What is signed. */
  readonly raw: Buffer;
  /** OID. */
  readonly algorithm: string;
  readonly signature: Buffer;
}

function parsed(der: Buffer): Parsed {
  return readable(() => {
    const [info, algorithm, signature] = inside(elementOf(der), TAG.sequence);
    const [, name, key, attributes] = inside(info, TAG.sequence);
    if (info === undefined || name === undefined || key === undefined) throw new Error('fields are missing');
    const subject = partsOfName(name);
    const extensions = extensionsOf(attributes);
    const names = extensions.find(({ oid }) => oid === OID_ALTERNATIVE_NAMES);
    return {
      der,
      spki: key.raw,
      hasCommonName: subject.some(part => part.length > HEAD.length && part.startsWith(HEAD)),
      subject,
      names: names === undefined ? undefined : alternativeNamesIn(names.value),
      extensions: extensions.map(({ oid }) => oid),
      raw: info.raw,
      algorithm: oidOf(inside(algorithm, TAG.sequence)[0]),
      signature: bitsOf(signature),
    };
  });
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw new Error('failed to parse X.509 certificate signing request');
  }
}

const HEAD = `${OID_COMMON_NAME}=`;

/** `attributes`: the `[0]` of the request; other tools leave it out when there is none. */
function extensionsOf(attributes: Element | undefined): readonly Extension[] {
  if (attributes === undefined) return [];
  return inside(attributes, constructed(0)).flatMap(attribute => {
    const [type, values] = inside(attribute, TAG.sequence);
    if (oidOf(type) !== OID_EXTENSION_REQUEST || values?.tag !== TAG.set) return [];
    return elementsOf(values.content).flatMap(extensionsIn);
  });
}
