// The edges of the journal's file: other names of it, who may read it, and what is known of it when its end or all of
// it is gone.

import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../src/journal/open.ts';
import { added, openHere, secret, temporaryDirectory } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.db');

async function closed(file: string, events: number): Promise<void> {
  const journal = await openJournal(file, { durability: 'off' });
  for (let i = 0; i < events; i++) await journal.append([added(`s${i}`)]);
  await journal.close();
}

describe('the lock of a journal', () => {
  it('holds for a symbolic link to the file, also one to a file that is to be made', async () => {
    const file = path();
    const link = join(dirname(file), 'link.db');
    symlinkSync('j.db', link);
    const journal = await openHere(link);
    await journal.append([added('a'), secret('s', { key: 'dmFsdWU=' })]);
    await expect(openJournal(file)).rejects.toMatchObject({ code: 'locked' });
    await expect(openJournal(link)).rejects.toMatchObject({ code: 'locked' });
    await journal.close();
    const again = await openHere(file);
    expect(again.head().seq).toBe(2);
  });

  it('holds for a file in a folder that is a link', async () => {
    const file = path();
    const folder = join(temporaryDirectory(), 'folder');
    symlinkSync(dirname(file), folder);
    await openHere(file);
    await expect(openJournal(join(folder, 'j.db'))).rejects.toMatchObject({ code: 'locked' });
  });

  it('refuses a file with a hard link, whose other name may have a writer', async () => {
    const file = path();
    const other = join(temporaryDirectory(), 'other.db');
    await openHere(file);
    linkSync(file, other);
    await expect(openJournal(other)).rejects.toMatchObject({ code: 'locked' });
    await expect(openJournal(other)).rejects.toThrow('2 names');
  });
});

describe('the files of a journal', () => {
  it('are for their owner alone', async () => {
    const umask = process.umask(0o022);
    try {
      const file = path();
      const journal = await openHere(file);
      await journal.append([secret('s', { key: 'dmFsdWU=' })]);
      for (const suffix of ['', '-wal', '-shm', '.lock', '.head', '.key']) {
        expect([suffix, statSync(file + suffix).mode & 0o777]).toEqual([suffix, 0o600]);
      }
    } finally {
      process.umask(umask);
    }
  });
});

describe('the file of a journal that its owner opened to others', () => {
  it.each([
    [0o644, 0o640],
    [0o666, 0o660],
    [0o640, 0o640],
  ])('is closed to all but owner and group when it is written: %o becomes %o', async (before, after) => {
    const file = path();
    await closed(file, 1);
    chmodSync(file, before);
    const journal = await openHere(file);
    await journal.append([added('a')]);
    expect(statSync(file).mode & 0o777).toBe(after);
  });
});

describe('a journal whose end is gone', () => {
  it('says which events were acknowledged and are missing when its write-ahead log is cut', async () => {
    const file = path();
    await closed(file, 3);
    const before = readFileSync(file);
    await closed(file, 2);
    // As if nothing of the second run's log had reached the disk.
    writeFileSync(file, before);
    const reader = await openHere(file, { readonly: true });
    expect(await reader.verify()).toMatchObject({ ok: false, findings: [{ kind: 'lost-tail', seq: 4 }] });
    const journal = await openHere(file);
    expect(journal.lost()).toEqual({ from: 4, to: 5 });
    await journal.append([added('new')]);
    expect(await journal.verify()).toMatchObject({ ok: true });
    await journal.close();
    expect((await openHere(file)).lost()).toBeUndefined();
  });

  it('is no new journal when it is emptied or removed: it is refused, with the head that is lost', async () => {
    const file = path();
    await closed(file, 3);
    truncateSync(file, 0);
    await expect(openJournal(file)).rejects.toMatchObject({ code: 'emptied' });
    await expect(openJournal(file)).rejects.toThrow(/is empty, and it held events up to 3 \(hash [0-9a-f]{64}\)/);
    rmSync(file);
    await expect(openJournal(file)).rejects.toThrow('is not there');
    rmSync(`${file}.head`);
    expect((await openHere(file)).head().seq).toBe(0);
  });

  it('is not suspected in a folder where there has never been one', async () => {
    const folder = join(temporaryDirectory(), 'new');
    mkdirSync(folder);
    expect((await openHere(join(folder, 'j.db'))).lost()).toBeUndefined();
  });
});
