import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';

const file = new URL('../../../src/cli/signals.ts', import.meta.url).href;

/** What a process says that has started with `begin` and gets SIGUSR1. */
async function saidAfterSignal(begin: string): Promise<string> {
  const script = `${begin}; setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit()); console.log('up');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += String(bytes)));
  await once(child.stdout, 'data');
  child.kill('SIGUSR1');
  const end = Date.now() + 1_500;
  while (!said.includes('Debugger') && Date.now() < end) await new Promise(resolve => setTimeout(resolve, 50));
  child.kill('SIGTERM');
  await once(child, 'exit');
  return said;
}

it('SIGUSR1 opens no debugger', async () => {
  expect(await saidAfterSignal(`(await import(${JSON.stringify(file)})).ignoreDebugSignal()`)).toBe('up\n');
});

it('canary: without it, SIGUSR1 opens one', async () => {
  expect(await saidAfterSignal('0')).toContain('Debugger listening');
});
