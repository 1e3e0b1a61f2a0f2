// The compiler is told to wait on the release that needs it, unless somebody has said otherwise.

import { expect, test } from 'vitest';
import { OPTIMIZE_AFTER_BYTES, optimizeLater } from '../../../src/cli/compiler.ts';

test.each([
  ['20.20.0', [], [`--interrupt-budget=${OPTIMIZE_AFTER_BYTES}`]],
  ['20.20.0', ['--max-old-space-size=900 --interrupt-budget=100'], []],
  ['22.11.0', [], []],
  ['24.1.0', [], []],
])('the compile cache: Node %s with options %j', (version, given, expected) => {
  const flags: string[] = [];
  optimizeLater(version, given, flag => flags.push(flag));
  expect(flags).toEqual(expected);
});
