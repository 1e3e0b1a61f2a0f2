// `npm start` a second time in one folder: the demo that runs there keeps its files.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal } from '../../../src/journal/open.ts';
import { periplus } from '../../history/running.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'periplus-demo-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test.each([[[]], [['--fresh']]])('the demo refuses %j and touches nothing', async flags => {
  const config = join(folder, 'bookinfo/config');
  await mkdir(config, { recursive: true });
  await writeFile(join(config, 'platform.yaml'), '# as it was\n');
  const running = await openJournal(join(folder, 'journal.db'), { clock: Date.now });
  try {
    const { code, err } = await periplus('demo', '--folder', folder, ...flags);
    expect([code, err]).toEqual([1, expect.stringContaining('is writing this journal')]);
    expect(await readFile(join(config, 'platform.yaml'), 'utf8')).toBe('# as it was\n');
  } finally {
    await running.close();
  }
});
