// `npm start`, as a stranger runs it: it prints what runs where and three things to try, and they work.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { envoyOrSkip } from './bookinfo.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const INTRODUCED_MS_MAX = 60_000;
const binary = await envoyOrSkip('test/e2e/demo.test.ts');

describe.runIf(binary !== undefined)('npm start', () => {
  it('serves the page, shifts with the file, and stops cleanly', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'periplus-demo-'));
    const child = spawn(process.execPath, [CLI, 'demo', '--folder', folder], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString('utf8');
      });
    }
    const ended = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)));
    try {
      await until(
        () => output.includes('Ctrl-C stops everything'),
        () => output,
      );
      const page = /open (http:\S+)/.exec(output)?.[1] ?? '';
      const version = async (): Promise<string> =>
        /reviews-(v[0-9])/.exec(await (await fetch(page)).text())?.[1] ?? 'none';
      expect(await version()).toBe('v1');
      const file = join(folder, 'bookinfo/config/reviews.yaml');
      const text = await readFile(file, 'utf8');
      await writeFile(
        file,
        text.replace('weight: 100', 'weight: X').replace('weight: 0', 'weight: 100').replace('weight: X', 'weight: 0'),
      );
      await until(
        async () => (await version()) === 'v3',
        () => output,
      );
    } finally {
      child.kill('SIGINT');
    }
    expect(await ended).toBe(0);
    expect(output).not.toMatch(/\terror\t/);
    await rm(folder, { recursive: true, force: true });
  });
});

async function until(holds: () => boolean | Promise<boolean>, explain: () => string): Promise<void> {
  const end = Date.now() + INTRODUCED_MS_MAX;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`did not come: ${explain()}`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
}
