import { expect, it } from 'vitest';
import { hasCertificate } from '../../../../src/core/base/certificate.ts';

const pem = (der: readonly number[]): string =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`;
const of = (tag: number, ...content: readonly number[]): readonly number[] => [
  tag,
  0x82,
  content.length >> 8,
  content.length & 0xff,
  ...content,
];
const NULL = [0x05, 0x00];
const KEY = of(0x30, ...of(0x30, ...of(0x06, 0x2a)), ...of(0x03, 0, 1));

/** A certificate whose body has `more` elements behind the key. */
const certificate = (more: number): string =>
  pem(
    of(
      0x30,
      ...of(
        0x30,
        ...Array.from({ length: 5 }, () => NULL).flat(),
        ...KEY,
        ...Array.from({ length: more }, () => NULL).flat(),
      ),
    ),
  );

it('a certificate is looked for among few elements: a value of a megabyte may have hundreds of thousands', () => {
  expect(hasCertificate(certificate(3))).toBe(true);
  expect(hasCertificate(certificate(250))).toBe(true);
  expect(hasCertificate(certificate(251))).toBe(false);
});
