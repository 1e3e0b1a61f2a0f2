// Placeholders of private values have the shape of what they stand for, and nothing of its content.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { REDACTED_MARK } from '../../../src/core/base/certificate.ts';
import type { Json } from '../../../src/core/base/json.ts';
import { PLACEHOLDER_PEM_BYTES_MAX, placeholderOf } from '../../../src/journal/placeholder.ts';

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const DIGEST = digestOf('one');
const TEXT = /^redacted-[0-9a-f]{16}$/;
const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
const pem = (label: string, bytes: number): string => {
  const lines =
    Buffer.alloc(bytes, 0x41)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
};
/** The label, the bytes and the longest line of each block. */
const blocksOf = (text: string): readonly (readonly [string, Buffer, number])[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----\n([\s\S]*?)\n-----END \1-----\n/g)].map(
    ([, label = '', body = '']) => [
      label,
      Buffer.from(body, 'base64'),
      Math.max(...body.split('\n').map(line => line.length)),
    ],
  );

describe('the placeholder of a private value', () => {
  it.each<[string, Json | undefined]>([
    ['beginnings of PEM blocks without an end', '-----BEGIN A-----\n'.repeat(50_000)],
    ['a text', 'hunter2!'],
    ['an empty text', ''],
    ['a number', 7],
    ['a map', { a: 'b' }],
    ['a value that is not known', undefined],
    ['base64 of a wrong length', 'aGVsbG8'],
  ])('is text for %s', (_what, plain) => {
    expect(placeholderOf(plain, DIGEST)).toMatch(TEXT);
  });

  it('is base64 of text for base64', () => {
    for (const text of ['hello', 'hello!', 'hello!!']) {
      expect(Buffer.from(placeholderOf(base64(text), DIGEST), 'base64').toString('utf8')).toMatch(TEXT);
    }
  });

  it('depends on the digest alone', () => {
    expect(placeholderOf('a', DIGEST)).toBe(placeholderOf('b', DIGEST));
    expect(placeholderOf('a', DIGEST)).not.toBe(placeholderOf('a', digestOf('two')));
    expect(placeholderOf(pem('CERTIFICATE', 500), DIGEST)).not.toBe(
      placeholderOf(pem('CERTIFICATE', 500), digestOf('two')),
    );
  });

  it('has a block for each PEM block, of its label and about its length, marked as redacted', () => {
    const plain = `Bag Attributes\n${pem('CERTIFICATE', 700)}${pem('EC PRIVATE KEY', 121)}`;
    for (const shown of [
      placeholderOf(plain, DIGEST),
      Buffer.from(placeholderOf(base64(plain), DIGEST), 'base64').toString('utf8'),
    ]) {
      const blocks = blocksOf(shown);
      expect(blocks.map(([label]) => label)).toEqual(['CERTIFICATE', 'EC PRIVATE KEY']);
      expect(Math.abs(blocks[0]![1].length - 700)).toBeLessThan(20);
      expect(Math.abs(blocks[1]![1].length - 121)).toBeLessThan(10);
      for (const [, bytes, longest] of blocks) {
        expect(bytes.subarray(0, REDACTED_MARK.length).toString('latin1')).toBe(
          Buffer.from(REDACTED_MARK).toString('latin1'),
        );
        expect(longest).toBe(64);
      }
      expect(blocks[0]![1].subarray(0, 121)).not.toEqual(blocks[1]![1]);
      expect(shown).not.toContain('Bag');
    }
  });

  it('of an empty or a huge block is of a limited length', () => {
    const [empty] = blocksOf(placeholderOf(pem('X', 0), DIGEST));
    expect(empty![1].length).toBe(3);
    const [huge] = blocksOf(placeholderOf(pem('X', 100_000), DIGEST));
    expect(huge![1].length).toBe(PLACEHOLDER_PEM_BYTES_MAX);
  });
});
