// The journal as a file: recognising it before it is used, creating it, and the lock that admits a single writer.
//
// A new file gets its schema, application_id and format in one transaction *before* it is switched to WAL, so that a
// crash leaves either an empty file (which counts as none) or a journal. The lock is a small SQLite file beside the
// journal whose write lock is held for as long as the journal is open: the operating system releases it however the
// process ends.

import {
  chmodSync,
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { CHAIN_START } from './chain.ts';
import { errorCode, errorText, JournalFault } from './fault.ts';
import { headRecordPath, readHeadRecord } from './head-record.ts';
import { type Db, Sqlite } from './sqlite-driver.ts';
import { LOCK_SCHEMA, refuseOtherLock, refuseOtherSchema, schemaText } from './sqlite-schema.ts';
import type { StoredBase } from './store.ts';

/** "PERI" */
export const APPLICATION_ID = 0x50455249;
export const FORMAT = 1;
/** How long a reader waits for a writer that is just switching or checkpointing. */
export const BUSY_TIMEOUT_MS = 5_000;

/** Read and write for the owner only. The owner may later let the group read. */
const OWNER_ONLY = 0o600;
const OTHERS = 0o007;
const SQLITE_MAGIC = 'SQLite format 3\0';
const SQLITE_HEADER_BYTES = 100;
const FROM_THE_START: StoredBase = { seq: 0, hash: CHAIN_START };

/** False: there is no such file, or an empty one. Faults: `foreign`, `damaged`, `cannot-open`. */
function inspectFile(path: string): boolean {
  const header = Buffer.alloc(SQLITE_HEADER_BYTES);
  let size: number;
  let read: number;
  try {
    // To open a pipe would wait for its writer.
    const found = statSync(path);
    if (!found.isFile() && !found.isDirectory()) {
      throw new JournalFault('foreign', 'not a file; give another path', { path });
    }
    const file = openSync(path, 'r');
    try {
      size = fstatSync(file).size;
      read = readSync(file, header, 0, SQLITE_HEADER_BYTES, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof JournalFault) throw error;
    if (errorCode(error) === 'ENOENT') return false;
    throw cannotOpen(path, error);
  }
  if (size === 0) return false;
  const magic = header.toString('latin1', 0, Math.min(SQLITE_MAGIC.length, read));
  if (!SQLITE_MAGIC.startsWith(magic)) {
    throw new JournalFault('foreign', 'not a Periplus journal (nor any SQLite file); give another path', { path });
  }
  if (read < SQLITE_HEADER_BYTES) throw truncated(path, `${size} bytes, less than the header of a journal`);
  checkSize(path, header, size);
  return true;
}

/** A file shorter than it says, unless a write-ahead log stands beside it, from which SQLite completes it. */
function checkSize(path: string, header: Buffer, size: number): void {
  const log = `${path}-wal`;
  if (existsSync(log) && statSync(log).size > 0) return;
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const expected = header.readUInt32BE(28) * pageSize;
  if (size < expected) throw truncated(path, `it has ${size} bytes and should have ${expected}`);
}

/**
 * The file behind symbolic links, which may not exist yet: the lock, the write-ahead log and the other files beside a
 * journal are named after it, so that it has one writer by whatever name it is opened.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') return path;
    // A link to a journal that is to be made, or a name in a folder that may be a link.
    const target = readLink(path);
    if (target !== undefined && target !== path) return realPath(target);
    try {
      return join(realpathSync(dirname(path)), basename(path));
    } catch {
      return path;
    }
  }
}

function readLink(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

/** A journal that held events and is empty now, or gone, is not a new one. Faults: `emptied`. */
export function refuseEmptied(path: string): void {
  const record = readHeadRecord(path);
  if (record === undefined || record.seq === 0) return;
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size !== undefined && size > 0) return;
  const how = size === undefined ? 'is not there' : 'is empty';
  throw new JournalFault(
    'emptied',
    `the journal ${how}, and it held events up to ${record.seq} (hash ${record.hash}); restore it from a copy, or remove ${headRecordPath(path)} to begin a new one`,
    { path },
  );
}

/**
 * Creates the schema if the file is empty (`start`: where its chain starts), then checks what the file is. Faults: as
 * inspectFile, `newer-format`.
 */
export function openForWriting(path: string, start: StoredBase = FROM_THE_START): Db {
  const existed = inspectFile(path);
  keepPrivate(path);
  const db = connect(path, false);
  return guarded(db, path, () => {
    if (!existed) createSchema(db, start);
    checkIdentity(db, path);
    db.pragma('journal_mode = WAL');
  });
}

export function openForReading(path: string): Db {
  if (!inspectFile(path)) throw new JournalFault('cannot-open', 'there is no journal here', { path });
  const db = connect(path, true);
  return guarded(db, path, () => checkIdentity(db, path));
}

/** SQLite gives the files that it makes beside this one the same rights. */
function keepPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', OWNER_ONLY));
    const mode = statSync(path).mode & 0o777;
    if ((mode & OTHERS) !== 0) chmodSync(path, mode & ~OTHERS);
  } catch {
    // Opening the file reports its damage.
  }
}

function connect(path: string, readonly: boolean): Db {
  try {
    return new Sqlite(path, { readonly, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function guarded(db: Db, path: string, work: () => void): Db {
  try {
    work();
    return db;
  } catch (error) {
    db.close();
    throw faultOf(error, path);
  }
}

function createSchema(db: Db, start: StoredBase): void {
  db.transaction(() => {
    db.exec(schemaText());
    const set = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)');
    set.run('base_seq', start.seq);
    set.run('base_hash', start.hash);
    set.run('head_seq', start.seq);
    set.run('head_time', 0);
    set.run('head_hash', start.hash);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${FORMAT}`);
  })();
}

function checkIdentity(db: Db, path: string): void {
  const id = db.pragma('application_id', { simple: true });
  if (id !== APPLICATION_ID) {
    throw new JournalFault('foreign', 'an SQLite file, but not a Periplus journal; give another path', { path });
  }
  const format = db.pragma('user_version', { simple: true }) as number;
  if (format > FORMAT) {
    throw new JournalFault(
      'newer-format',
      `written by a newer release (format ${format}; this one reads up to ${FORMAT}); use that release, or export the journal with it`,
      { path },
    );
  }
  if (format < 1) throw new JournalFault('damaged', `the format number is ${format}`, { path });
  refuseOtherSchema(db, path);
}

/** Any error of SQLite while reading or opening, as a fault that says where. */
export function faultOf(error: unknown, path: string, seq?: number): JournalFault {
  if (error instanceof JournalFault) return error;
  const code = errorCode(error);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB' || code === 'SQLITE_ERROR') {
    const advice = 'the file is damaged; restore it from a copy, or save what is readable with `journal export`';
    return new JournalFault('damaged', `${advice} (${errorText(error)})`, { path, seq, cause: error });
  }
  return cannotOpen(path, error);
}

function cannotOpen(path: string, error: unknown): JournalFault {
  const advice = 'check that the directory exists and that this user may read and write it';
  return new JournalFault('cannot-open', `the journal cannot be opened (${errorText(error)}); ${advice}`, {
    path,
    cause: error,
  });
}

function truncated(path: string, how: string): JournalFault {
  return new JournalFault('damaged', `the file was truncated: ${how}; restore it from a copy`, { path });
}

/** Held until the returned function is called or the process ends. Faults: `locked`, `cannot-open`. */
export function lockFile(journalPath: string): () => void {
  const names = statSync(journalPath, { throwIfNoEntry: false })?.nlink ?? 1;
  if (names > 1) {
    const advice = 'the lock and the write-ahead log go by its name; remove the other names, or copy the file';
    throw new JournalFault(
      'locked',
      `the file has ${names} names (hard links), so another process may be writing it: ${advice}`,
      {
        path: journalPath,
      },
    );
  }
  const path = `${journalPath}.lock`;
  let db: Db;
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) {
    throw new JournalFault('cannot-open', 'the lock of the journal is not a file; remove it', { path });
  }
  keepPrivate(path);
  try {
    db = new Sqlite(path, { timeout: 0 });
  } catch (error) {
    throw cannotOpen(journalPath, error);
  }
  try {
    refuseOtherLock(db, path);
    db.exec(`BEGIN IMMEDIATE; ${LOCK_SCHEMA}; DELETE FROM owner`);
    db.prepare('INSERT INTO owner VALUES (?)').run(`process ${process.pid} on ${hostname()}`);
    db.exec('COMMIT; BEGIN IMMEDIATE');
    return () => db.close();
  } catch (error) {
    const owner = errorCode(error).startsWith('SQLITE_BUSY') ? ownerOf(db) : undefined;
    db.close();
    if (owner === undefined) throw error instanceof JournalFault ? error : cannotOpen(path, error);
    throw new JournalFault('locked', `${owner} is writing this journal; stop it, or open it for reading only`, {
      path: journalPath,
    });
  }
}

function ownerOf(db: Db): string {
  try {
    return String(db.prepare('SELECT name FROM owner').pluck().get() ?? 'another process');
  } catch {
    return 'another process';
  }
}
