import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { linesOf } from '../../../src/journal/lines.ts';

test('a newline alone ends a line, for any division of the input', async () => {
  const text = '{"a":"x\u2028y\u2029z"}\n\n{"b":1}\r\nlast';
  for (const size of [1, 2, 5, text.length]) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
      text.slice(i * size, (i + 1) * size),
    );
    const lines: string[] = [];
    for await (const line of linesOf(Readable.from(pieces))) lines.push(line);
    expect(lines).toEqual(['{"a":"x\u2028y\u2029z"}', '', '{"b":1}', 'last']);
  }
});
