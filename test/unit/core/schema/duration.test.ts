import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDuration } from '../../../../src/core/schema/duration.ts';
import { parameters } from '../../../property/seed.ts';

describe('a duration in Go syntax', () => {
  test.each([
    ['0', 0, 0],
    ['-0', 0, 0],
    ['0s', 0, 0],
    ['5s', 5, 0],
    ['1.5s', 1, 500_000_000],
    ['.5s', 0, 500_000_000],
    ['1.s', 1, 0],
    ['100ms', 0, 100_000_000],
    ['1h30m', 5400, 0],
    ['1m1m', 120, 0],
    ['+2m', 120, 0],
    ['-1.5s', -1, -500_000_000],
    ['1us', 0, 1000],
    ['1µs', 0, 1000],
    ['1ns', 0, 1],
    ['0.9999999999s', 0, 999_999_999],
    ['2562047h47m16.854775807s', 9223372036, 854775807],
  ])('such as %s is parsed', (text, seconds, nanos) => {
    expect(parseDuration(text)).toEqual({ seconds, nanos });
  });

  test.each([
    '',
    '-',
    '+',
    '5',
    's',
    '.s',
    '-.s',
    '1',
    '5 s',
    ' 5s',
    '5s ',
    '5d',
    '1e3s',
    '5S',
    '--5s',
    '2562047h47m16.854775808s',
    '1h'.repeat(60),
  ])('such as %j is refused', text => {
    expect(parseDuration(text)).toBeUndefined();
  });

  test('is read exactly for any number of nanoseconds in range', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), nanos => {
        const parsed = parseDuration(`${nanos / 1_000_000_000n}s${nanos % 1_000_000_000n}ns`);
        expect(parsed && BigInt(parsed.seconds) * 1_000_000_000n + BigInt(parsed.nanos)).toBe(nanos);
      }),
      parameters(100),
    );
  });
});
