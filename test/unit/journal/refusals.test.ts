// What the journal says when it refuses a file, a fact or a task, word for word: an operator acts on it.

import { copyFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import type { Event, Unrecorded } from '../../../src/core/event.ts';
import { BODY_CHARS_MAX, BODY_DEPTH_MAX } from '../../../src/journal/journal.ts';
import { JournalOnStore } from '../../../src/journal/journal-on-store.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { SEGMENT_FACTS_MAX } from '../../../src/journal/segments.ts';
import { type Db, Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { OPEN_CHECK_EVENTS, openSqliteStore } from '../../../src/journal/sqlite-store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { added, all, openHere, temporaryDirectory, tickingClock } from './helpers.ts';

const EVENTS = OPEN_CHECK_EVENTS + 5;
const CUT = 8_192;

/** The file of a journal of some more events than opening checks. Made once. */
let made: Promise<Buffer> | undefined;
async function make(): Promise<Buffer> {
  const file = join(temporaryDirectory(), 'j.db');
  const journal = await openJournal(file, { durability: 'off', clock: tickingClock() });
  await journal.append(Array.from({ length: EVENTS }, (_, i) => added(`s${i}`)));
  await journal.close();
  return readFileSync(file);
}
async function fileAfter(damage: (db: Db) => void = () => undefined): Promise<string> {
  made ??= make();
  const file = join(temporaryDirectory(), 'j.db');
  writeFileSync(file, await made);
  const db = new Sqlite(file);
  damage(db);
  db.close();
  return file;
}
const sql =
  (text: string) =>
  (db: Db): void =>
    void db.exec(text);

describe('opening a journal for reading says', () => {
  const refused = async (file: string): Promise<unknown> =>
    openJournal(file, { readonly: true }).then(
      () => 'opened',
      (error: Error) => error.message,
    );

  it('that there is none', async () => {
    const file = join(temporaryDirectory(), 'j.db');
    expect(await refused(file)).toBe(`${file}: there is no journal here`);
    writeFileSync(file, '');
    expect(await refused(file)).toBe(`${file}: there is no journal here`);
  });

  it('that it is another file', async () => {
    const file = join(temporaryDirectory(), 'j.db');
    writeFileSync(file, 'SQLite format 2');
    expect(await refused(file)).toBe(`${file}: not a Periplus journal (nor any SQLite file); give another path`);
    const other = new Sqlite(`${file}.other`);
    other.exec('CREATE TABLE mine (a)');
    other.close();
    expect(await refused(`${file}.other`)).toBe(
      `${file}.other: an SQLite file, but not a Periplus journal; give another path`,
    );
  });

  it('that a newer release wrote it', async () => {
    const file = await fileAfter(db => db.pragma('user_version = 7'));
    expect(await refused(file)).toBe(
      `${file}: written by a newer release (format 7; this one reads up to 1); use that release, or export the journal with it`,
    );
  });

  it('that it is cut off, unless its log completes it', async () => {
    const file = await fileAfter();
    const size = readFileSync(file).length;
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    truncateSync(copy, 50);
    const advice = 'restore it from a copy';
    expect(await refused(copy)).toBe(
      `${copy}: the file was truncated: 50 bytes, less than the header of a journal; ${advice}`,
    );
    truncateSync(file, CUT);
    const text = `${file}: the file was truncated: it has ${CUT} bytes and should have ${size}; ${advice}`;
    expect(await refused(file)).toBe(text);
    writeFileSync(`${file}-wal`, '');
    expect(await refused(file)).toBe(text);
    writeFileSync(`${file}-wal`, 'x');
    expect(await refused(file)).not.toBe(text);
  });
});

describe('opening a journal for writing says', () => {
  const advice = 'restore the file from a copy; `journal verify` tells more';
  it.each<[string, string, number, string]>([
    ['that an event is missing', 'DELETE FROM event WHERE seq = 490', 490, 'this event is missing'],
    ['that one is missing before those it checks', 'DELETE FROM event WHERE seq = 5', 6, 'this event is missing'],
    ['where the chain breaks', "UPDATE event SET body = '{}' WHERE seq = 490", 490, 'the chain breaks here'],
    [
      'that the end is missing',
      'DELETE FROM event WHERE seq > 490',
      491,
      'events are missing up to the recorded last one, 505',
    ],
    [
      'that there are events too many',
      "UPDATE meta SET value = 490 WHERE key = 'head_seq'",
      491,
      'there are events after the recorded last one, 490',
    ],
    [
      'that the last one is another',
      "UPDATE meta SET value = zeroblob(32) WHERE key = 'head_hash'",
      505,
      'it is not the recorded last',
    ],
  ])('%s', async (_what, text, seq, what) => {
    const file = await fileAfter(sql(text));
    await expect(openJournal(file)).rejects.toMatchObject({
      code: 'damaged',
      message: `${file}, seq ${seq}: ${what}; ${advice}`,
    });
  });

  it('who writes it', async () => {
    const file = await fileAfter();
    await openHere(file);
    await expect(openJournal(file)).rejects.toMatchObject({
      message: `${file}: process ${process.pid} on ${hostname()} is writing this journal; stop it, or open it for reading only`,
    });
  });

  it('nothing of a compaction that was interrupted, and goes on with it', async () => {
    const file = await fileAfter(db => {
      const hash = db.prepare('SELECT hash FROM event WHERE seq = 100').pluck().get() as Buffer;
      db.prepare("UPDATE meta SET value = ? WHERE key = 'base_hash'").run(hash);
      db.exec("UPDATE meta SET value = 100 WHERE key = 'base_seq'; DELETE FROM event WHERE seq <= 40");
    });
    const journal = await openHere(file);
    expect(await journal.verify()).toMatchObject({ ok: true, events: EVENTS - 100 });
    const db = new Sqlite(file);
    expect(db.prepare('SELECT min(seq) FROM event').pluck().get()).toBe(101);
    db.close();
  });
});

describe('reading a journal says', () => {
  it('where the chain breaks, or an event is missing, whichever way it is read', async () => {
    const broken = await fileAfter(sql("UPDATE event SET body = '{}' WHERE seq = 7"));
    const hole = await fileAfter(sql('DELETE FROM event WHERE seq = 7'));
    const said = [
      [broken, `${broken}, seq 7: the chain breaks here; \`journal verify\` tells which column was changed`],
      [hole, `${hole}, seq 7: this event is missing; restore the journal from a copy`],
    ] as const;
    for (const [file, message] of said) {
      const journal = await openHere(file, { readonly: true });
      await expect(all(journal.read({ from: 1 }))).rejects.toMatchObject({ code: 'damaged', message });
      await expect(all(journal.readUnparsed({ from: 1 }))).rejects.toMatchObject({ code: 'damaged', message });
      await expect(journal.follow(1, () => undefined).done).rejects.toMatchObject({ code: 'damaged', message });
    }
    const behind = await openHere(hole, { readonly: true });
    const message = said[1][1];
    await expect(all(behind.read({ from: 8 }))).rejects.toMatchObject({ message });
    await expect(behind.follow(8, () => undefined).done).rejects.toMatchObject({ message });
    await expect(all(behind.records({ from: 7 }))).rejects.toMatchObject({ message });
  });

  it('that a snapshot was deleted while it was read', async () => {
    const vault = new Vault({ keyFile: undefined, recorded: undefined, readonly: false });
    const journal = new JournalOnStore(new MemoryStore(), vault, tickingClock());
    await journal.append([added('a')]);
    const facts = Array.from({ length: 2 * SEGMENT_FACTS_MAX }, (_, n) => ({ source: 'x', fact: { n } }));
    await journal.snapshots.write({ seq: 1, format: 1, facts });
    const pages = (await journal.snapshots.read())!.facts[Symbol.asyncIterator]();
    expect((await pages.next()).value).toHaveLength(SEGMENT_FACTS_MAX);
    await journal.snapshots.drop(1);
    await expect(pages.next()).rejects.toMatchObject({
      code: 'damaged',
      message: 'memory, seq 1: segment 2 of the snapshot was deleted while it was read',
    });
  });

  it('that it is for reading only, whatever is to be written', async () => {
    const file = await fileAfter();
    const journal = await openHere(file, { readonly: true });
    const carried = journal.carriedFrom(journal.toLines([added('a')]), 1);
    const message = `${file}: the journal was opened for reading only`;
    const tasks = [
      journal.append([added('a')]),
      journal.appendCarried(carried),
      journal.compact(1),
      journal.snapshots.drop(1),
      journal.snapshots.write({ seq: 1, format: 1, facts: [] }),
    ];
    for (const task of tasks) await expect(task).rejects.toMatchObject({ code: 'read-only', message });
    expect(existsSync(`${file}.lock`)).toBe(false);
    const store = await openSqliteStore(file, { durability: 'off', readonly: true, fileBytesMax: undefined });
    await expect(store.trim(1)).rejects.toMatchObject({ message: `${file}: opened for reading only` });
    await store.close();
  });
});

describe('recording a fact', () => {
  const fact = (value: unknown): Unrecorded => ({ source: 'file/x', kind: 'MeshConfig', value: value as Json });
  const deep = (levels: number): Json => (levels === 0 ? 1 : [deep(levels - 1)]);

  it('says why one cannot be recorded', async () => {
    const journal = openMemoryJournal();
    const refused = async (value: unknown): Promise<string> =>
      journal.append([fact(value)]).then(
        () => 'recorded',
        (error: Error) => error.message,
      );
    const begin = 'a fact of kind MeshConfig cannot be recorded';
    expect(await refused(deep(BODY_DEPTH_MAX - 1))).toBe('recorded');
    expect(await refused(deep(BODY_DEPTH_MAX))).toBe(`${begin}: nested deeper than ${BODY_DEPTH_MAX} levels`);
    expect(await refused(1n)).toBe(`${begin}: a bigint is not JSON`);
    expect(await refused(Symbol('x'))).toBe(`${begin}: a symbol is not JSON`);
    const long = 'x'.repeat(BODY_CHARS_MAX);
    const chars = JSON.stringify({ value: long }).length;
    expect(await refused(long)).toBe(`${begin}: ${chars} characters of JSON, more than ${BODY_CHARS_MAX}`);
  });

  it('says the same of a fact of a snapshot', async () => {
    const journal = openMemoryJournal();
    await journal.append([added('a')]);
    const facts = [{ source: 'x', fact: { value: deep(BODY_DEPTH_MAX) } }];
    await expect(journal.snapshots.write({ seq: 1, format: 1, facts })).rejects.toThrow(
      `a fact of kind snapshot cannot be recorded: nested deeper than ${BODY_DEPTH_MAX} levels`,
    );
  });

  it.each<[string, unknown, unknown]>([
    ['a number that is none', { n: Number.NaN }, { n: null }],
    ['a negative zero', { n: -0 }, { n: 0 }],
    ['an undefined member', { a: undefined, b: 1 }, { b: 1 }],
    ['an object of a class', { at: new URL('http://a.example/') }, { at: {} }],
  ])('gives what is stored of %s, not what was given', async (_what, given, stored) => {
    const journal = openMemoryJournal();
    const [event] = (await journal.append([fact(given)])) as readonly (Event & { readonly value: unknown })[];
    expect(event?.value).toStrictEqual(stored);
    expect(await all(journal.read({ from: 1 }))).toStrictEqual([event]);
  });
});
