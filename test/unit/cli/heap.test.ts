// The size of V8's young generation in processes of their own, before and after a thread was started.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { HALF_BYTES } from '../../../src/cli/heap.ts';

const module = new URL('../../../src/cli/heap.ts', import.meta.url).href;

/** Keeps ever more objects, before and after it starts a thread; prints the size of the young generation after each. */
const program = `
  import { once } from 'node:events';
  import { setImmediate as turn } from 'node:timers/promises';
  import { Worker } from 'node:worker_threads';
  const { boundYoungGeneration, youngGenerationBytes } = await import(${JSON.stringify(module)});
  if (process.env.WITHOUT_BOUND === undefined) boundYoungGeneration();
  const sizeAfterWork = () => {
    const held = [];
    for (let i = 0; i < 3_000_000; i++) held.push({ i });
    return youngGenerationBytes();
  };
  const before = sizeAfterWork();
  const thread = new Worker('setTimeout(() => {}, 60_000)', { eval: true });
  await once(thread, 'online');
  await turn();
  console.log(JSON.stringify([before, sizeAfterWork()]));
  await thread.terminate();
`;

async function sizes(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<readonly number[]> {
  const args = [...options, '--import', 'tsx', '--input-type=module', '-e', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    timeout: 60_000,
    env: { ...process.env, NODE_OPTIONS: '', ...env },
  });
  return JSON.parse(stdout) as number[];
}

test('the young generation stays at its bound, also after a thread has started', async () => {
  expect(await sizes([])).toEqual([2 * HALF_BYTES, 2 * HALF_BYTES]);
});

test('the young generation would grow past the bound without it', async () => {
  // Node 24 lets it grow further than Node 20 does.
  for (const size of await sizes([], { WITHOUT_BOUND: '1' })) expect(size).toBeGreaterThanOrEqual(8 * HALF_BYTES);
});

test('the young generation has the size that an operator gave', async () => {
  expect(await sizes(['--max-semi-space-size=8'])).toEqual([4 * HALF_BYTES, 4 * HALF_BYTES]);
});
