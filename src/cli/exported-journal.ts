// An exported journal (JSON lines, compressed or not) where a journal is asked for: a file that a colleague attached
// can be looked at with any command that only reads.

import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { JournalFault } from '../journal/fault.ts';
import { importJournal } from '../journal/import.ts';
import type { Head } from '../journal/journal.ts';
import { linesOf } from '../journal/lines.ts';
import { CliError } from './output.ts';

const SQLITE_MAGIC = 'SQLite format 3';
const GZIP_MAGIC = 0x1f8b;
const EXPORTED = /\.jsonl(\.gz)?$/;

export interface OpenedPath {
  /** Of a journal. */
  readonly journal: string;
  /** To be called when it is not used any more. */
  readonly remove: () => Promise<void>;
}

/** An exported journal is imported beside the system's other temporary files for the time of the run. */
export async function journalOf(given: string): Promise<OpenedPath> {
  if (await isJournal(given)) return asItIs(given);
  const folder = await mkdtemp(join(tmpdir(), 'periplus-exported-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const journal = join(folder, 'journal.db');
  try {
    await importFile(given, journal);
  } catch (error) {
    await remove();
    throw error;
  }
  return { journal, remove };
}

/** As `journalOf` for files that are called as exported journals are; any other path is taken for a journal. */
export async function journalNamed(path: string): Promise<OpenedPath> {
  return EXPORTED.test(path) ? journalOf(path) : asItIs(path);
}

function asItIs(journal: string): OpenedPath {
  return { journal, remove: async () => undefined };
}

async function isJournal(path: string): Promise<boolean> {
  return (await firstBytes(path, SQLITE_MAGIC.length)).toString('latin1') === SQLITE_MAGIC;
}

/** Makes the journal `path` of exported lines, compressed or not. */
export async function importFile(lines: string, path: string): Promise<Head> {
  // A file that cannot be opened fails here, before there is a stream to fail unheard.
  const compressed = await isGzip(lines);
  const file = createReadStream(lines);
  const input = compressed ? file.pipe(createGunzip()) : file;
  const failed = new Promise<never>((_, reject) => {
    file.once('error', reject);
    input.once('error', (error: Error) => reject(new CliError(`${lines}: not a whole gzip file (${error.message})`)));
  });
  // A stream that is left early would fail of that, and hide why it was left.
  const text = linesOf(input.setEncoding('utf8').iterator({ destroyOnReturn: false }));
  return Promise.race([importJournal(path, text), failed])
    .catch((error: unknown) => {
      if (!(error instanceof JournalFault) || error.code !== 'bad-import') throw error;
      throw new JournalFault('bad-import', error.message, { path: lines });
    })
    .finally(() => file.destroy());
}

async function isGzip(path: string): Promise<boolean> {
  const bytes = await firstBytes(path, 2);
  return bytes.length === 2 && bytes.readUInt16BE(0) === GZIP_MAGIC;
}

async function firstBytes(path: string, count: number): Promise<Buffer> {
  // To open a pipe would wait for its writer.
  const found = await stat(path);
  if (!found.isFile() && !found.isDirectory()) throw new CliError(`${path}: not a file; give another path`);
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(count), 0, count, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
