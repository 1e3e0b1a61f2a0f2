// The journal as a file: what is refused and how, the lock, reopening, writing that fails.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openJournal } from '../../../src/journal/open.ts';
import { Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { OPEN_CHECK_EVENTS } from '../../../src/journal/sqlite-store.ts';
import { added, all, bySeq, openHere, temporaryDirectory, tickingClock, until } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.db');

test('a journal file continues where it stopped, in every durability', async () => {
  const file = path();
  let seq = 0;
  for (const durability of ['full', 'normal', 'off'] as const) {
    const journal = await openJournal(file, { durability, clock: tickingClock(1_000) });
    expect(bySeq(await journal.append([added('a'), added('b')]))).toEqual([seq + 1, seq + 2]);
    seq += 2;
    await journal.close();
  }
  const journal = await openHere(file, { readonly: true });
  expect(bySeq(await all(journal.read({ from: 1 })))).toEqual([1, 2, 3, 4, 5, 6]);
  expect(await journal.verify()).toMatchObject({ ok: true, events: 6 });
});

test('a journal file is a single file once it is closed', async () => {
  const file = path();
  const journal = await openJournal(file);
  await journal.append([added('a')]);
  await journal.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  expect(existsSync(`${file}.key`)).toBe(false);
});

test('a journal file has one writer, and names it to a second one', async () => {
  const file = path();
  const journal = await openJournal(file);
  const second = openJournal(file);
  await expect(second).rejects.toMatchObject({ code: 'locked', path: file });
  await expect(second).rejects.toThrow(`process ${process.pid} on `);
  await journal.append([added('a')]);
  await journal.close();
  const third = await openHere(file);
  expect(third.head().seq).toBe(1);
});

test('a journal file can be read and followed while another process writes', async () => {
  const file = path();
  const writer = await openHere(file);
  await writer.append([added('a')]);
  const reader = await openHere(file, { readonly: true });
  const seen: number[] = [];
  const follow = reader.follow(1, events => void seen.push(...bySeq(events)));
  await writer.append([added('b')]);
  await until(() => seen.length === 2);
  await writer.append([added('c')]);
  await until(() => seen.length === 3);
  await follow.stop();
  expect(seen).toEqual([1, 2, 3]);
  expect((await reader.verify()).ok).toBe(true);
  await expect(reader.append([added('d')])).rejects.toMatchObject({ code: 'read-only' });
  await expect(reader.snapshots.drop(1)).rejects.toMatchObject({ code: 'read-only' });
});

test('opening refuses a text file', async () => {
  const file = path();
  writeFileSync(file, 'apiVersion: v1\nkind: Service\n'.repeat(20));
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'foreign', path: file });
  await expect(openJournal(file)).rejects.toThrow('not a Periplus journal');
  expect(readFileSync(file, 'utf8')).toContain('kind: Service');
});

test('opening refuses the SQLite file of another program and leaves it unchanged', async () => {
  const file = path();
  const db = new Sqlite(file);
  db.exec('CREATE TABLE mine (a)');
  db.close();
  const before = readFileSync(file);
  for (const readonly of [false, true]) {
    await expect(openJournal(file, { readonly })).rejects.toMatchObject({ code: 'foreign' });
  }
  expect(readFileSync(file).equals(before)).toBe(true);
});

test('opening refuses a newer format', async () => {
  const file = await closedJournal(3);
  const db = new Sqlite(file);
  db.pragma('user_version = 7');
  db.close();
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'newer-format', path: file });
  await expect(openJournal(file)).rejects.toThrow('format 7; this one reads up to 1');
});

test.each<[string, string, string]>([
  ['a format of zero', 'PRAGMA user_version = 0', 'the format number is 0'],
  ['a seq below zero', "UPDATE meta SET value = -1 WHERE key = 'head_seq'", 'head_seq of the journal itself'],
  ['a seq that is text', "UPDATE meta SET value = 'x' WHERE key = 'base_seq'", 'base_seq of the journal itself'],
  ['a time that is no whole number', "UPDATE meta SET value = 0.5 WHERE key = 'head_time'", 'or not a number'],
  ['a hash that is text', "UPDATE meta SET value = 'x' WHERE key = 'head_hash'", 'head_hash of the journal itself'],
  ['no hash', "DELETE FROM meta WHERE key = 'base_hash'", 'is missing or not a hash'],
])('opening refuses %s', async (_what, sql, message) => {
  const file = await closedJournal(1);
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
  for (const readonly of [true, false]) {
    const opening = openJournal(file, { readonly });
    await expect(opening).rejects.toMatchObject({ code: 'damaged', path: file });
    await expect(opening).rejects.toThrow(message);
  }
});

test('a journal that is longer than what opening checks is opened and continued', async () => {
  const file = await closedJournal(OPEN_CHECK_EVENTS + 2);
  const journal = await openHere(file);
  expect(bySeq(await journal.append([added('a')]))).toEqual([OPEN_CHECK_EVENTS + 3]);
  expect((await journal.verify()).ok).toBe(true);
});

test.each([
  ['in the header', 50],
  ['in the middle', 40_000],
])('opening refuses a file cut off %s', async (_where, size) => {
  const file = await closedJournal(500);
  expect(statSync(file).size).toBeGreaterThan(size);
  truncateSync(file, size);
  for (const readonly of [false, true]) {
    const opening = openJournal(file, { readonly });
    await expect(opening).rejects.toMatchObject({ code: 'damaged', path: file });
    await expect(opening).rejects.toThrow('truncated');
  }
});

test('overwritten pages are refused when the file is opened or when they are read', async () => {
  const file = await closedJournal(500);
  const bytes = readFileSync(file);
  bytes.fill(0x5a, 8 * 4096, 20 * 4096);
  writeFileSync(file, bytes);
  const failure = await (async () => {
    const journal = await openJournal(file, { readonly: true });
    try {
      await all(journal.read({ from: 1 }));
      return undefined;
    } catch (error) {
      return error;
    } finally {
      expect((await journal.verify()).ok).toBe(false);
      await journal.close();
    }
  })();
  expect(failure).toMatchObject({ code: 'damaged', path: file });
});

test.each<[string, string, number]>([
  ['a changed byte near the end', "UPDATE event SET body = replace(body, 's498', 's49X') WHERE seq = 499", 499],
  ['a hole near the end', 'DELETE FROM event WHERE seq = 480', 480],
  ['a lost tail', 'DELETE FROM event WHERE seq > 490', 491],
  ['rows beyond the head', "UPDATE meta SET value = 470 WHERE key = 'head_seq'", 471],
])('a writer refuses to append after %s', async (_what, sql, seq) => {
  const file = await closedJournal(500);
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'damaged', path: file, seq });
  // Looking is still allowed, so that what is wrong can be seen and the rest saved.
  const reader = await openHere(file, { readonly: true });
  const verdict = await reader.verify();
  expect(verdict.ok).toBe(false);
  expect(verdict.findings.map(finding => finding.seq)).toContain(seq === 471 ? 470 : seq);
});

test('a read stops at a changed event, and names it', async () => {
  const file = await closedJournal(500);
  const db = new Sqlite(file);
  db.exec("UPDATE event SET body = replace(body, 's99', 's9X') WHERE seq = 100");
  db.close();
  const journal = await openHere(file, { readonly: true });
  expect(await all(journal.read({ from: 1, to: 99 }))).toHaveLength(99);
  await expect(all(journal.read({ from: 1 }))).rejects.toMatchObject({ code: 'damaged', seq: 100, path: file });
});

test('an empty file is a new journal, and a reader does not create a missing one', async () => {
  const file = path();
  await expect(openJournal(file, { readonly: true })).rejects.toMatchObject({ code: 'cannot-open', path: file });
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, '');
  const journal = await openHere(file);
  expect(bySeq(await journal.append([added('a')]))).toEqual([1]);
});

test('a missing directory is reported', async () => {
  const file = join(temporaryDirectory(), 'none', 'j.db');
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'cannot-open' });
  await expect(openJournal(file)).rejects.toThrow('check that the directory exists');
});

test('an append to a full disk fails, the journal stays whole, and a later append succeeds', async () => {
  const file = path();
  const journal = await openHere(file, { fileBytesMax: 400_000 });
  const kept = await journal.append([added('kept')]);
  const large = () => added('large', { text: 'x'.repeat(1_000_000) });
  const failed = [journal.append([added('before'), large()]), journal.append([added('behind')])];
  const outcomes = await Promise.allSettled(failed);
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'write-failed', path: file } });
    expect(String((outcome as PromiseRejectedResult).reason)).toContain('SQLITE_FULL');
  }
  expect(journal.head().seq).toBe(1);
  const later = await journal.append([added('later')]);
  expect(bySeq(later)).toEqual([2]);
  expect(await all(journal.read({ from: 1 }))).toEqual([...kept, ...later]);
  expect((await journal.verify()).ok).toBe(true);
});

test('appends queued behind a failing group fail with it, and the next one is tried anew', async () => {
  const file = path();
  const journal = await openHere(file, { fileBytesMax: 400_000 });
  const failing = journal.append([added('large', { text: 'x'.repeat(1_000_000) })]);
  await Promise.resolve();
  await Promise.resolve();
  const behind = journal.append([added('behind')]);
  const follow: number[] = [];
  const following = journal.follow(1, events => void follow.push(...bySeq(events)));
  await expect(failing).rejects.toMatchObject({ code: 'write-failed' });
  await expect(behind).rejects.toMatchObject({ code: 'write-failed' });
  expect(bySeq(await journal.append([added('later')]))).toEqual([1]);
  await until(() => follow.length === 1);
  await following.stop();
  expect(follow).toEqual([1]);
});

test('a file and write-ahead log left by kill -9 open for writing and for reading', async () => {
  const file = path();
  const journal = await openHere(file);
  const events = await journal.append([added('a'), added('b')]);
  const copy = path();
  for (const suffix of ['', '-wal']) copyFileSync(file + suffix, copy + suffix);
  const reader = await openJournal(copy, { readonly: true });
  expect(await all(reader.read({ from: 1 }))).toEqual(events);
  await reader.close();
  const writer = await openHere(copy);
  expect(bySeq(await writer.append([added('c')]))).toEqual([3]);
  expect((await writer.verify()).ok).toBe(true);
});

test('a program that awaits close exits, and so does one that forgets to close', async () => {
  const open = new URL('../../../src/journal/open.ts', import.meta.url).href;
  const program = (end: string) => `
    const { openJournal } = await import(${JSON.stringify(open)});
    const journal = await openJournal(process.argv[1]);
    await journal.append([{ source: 'x', kind: 'Synced' }]);
    await journal.append([{ source: 'x', kind: 'Synced' }]);
    ${end}
    console.log('end at seq ' + journal.head().seq);`;
  const run = (end: string) =>
    execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program(end), path()], {
      encoding: 'utf8',
      cwd: fileURLToPath(new URL('../../..', import.meta.url)),
      timeout: 300_000,
    });
  for (let time = 0; time < 3; time += 1) expect(run('await journal.close();')).toBe('end at seq 2\n');
  expect(run('')).toBe('end at seq 2\n');
});

async function closedJournal(events: number): Promise<string> {
  const file = path();
  const journal = await openJournal(file, { durability: 'off', clock: tickingClock() });
  await journal.append(Array.from({ length: events }, (_, index) => added(`s${index}`)));
  await journal.close();
  return file;
}
