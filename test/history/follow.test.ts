// `journal ls --follow` as a process: it waits for events that another process appends, and ends when interrupted.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openJournal } from '../../src/journal/open.ts';
import { openSamples, type Samples } from './fixtures.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const WAIT_MS_MAX = 120_000;
let samples: Samples;

beforeAll(async () => {
  samples = await openSamples('bookinfo-day');
});
afterAll(() => samples.remove());

describe('journal ls --follow', () => {
  it(
    'lists what is appended while it runs, and ends in peace when interrupted',
    async () => {
      const path = samples.path('bookinfo-day');
      const args = ['--import', 'tsx', MAIN, 'journal', 'ls', '--follow', '--tail', '1', '--journal', path];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let said = '';
      const saw = (word: string): Promise<void> =>
        new Promise(resolve => {
          child.stdout.on('data', () => said.includes(word) && resolve());
          if (said.includes(word)) resolve();
        });
      child.stdout.on('data', (bytes: Buffer) => (said += String(bytes)));
      try {
        await Promise.race([saw('Receipt'), ended]);
        const journal = await openJournal(path, { durability: 'off' });
        await journal.append([{ source: 'file/later', kind: 'Synced' }]);
        await journal.close();
        await Promise.race([saw('file/later'), ended]);
        expect(said).toContain('file/later');
        child.kill('SIGINT');
        expect(await ended).toEqual([0, null]);
      } finally {
        child.kill('SIGKILL');
      }
    },
    WAIT_MS_MAX,
  );
});
