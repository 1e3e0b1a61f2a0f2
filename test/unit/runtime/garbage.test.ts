// The limit of the heap's growth that V8 gets, unless the operator has set one; a process of its own shows that V8
// obeys.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { getHeapSpaceStatistics } from 'node:v8';
import { expect, test } from 'vitest';
import { collectGarbage, growHeapSlowly, HEAP_GROWTH_PERCENT } from '../../../src/runtime/garbage.ts';

const flag = `--heap-growing-percent=${HEAP_GROWTH_PERCENT}`;

test.each([
  [[], [flag]],
  [['--max-old-space-size=900'], [flag]],
  [['--max-old-space-size=900 --heap-growing-percent=100'], []],
])('with the options %j, V8 is started with %j', (given, expected) => {
  const flags: string[] = [];
  growHeapSlowly(given, one => flags.push(one));
  expect(flags).toEqual(expected);
});

/**
 * Holds 40 MB, then renews a tenth of it again and again, after a full collection; prints the most that was in use, in
 * MB.
 */
const program = `
  require('v8').setFlagsFromString('--expose-gc');
  require('v8').setFlagsFromString(process.argv[1]);
  const piece = () => Array.from({ length: 100 }, (_, i) => ({ i }));
  const held = Array.from({ length: 10_000 }, piece);
  require('vm').runInNewContext('gc')();
  let most = 0;
  for (let i = 0; i < 100_000; i++) {
    held[i % held.length] = piece();
    if (i % 500 === 0) most = Math.max(most, process.memoryUsage().heapUsed);
  }
  console.log(most / 2 ** 20);
`;

async function mostInUse(given: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program, '--', given], { timeout: 60_000 });
  return Number(stdout);
}

test('the heap holds less garbage with the growth flag', async () => {
  const [slowly, asV8Likes] = await Promise.all([mostInUse(flag), mostInUse('--heap-growing-percent=0')]);
  expect(slowly).toBeLessThan(asV8Likes * 0.9);
});

test('a requested collection leaves no gaps between what is left', () => {
  const made = Array.from({ length: 400_000 }, (_, i) => ({ i }));
  collectGarbage();
  const kept = made.filter((_, i) => i % 2 === 0);
  made.length = 0;
  collectGarbage();
  const { space_size, space_used_size } = getHeapSpaceStatistics().find(
    ({ space_name }) => space_name === 'old_space',
  )!;
  expect(kept).toHaveLength(200_000);
  expect(space_size - space_used_size).toBeLessThan(4 * 2 ** 20);
});

/** Fills 100 MB and drops it; prints the memory of the process after a requested collection, in MB. */
const emptied = `
  import { collectGarbage } from '${new URL('../../../src/runtime/garbage.ts', import.meta.url).href}';
  let made = Array.from({ length: 2_000_000 }, (_, i) => ({ i, text: 'x' + i }));
  if (made.length === 0) process.exit(1);
  made = undefined;
  collectGarbage();
  // V8 of Node 20 gives them back from a thread of its own.
  setTimeout(() => console.log(process.memoryUsage.rss() / 2 ** 20), 1_000);
`;

test('a requested collection gives the pages that it empties back to the operating system', async () => {
  const args = ['--import', 'tsx', '--input-type=module', '-e', emptied];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
  expect(Number(stdout)).toBeLessThan(160);
});
