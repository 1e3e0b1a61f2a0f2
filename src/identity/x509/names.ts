// Names in certificates: the subjects and subject alternative names that the profiles of this control plane use, and
// those of certificates and requests that clients present.
// Source: Istio security/pkg/pki/util/san.go (BuildSANExtension); RFC 5280 §4.2.1.6; SPIFFE ID §2, X.509-SVID §2.

import { isIp, isIpv4 } from '../../core/base/ip.ts';
import {
  constructed,
  type Element,
  elementOf,
  inside,
  oid,
  oidOf,
  primitive,
  sequence,
  set,
  TAG,
  text,
  write,
} from './der.ts';

export const OID_COMMON_NAME = '2.5.4.3';
export const OID_ALTERNATIVE_NAMES = '2.5.29.17';
const OID_ORGANIZATION = '2.5.4.10';

/** Tags of GeneralName. */
const [EMAIL, DNS, URI, IP] = [primitive(1), primitive(2), primitive(6), primitive(7)];

export const emptyName = sequence();

export function organization(value: string): Buffer {
  return nameOf(OID_ORGANIZATION, value);
}

export function commonName(value: string): Buffer {
  return nameOf(OID_COMMON_NAME, value);
}

function nameOf(type: string, value: string): Buffer {
  return sequence(set(sequence(oid(type), text(value))));
}

/** `oid=text` in order. */
export function partsOfName(name: Element): readonly string[] {
  return inside(name, TAG.sequence).flatMap(part =>
    inside(part, TAG.set).map(pair => {
      const [type, value] = inside(pair, TAG.sequence);
      return `${oidOf(type)}=${value?.content.toString('utf8') ?? ''}`;
    }),
  );
}

/** The value of the extension: each an IP address, a SPIFFE id, or else a DNS name. */
export function alternativeNamesValue(names: readonly string[]): Buffer {
  return sequence(...names.map(generalName));
}

function generalName(name: string): Buffer {
  // A zone has no place in a certificate.
  if (isIp(name) && !name.includes('%')) return write(IP, addressBytes(name));
  return write(name.startsWith('spiffe://') ? URI : DNS, Buffer.from(name));
}

export interface AlternativeName {
  readonly kind: 'uri' | 'dns' | 'ip' | 'email' | 'other';
  /** Addresses as hex digits. */
  readonly text: string;
}

/** Of the value of the extension, in order. */
export function alternativeNamesIn(value: Uint8Array): readonly AlternativeName[] {
  return inside(elementOf(value), TAG.sequence).map(({ tag, content }): AlternativeName => {
    if (tag === URI) return { kind: 'uri', text: content.toString('utf8') };
    if (tag === DNS) return { kind: 'dns', text: content.toString('utf8') };
    if (tag === IP) return { kind: 'ip', text: content.toString('hex') };
    return tag === EMAIL ? { kind: 'email', text: content.toString('utf8') } : { kind: 'other', text: '' };
  });
}

export interface Extension {
  readonly oid: string;
  readonly value: Buffer;
}

/** Of a sequence of extensions. */
export function extensionsIn(list: Element | undefined): readonly Extension[] {
  return inside(list, TAG.sequence).map(extension => {
    const [id, ...rest] = inside(extension, TAG.sequence);
    const value = rest.at(-1);
    if (value?.tag !== TAG.octetString) throw new Error('an extension has no value');
    return { oid: oidOf(id), value: value.content };
  });
}

export interface CertificateParts {
  /** As DER. */
  readonly subject: Buffer;
  readonly extensions: readonly Extension[];
}

/** RFC 5280 §4.1; undefined fields of the certificate are skipped by their tags. */
export function partsOfCertificate(der: Uint8Array): CertificateParts {
  const [tbs] = inside(elementOf(der), TAG.sequence);
  const fields = inside(tbs, TAG.sequence);
  const fromSerial = fields[0]?.tag === constructed(0) ? fields.slice(1) : fields;
  const [, , , , subject, , ...optional] = fromSerial;
  if (subject === undefined) throw new Error('a certificate has no subject');
  const extensions = optional.find(({ tag }) => tag === constructed(3));
  return {
    subject: subject.raw,
    extensions: extensions === undefined ? [] : extensionsIn(elementOf(extensions.content)),
  };
}

/** Undefined: the certificate has no such extension. */
export function alternativeNamesOf(certificate: Uint8Array): readonly AlternativeName[] | undefined {
  const found = partsOfCertificate(certificate).extensions.find(({ oid: id }) => id === OID_ALTERNATIVE_NAMES);
  return found === undefined ? undefined : alternativeNamesIn(found.value);
}

/** `@` is no character of a trust domain: Istio writes `.` in its place (pkg/spiffe/spiffe.go, genSpiffeURI). */
export function spiffeId(trustDomain: string, namespace: string, serviceAccount: string): string {
  return `spiffe://${trustDomain.replaceAll('@', '.')}/ns/${namespace}/sa/${serviceAccount}`;
}

/** The trust domain of a SPIFFE id; undefined if the text is none. */
export function trustDomainOf(id: string): string | undefined {
  return /^spiffe:\/\/([^/]+)(?:\/.*)?$/.exec(id)?.[1];
}

const GROUPS = 8;

function addressBytes(address: string): Buffer {
  if (isIpv4(address)) return Buffer.from(address.split('.').map(Number));
  const plain = address.replace(/[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}$/, v4 =>
    addressBytes(v4).toString('hex').replace(/^.{4}/, '$&:'),
  );
  const [head = '', tail] = plain.split('::');
  const groupsOf = (half: string): readonly string[] => (half === '' ? [] : half.split(':'));
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = Array.from({ length: GROUPS - before.length - after.length }, () => '0');
  return Buffer.from([...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join(''), 'hex');
}
