// Opening a journal file. Everything above the journal imports from here, journal.ts, memory-journal.ts, export.ts and
// import.ts.

import { existsSync, statSync } from 'node:fs';
import { JournalFault } from './fault.ts';
import type { Clock, Durability, Journal } from './journal.ts';
import { JournalOnStore } from './journal-on-store.ts';
import { realPath } from './sqlite-file.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { PrivatePaths } from './vault.ts';
import { Vault } from './vault.ts';

/** Of a key that is found beside a journal: a line, which may be followed by blanks. */
const KEY_FILE_BYTES_MAX = 4_096;

export interface OpenOptions {
  /** Default: the machine's clock. */
  readonly clock?: Clock;
  /** Default `full`. */
  readonly durability?: Durability;
  /** Default: `<path>.key`. Created (0600) when the first private value is sealed. */
  readonly keyFile?: string;
  /** For looking only: takes no lock, may be used while another process writes. */
  readonly readonly?: boolean;
  /** The file never grows beyond this; appends that would are `write-failed`. Default: no limit but the disk's. */
  readonly fileBytesMax?: number;
  /** Further values to seal, besides those of Secrets. */
  readonly privatePaths?: PrivatePaths;
}

/**
 * Creates the file if there is none (unless `readonly`). Rejects with a JournalFault: cannot-open, locked, foreign,
 * newer-format, emptied, damaged (what is wrong, and where), wrong-key, key-missing (for writing only; a reader without
 * the key sees sealed text).
 */
export async function openJournal(path: string, options: OpenOptions = {}): Promise<Journal> {
  const readonly = options.readonly ?? false;
  const store = await openSqliteStore(path, {
    durability: options.durability ?? 'full',
    readonly,
    fileBytesMax: options.fileBytesMax,
  });
  try {
    const vault = new Vault({
      keyFile: options.keyFile ?? keyFileOf(path),
      recorded: store.keyCheck(),
      ...(readonly ? { recordedLater: () => store.keyCheck() } : {}),
      readonly,
      journal: store.path,
      privatePaths: options.privatePaths,
    });
    return new JournalOnStore(store, vault, options.clock ?? Date.now);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Beside the name that was given, if there is one; else beside the file that the name leads to. */
function keyFileOf(path: string): string {
  const given = `${path}.key`;
  const file = existsSync(given) ? given : `${realPath(path)}.key`;
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size <= KEY_FILE_BYTES_MAX)) return file;
  throw new JournalFault('cannot-open', 'it stands where the key of the journal does, and is no key file', {
    path: file,
  });
}
