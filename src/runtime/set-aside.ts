// A mirror of the world log that is damaged: the replica moves it aside and folds the log again, which has all of it
// but the connections and receipts of this replica's own proxies. The damaged file stays, to be looked into.

import { existsSync, renameSync } from 'node:fs';
import { JournalFault } from '../journal/fault.ts';

/** Of one journal; the lock belongs to the process. */
const SUFFIXES = ['', '-wal', '-shm', '.head'] as const;

/** Moves the files of a journal to `<path>.damaged-<time>`. Returns that path. */
export function setAside(path: string, now: number): string {
  const aside = `${path}.damaged-${new Date(now).toISOString().replace(/[:.]/g, '-')}`;
  for (const suffix of SUFFIXES) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  return aside;
}

export function isDamaged(error: unknown): error is JournalFault {
  return error instanceof JournalFault && DAMAGE.has(error.code);
}

const DAMAGE: ReadonlySet<JournalFault['code']> = new Set(['damaged', 'emptied']);
