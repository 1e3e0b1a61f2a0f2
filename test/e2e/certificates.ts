// A throw-away certificate authority, written out in DER: a self-signed certificate, its key, and a revocation list
// with nothing on it. Made anew for each run, so that no private key lies in the repository and no tool has to be
// there. RFC 5280.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface Certificates {
  /** PEM, each. The certificate is an authority's and signs itself. */
  readonly certificate: string;
  readonly privateKey: string;
  readonly revocations: string;
}

const TAG = { boolean: 0x01, integer: 0x02, bits: 0x03, octets: 0x04, oid: 0x06, utf8: 0x0c, time: 0x17, set: 0x31 };
const SEQUENCE = 0x30;
const explicit = (n: number): number => 0xa0 + n;
/** Past and future of UTCTime, whatever the clock says. */
const FROM = '500101000000Z';
const UNTIL = '491231235959Z';

export function makeCertificates(commonName: string): Certificates {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const name = sequence(der(TAG.set, sequence(oid(0x55, 4, 3), der(TAG.utf8, Buffer.from(commonName)))));
  const version3 = der(explicit(0), integer(2));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const authority = sequence(
    oid(0x55, 29, 19),
    der(TAG.boolean, Buffer.of(0xff)),
    der(TAG.octets, sequence(der(TAG.boolean, Buffer.of(0xff)))),
  );
  const certificate = sequence(
    ...[version3, integer(1), algorithm(), name, sequence(time(FROM), time(UNTIL)), name, spki],
    der(explicit(3), sequence(authority)),
  );
  const revocations = sequence(integer(1), algorithm(), name, time(FROM), time(UNTIL));
  return {
    certificate: pem('CERTIFICATE', signed(certificate, privateKey)),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    revocations: pem('X509 CRL', signed(revocations, privateKey)),
  };
}

function signed(what: Buffer, key: KeyObject): Buffer {
  return sequence(what, algorithm(), der(TAG.bits, Buffer.of(0), sign('sha256', what, key)));
}

/** ecdsa-with-SHA256 */
function algorithm(): Buffer {
  return sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), body]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(SEQUENCE, ...parts);
}

function integer(value: number): Buffer {
  return der(TAG.integer, Buffer.of(value));
}

function oid(...bytes: readonly number[]): Buffer {
  return der(TAG.oid, Buffer.of(...bytes));
}

function time(text: string): Buffer {
  return der(TAG.time, Buffer.from(text));
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
