import { describe, expect, test } from 'vitest';
import { base64OfText } from '../../../../src/core/base/base64.ts';

describe('base64 of a text is that of its UTF-8', () => {
  test.each([0, 1, 2, 3, 4_095, 4_096, 4_097, 12_288, 100_000])('of %d characters', length => {
    const text = 'aé€😀\ud800'.repeat(length).slice(0, length);
    expect(base64OfText(text)).toBe(Buffer.from(text).toString('base64'));
  });
});
