// A journal file opened for a command that only reads, and what commands print of single events.

import type { JsonObject } from '../core/base/json.ts';
import type { Journal, StoredEvent } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import { journalNamed } from './exported-journal.ts';
import { CliError, EXIT, showTime } from './output.ts';

/** Opens a journal, or an exported one, for reading; closes whatever happens. */
export async function withJournal<T>(path: string, use: (journal: Journal) => Promise<T>): Promise<T> {
  const { journal: file, remove } = await journalNamed(path);
  try {
    const journal = await openJournal(file, { clock: Date.now, readonly: true });
    try {
      return await use(journal);
    } finally {
      await journal.close();
    }
  } finally {
    await remove();
  }
}

export function seqOf(text: string): number {
  const seq = Number(text);
  if (!Number.isInteger(seq) || seq < 1)
    throw new CliError(`${JSON.stringify(text)}: expected a whole number from 1`, EXIT.misuse);
  return seq;
}

export function toJson(event: StoredEvent): JsonObject {
  const { seq, time, source, kind, hash } = event;
  return { seq, time: showTime(time), source, kind, ...(JSON.parse(event.body) as JsonObject), hash };
}
