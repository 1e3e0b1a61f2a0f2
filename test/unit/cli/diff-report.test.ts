// The reports of a difference: a refusal at its place in a file, a warning with the proxies that it is about.

import { expect, test } from 'vitest';
import { diffMessages } from '../../../src/cli/diff-report.ts';
import type { MeshDiff } from '../../../src/history/answers.ts';

test('a difference becomes one message for each refusal and each warning', () => {
  const one = { proxies: ['a.x', 'b.x', 'c.x', 'd.x'], warnings: [{ message: 'host h: 503' }] };
  const difference = { classes: [one] } as unknown as MeshDiff;
  const found = diffMessages(difference, ['mesh/v.yaml:3:5: VirtualService is refused: spec.http']);
  expect(found.map(({ message: { code, text }, place }) => [code, text, place])).toEqual([
    ['PER0015', 'VirtualService is refused: spec.http', { file: 'mesh/v.yaml', line: 3, column: 5 }],
    ['PER0016', 'a.x, b.x, c.x and 1 more: host h: 503', undefined],
  ]);
});
