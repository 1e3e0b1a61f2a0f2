import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { JournalFault } from '../../../src/journal/fault.ts';
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

test('a line is read up to a limit, in time that grows with its length alone', async () => {
  let given = 0;
  async function* endless(): AsyncGenerator<string> {
    yield 'first\n';
    for (;;) {
      given += 1;
      yield 'x'.repeat(1_000);
    }
  }
  const lines: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const line of linesOf(endless(), 10_000)) lines.push(line);
  };
  await expect(reading()).rejects.toThrow(new JournalFault('bad-import', 'more than 10000 characters', { line: 2 }));
  expect([lines, given]).toEqual([['first'], 11]);
});
