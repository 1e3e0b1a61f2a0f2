import { expect, test, vi } from 'vitest';
import { heardIn, PARSED_CHARS_AT_ONCE } from '../../../../src/adapters/kube/heard.ts';

const line = (name: string, chars: number): string =>
  JSON.stringify({ type: 'ADDED', object: { metadata: { name, resourceVersion: '1' }, data: 'x'.repeat(chars) } });

async function orderOf(lines: readonly string[]): Promise<readonly string[]> {
  const order: string[] = [];
  const { parse } = JSON;
  const read = vi.spyOn(JSON, 'parse').mockImplementation((text: string): unknown => {
    order.push('parsed');
    setTimeout(() => order.push('timer'), 0);
    // Long enough for the timer to be due.
    for (const start = performance.now(); performance.now() < start + 3; );
    return parse(text);
  });
  await heardIn(lines);
  order.push('used');
  read.mockRestore();
  return order;
}

test('a long line of a watch is parsed in one turn of the event loop and used in another', async () => {
  const long = line('a', PARSED_CHARS_AT_ONCE);
  expect(await orderOf([long, long])).toEqual(['parsed', 'timer', 'parsed', 'timer', 'used']);
});

test('short lines are parsed and used at once', async () => {
  expect(await orderOf([line('a', 10), line('b', 10)])).toEqual(['parsed', 'parsed', 'used']);
});
