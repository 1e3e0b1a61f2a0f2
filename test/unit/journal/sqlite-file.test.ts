// The names of a journal's file, and the faults of a lock or a file that cannot be used.

import { linkSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultOf, lockFile, openForReading, openForWriting, realPath } from '../../../src/journal/sqlite-file.ts';
import { temporaryDirectory } from './helpers.ts';

const messageOf = (work: () => unknown): string => {
  try {
    work();
    return 'no fault';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the file behind a name', () => {
  const folder = (): string => realpathSync(temporaryDirectory());

  it('is that of a symbolic link, also one to a file that is to be made, through any number of links', () => {
    const here = folder();
    symlinkSync('j.db', join(here, 'link.db'));
    symlinkSync(join(here, 'link.db'), join(here, 'second.db'));
    expect(realPath(join(here, 'link.db'))).toBe(join(here, 'j.db'));
    expect(realPath(join(here, 'second.db'))).toBe(join(here, 'j.db'));
    writeFileSync(join(here, 'j.db'), '');
    expect(realPath(join(here, 'second.db'))).toBe(join(here, 'j.db'));
  });

  it('is in the folder that a link leads to, also if it is to be made', () => {
    const here = folder();
    const link = join(folder(), 'folder');
    symlinkSync(here, link);
    expect(realPath(join(link, 'j.db'))).toBe(join(here, 'j.db'));
  });

  it('is the name itself where links lead in a circle, or there is no folder', () => {
    const here = folder();
    symlinkSync('b.db', join(here, 'a.db'));
    symlinkSync('a.db', join(here, 'b.db'));
    expect(realPath(join(here, 'a.db'))).toBe(join(here, 'a.db'));
    expect(realPath(join(here, 'none', 'j.db'))).toBe(join(here, 'none', 'j.db'));
  });
});

describe('the lock of a journal', () => {
  it('that cannot be used is a fault of its file, and not a second writer', () => {
    const journal = join(temporaryDirectory(), 'j.db');
    writeFileSync(`${journal}.lock`, 'no database at all, and long enough to be looked at by SQLite'.repeat(20));
    const locking = (): unknown => lockFile(journal);
    expect(locking).toThrow(expect.objectContaining({ code: 'cannot-open', path: `${journal}.lock` }));
    expect(messageOf(locking)).toMatch(/\.lock: the journal cannot be opened \(SQLITE_NOTADB.*\); check that/);
  });

  it('is free again once it is given up', () => {
    const journal = join(temporaryDirectory(), 'j.db');
    lockFile(journal)();
    const unlock = lockFile(journal);
    expect(() => lockFile(journal)).toThrow(expect.objectContaining({ code: 'locked', path: journal }));
    unlock();
  });

  it('is refused to a file of two names, with what to do', () => {
    const here = temporaryDirectory();
    writeFileSync(join(here, 'j.db'), '');
    linkSync(join(here, 'j.db'), join(here, 'other.db'));
    const file = join(here, 'other.db');
    expect(messageOf(() => lockFile(file))).toBe(
      `${file}: the file has 2 names (hard links), so another process may be writing it: the lock and the write-ahead log go by its name; remove the other names, or copy the file`,
    );
  });
});

describe('a file that is no journal', () => {
  it.each([
    ['SQLite f', 'damaged', 'the file was truncated: 8 bytes, less than the header of a journal'],
    ['S', 'damaged', 'the file was truncated: 1 bytes, less than the header of a journal'],
    ['format 3', 'foreign', 'not a Periplus journal (nor any SQLite file); give another path'],
    ['SQLite format 4, or what', 'foreign', 'not a Periplus journal (nor any SQLite file); give another path'],
  ])('differs from one that lost its end by how it begins: %j', (text, code, message) => {
    const file = join(temporaryDirectory(), 'j.db');
    writeFileSync(file, text);
    for (const open of [openForReading, openForWriting]) {
      expect(() => open(file)).toThrow(expect.objectContaining({ code, path: file }));
      expect(messageOf(() => open(file))).toContain(message);
    }
  });

  it.each([
    [4_096, 2, 8_192],
    // How SQLite writes the largest size, which two bytes cannot hold.
    [1, 1, 65_536],
  ])('is cut off if it has fewer pages than its header says: of %j, %j', (pageSize, pages, bytes) => {
    const file = join(temporaryDirectory(), 'j.db');
    const header = Buffer.alloc(4_096);
    header.write('SQLite format 3\0', 'latin1');
    header.writeUInt16BE(pageSize, 16);
    header.writeUInt32BE(pages, 28);
    writeFileSync(file, header);
    expect(messageOf(() => openForReading(file))).toBe(
      `${file}: the file was truncated: it has 4096 bytes and should have ${bytes}; restore it from a copy`,
    );
  });

  it('is a folder, too', () => {
    const folder = join(temporaryDirectory(), 'j.db');
    mkdirSync(folder);
    for (const open of [openForReading, openForWriting]) {
      expect(() => open(folder)).toThrow(expect.objectContaining({ code: 'cannot-open', path: folder }));
    }
  });
});

describe('an error of SQLite', () => {
  const error = (code: string): Error => Object.assign(new Error('broken'), { code });

  it.each(['SQLITE_CORRUPT', 'SQLITE_CORRUPT_INDEX', 'SQLITE_NOTADB', 'SQLITE_ERROR'])('%s is damage', code => {
    const cause = error(code);
    expect(faultOf(cause, 'j.db', 7)).toMatchObject({ code: 'damaged', path: 'j.db', seq: 7, cause });
    expect(faultOf(cause, 'j.db', 7).message).toBe(
      `j.db, seq 7: the file is damaged; restore it from a copy, or save what is readable with \`journal export\` (${code}: broken)`,
    );
  });

  it('of another kind is no damage, and a fault stays what it is', () => {
    const cause = error('SQLITE_BUSY');
    const fault = faultOf(cause, 'j.db');
    expect(fault).toMatchObject({ code: 'cannot-open', path: 'j.db', cause });
    expect(fault.message).toBe(
      'j.db: the journal cannot be opened (SQLITE_BUSY: broken); check that the directory exists and that this user may read and write it',
    );
    expect(faultOf(fault, 'other.db')).toBe(fault);
  });
});
