// A journal that came from elsewhere: what is no file, and rows that no writer of ours made.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openForReading, openForWriting } from '../../../src/journal/sqlite-file.ts';
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
    ['kind = NULL', 'a column holds no text'],
    ['body = NULL', 'a column holds no text'],
    ['time = 9223372036854775808.0', 'the time 9223372036854776000 is none'],
  ])('names the row with %s', async (change, why) => {
    const path = join(temporaryDirectory(), 'j.db');
    const writing = await openHere(path);
    await writing.append([added('a'), added('b')]);
    await writing.close();
    const db = openForWriting(path);
    db.exec('CREATE TABLE loose AS SELECT * FROM event; DROP TABLE event; ALTER TABLE loose RENAME TO event');
    db.exec(`UPDATE event SET ${change} WHERE seq = 1`);
    db.close();
    const read = async (): Promise<void> => {
      const journal = await openHere(path, { readonly: true });
      for await (const page of journal.records({ from: 1, to: 2, secrets: 'redacted' })) expect(page).toBeDefined();
    };
    await expect(read()).rejects.toThrow(`${path}, seq 1: ${why}`);
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
});
