import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startedUnless } from '../../../src/cli/signals.ts';

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

/** What a process says, and its exit code, that gets SIGTERM once it is up and asks for the signal only later. */
async function stoppedWhile(body: string): Promise<{ readonly said: string; readonly code: number | null }> {
  const script = `const s = await import(${JSON.stringify(file)}); s.listenForStop(); console.log('up');
    const log = (_level, text) => console.log(text);
    process.on('SIGTERM', () => setTimeout(async () => { ${body} }, 50)); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (said += String(bytes)));
  await once(child.stdout, 'data');
  const ended = once(child, 'close') as Promise<[number | null]>;
  child.kill('SIGTERM');
  const [code] = await ended;
  return { said, code };
}

it('SIGTERM that comes before anybody waits for it is not lost', async () => {
  const { said, code } = await stoppedWhile(`await s.stopSignal(log); process.exit(0);`);
  expect([said, code]).toEqual(['up\nSIGTERM: stopping\n', 0]);
});

it('SIGTERM stops what is just being started as soon as it is there', async () => {
  const { said, code } = await stoppedWhile(`
    const starting = new Promise(resolve => setTimeout(resolve, 20, { stop: async () => log('', 'closed') }));
    const started = await s.startedUnless(s.stopSignal(log), starting, 60_000);
    if (started === undefined) s.stoppedEarly(log);`);
  expect([said, code]).toEqual(['up\nSIGTERM: stopping\nclosed\nstopped before everything was open\n', 0]);
});

it('SIGTERM ends a process whose start does not end', async () => {
  const { said, code } = await stoppedWhile(`
    const started = await s.startedUnless(s.stopSignal(log), new Promise(() => {}), 10);
    if (started === undefined) s.stoppedEarly(log);`);
  expect([said, code]).toEqual(['up\nSIGTERM: stopping\nstopped before everything was open\n', 0]);
});

it('a start that fails is no stop', async () => {
  const never = new Promise<void>(() => undefined);
  await expect(startedUnless(never, Promise.reject(new Error('the port is taken')), 10)).rejects.toThrow('taken');
  const plane = { stop: async () => undefined };
  expect(await startedUnless(never, Promise.resolve(plane), 10)).toBe(plane);
});
