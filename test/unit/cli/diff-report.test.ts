// The reports of a difference: a refusal at its place in a file, a warning with the proxies that it is about.

import { expect, test } from 'vitest';
import { diffMessages } from '../../../src/cli/diff-report.ts';
import type { MeshDiff } from '../../../src/history/answers.ts';

test('a difference becomes one message for each refusal and each warning', () => {
  const place = { file: 'mesh/r.yaml', line: 7, column: 1 };
  const warnings = [{ message: 'host h: 503', object: 'VirtualService/x/h', place }, { message: 'l drains' }];
  const one = { proxies: ['a.x', 'b.x', 'c.x', 'd.x'], warnings };
  const difference = { classes: [one], warnings: [{ message: 'HTTPRoute x/r loses g' }] } as unknown as MeshDiff;
  const found = diffMessages(difference, ['mesh/v.yaml:3:5: VirtualService is refused: spec.http']);
  expect(found.map(({ message: { code, text, item }, place: at }) => [code, text, item?.name, at])).toEqual([
    ['PER0015', 'VirtualService is refused: spec.http', undefined, { file: 'mesh/v.yaml', line: 3, column: 5 }],
    ['PER0016', 'HTTPRoute x/r loses g', undefined, undefined],
    ['PER0016', 'a.x, b.x, c.x and 1 more: host h: 503', 'h', place],
    ['PER0016', 'a.x, b.x, c.x and 1 more: l drains', undefined, undefined],
  ]);
});
