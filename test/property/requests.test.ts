// Requests read by hand come to what the decoder for any message makes of them, and what it refuses is refused.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeMessage } from '../../src/xds/engine/encode.ts';
import { decodeDeltaDiscoveryRequest, decodeDiscoveryRequest } from '../../src/xds/serve/discovery.ts';
import { eachText } from '../../src/xds/wire/text-fields.ts';
import { parameters } from './seed.ts';

const DELTA = 'envoy.service.discovery.v3.DeltaDiscoveryRequest';
const SOTW = 'envoy.service.discovery.v3.DiscoveryRequest';
/** A field that neither type has, without bytes: every decoder skips it, and the fast decoder declines the message. */
const UNKNOWN = Buffer.from([(100 << 3) | 2, 0].flatMap(n => (n > 0x7f ? [(n & 0x7f) | 0x80, n >> 7] : [n])));

const text = fc.string({ unit: 'binary', maxLength: 200, size: 'max' });
const list = fc.array(text, { maxLength: 5 });
const node = fc.option(fc.record({ id: text }), { nil: undefined });
const errorDetail = fc.option(fc.record({ code: fc.nat(20), message: text }), { nil: undefined });
const delta = fc.record({
  node,
  typeUrl: text,
  resourceNamesSubscribe: list,
  resourceNamesUnsubscribe: list,
  initialResourceVersions: fc.dictionary(text, text, { maxKeys: 2, noNullPrototype: true }),
  responseNonce: text,
  errorDetail,
});
const sotw = fc.record({
  versionInfo: text,
  node,
  resourceNames: list,
  typeUrl: text,
  responseNonce: text,
  errorDetail,
});

/** What comes out, or that nothing does. */
function outcome<T>(decode: (bytes: Buffer) => T, bytes: Buffer): T | 'refused' {
  try {
    return decode(bytes);
  } catch {
    return 'refused';
  }
}

/** A byte changed, or the end cut off. */
function spoiled(bytes: Buffer, at: number, value: number): Buffer {
  if (bytes.length === 0) return bytes;
  if (value > 0xff) return bytes.subarray(0, at % bytes.length);
  const other = Buffer.from(bytes);
  other[at % bytes.length] = value;
  return other;
}

test('the fast decoder of requests agrees with the general one on valid and corrupted messages', () => {
  let quick = 0;
  const same = <T>(decode: (bytes: Buffer) => T, bytes: Buffer): void => {
    const fields = new Set<number>();
    if (eachText(bytes, number => fields.add(number) !== undefined) && bytes.length > 0) quick++;
    expect(outcome(decode, bytes)).toEqual(outcome(decode, Buffer.concat([UNKNOWN, bytes])));
  };
  fc.assert(
    fc.property(delta, sotw, fc.nat(), fc.nat(0x1ff), (ofDelta, ofSotw, at, value) => {
      const [deltaBytes, sotwBytes] = [
        Buffer.from(encodeMessage(DELTA, ofDelta)),
        Buffer.from(encodeMessage(SOTW, ofSotw)),
      ];
      same(decodeDeltaDiscoveryRequest, deltaBytes);
      same(decodeDeltaDiscoveryRequest, spoiled(deltaBytes, at, value));
      same(decodeDiscoveryRequest, sotwBytes);
      same(decodeDiscoveryRequest, spoiled(sotwBytes, at, value));
    }),
    parameters(300),
  );
  // Fresh seeds gave as few as 48; none would mean that the fast decoder is never used.
  expect(quick).toBeGreaterThan(15);
});
