import { expect, test } from 'vitest';
import { lastOf } from '../../../../../src/xds/generate/common/last.ts';

test('the last value is kept for the same arguments and evaluated again for others', () => {
  const list = ['x'];
  const made = lastOf((text: string, of: readonly string[] | undefined) => ({ text, of }));
  const first = made('a', list);
  expect(made('a', list)).toBe(first);
  expect(made('a', ['x'])).not.toBe(first);
  expect(made('b', undefined)).toEqual({ text: 'b', of: undefined });
  expect(made('a', list)).toEqual(first);
});
