// A journal that came from elsewhere: what is no file, and rows that no writer of ours made.

import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { type Db, Sqlite } from '../../../src/journal/sqlite-driver.ts';
import { APPLICATION_ID, openForReading, openForWriting } from '../../../src/journal/sqlite-file.ts';
import { schemaText } from '../../../src/journal/sqlite-schema.ts';
import { added, openHere, temporaryDirectory } from './helpers.ts';

describe('a journal from elsewhere', () => {
  it('is refused at once if it is a pipe', () => {
    const here = temporaryDirectory();
    const pipe = join(here, 'pipe.db');
    execFileSync('mkfifo', [pipe]);
    expect(() => openForReading(pipe)).toThrow(`${pipe}: not a file`);
  });

  it.each([
    ['nested without end', `{"object":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['no JSON', 'nope'],
  ])('names the row whose body is %s, also where the chain is not checked', async (_, body) => {
    const path = join(temporaryDirectory(), 'j.db');
    const writing = await openHere(path);
    await writing.append([added('a'), added('b')]);
    await writing.close();
    const db = openForWriting(path);
    db.prepare('UPDATE event SET body = ? WHERE seq = 1').run(body);
    db.close();
    const journal = await openHere(path, { readonly: true });
    const read = async (): Promise<void> => {
      for await (const page of journal.records({ from: 1, to: 2, secrets: 'redacted' })) expect(page).toBeDefined();
    };
    await expect(read()).rejects.toThrow(`${path}, seq 1: the body is no JSON object, or nested too deep`);
  });

  it.each([
    [
      'view event',
      'DROP TABLE event; CREATE VIEW event AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq FROM n) SELECT * FROM n',
    ],
    ['trigger t', 'CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END'],
    ['virtual table v', 'CREATE VIRTUAL TABLE v USING fts5(a)'],
  ])('is refused if it has a %s, before anything is read', async (what, sql) => {
    const path = join(temporaryDirectory(), 'j.db');
    const writing = await openHere(path);
    await writing.append([added('a')]);
    await writing.close();
    const db = openForWriting(path);
    db.exec(sql);
    db.close();
    for (const open of [openForReading, openForWriting]) {
      expect(() => open(path)).toThrow(`${path}: it has a ${what}, which no journal has`);
    }
  });

  it.each([
    ['a generated column', 'ALTER TABLE event ADD COLUMN big TEXT AS (hex(zeroblob(1000000)))', 'table event'],
    [
      'looser columns',
      'CREATE TABLE l AS SELECT * FROM event; DROP TABLE event; ALTER TABLE l RENAME TO event',
      'event',
    ],
    ['a CHECK', rewritten('hash BLOB NOT NULL CHECK (length(hex(zeroblob(400000000))) > seq) --'), 'table event'],
    ['a collation', rewritten('hash BLOB COLLATE other NOT NULL --'), 'table event'],
    ['an index on an expression', 'CREATE INDEX slow ON event (length(hex(zeroblob(seq))))', 'index slow'],
    ['a table more', 'CREATE TABLE more (a)', 'table more'],
  ])('is refused if its schema has %s, before anything is read', async (_, change, named) => {
    const path = await journalOf([added('a')], db => {
      db.unsafeMode();
      db.exec(change);
    });
    expect(() => openForReading(path)).toThrow(expect.objectContaining({ code: 'foreign', path }));
    expect(() => openForReading(path)).toThrow(named);
  });

  it('is read with the statistics that ANALYZE makes', async () => {
    const path = await journalOf([added('a')], db => db.exec('ANALYZE'));
    expect(await (await openHere(path, { readonly: true })).verify()).toMatchObject({ ok: true });
  });

  it('is refused if its text is not UTF-8', () => {
    const path = join(temporaryDirectory(), 'j.db');
    const db = new Sqlite(path);
    db.pragma("encoding = 'UTF-16le'");
    db.exec(schemaText());
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma('user_version = 1');
    db.close();
    expect(() => openForReading(path)).toThrow(`${path}: its text is UTF-16le, and that of a journal UTF-8`);
  });

  it('is refused if its key or its lock is a pipe or a link', async () => {
    const path = await journalOf([added('a')]);
    execFileSync('mkfifo', [`${path}.key`]);
    await expect(openJournal(path, { readonly: true })).rejects.toThrow(`${path}.key: it stands where the key`);
    rmSync(`${path}.key`);
    rmSync(`${path}.lock`);
    symlinkSync(path, `${path}.lock`);
    await expect(openJournal(path)).rejects.toThrow(`${path}.lock: the lock of the journal is not a file`);
  });

  it('is not written if its lock runs programs of another', async () => {
    const path = await journalOf([added('a')]);
    rmSync(`${path}.lock`);
    const lock = new Sqlite(`${path}.lock`);
    lock.exec('CREATE TABLE owner (name TEXT NOT NULL); CREATE TRIGGER t BEFORE DELETE ON owner BEGIN SELECT 1; END');
    lock.close();
    await expect(openJournal(path)).rejects.toThrow(`${path}.lock: not the lock of a journal`);
  });

  it('does not wait for the writer of a pipe where the record of its head is', async () => {
    const path = await journalOf([added('a')]);
    rmSync(`${path}.head`);
    execFileSync('mkfifo', [`${path}.head`]);
    const journal = await openJournal(path, { durability: 'off' });
    expect(journal.lost()).toBeUndefined();
    await journal.append([added('b')]);
    await journal.close();
  });

  it('is refused if it claims more events than the file has bytes for', async () => {
    const path = await journalOf([added('a')], db =>
      db.exec("UPDATE meta SET value = 1000000000000 WHERE key = 'head_seq'"),
    );
    const opening = openJournal(path, { readonly: true });
    await expect(opening).rejects.toThrow(`${path}, seq 1000000000000: recorded as the last event`);
  });
});

/** Of the table of events: its last column is declared so. */
function rewritten(declared: string): string {
  return `PRAGMA writable_schema = ON;
    UPDATE sqlite_master SET sql = replace(sql, 'hash   BLOB    NOT NULL  --', '${declared}') WHERE name = 'event'`;
}

async function journalOf(facts: readonly Unrecorded[], change: (db: Db) => void = () => undefined): Promise<string> {
  const path = join(temporaryDirectory(), 'j.db');
  const journal = await openHere(path);
  await journal.append(facts);
  await journal.close();
  const db = new Sqlite(path);
  change(db);
  db.close();
  return path;
}
