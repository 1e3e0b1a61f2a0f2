// Opens the journal of a process and folds it. What a run before could not record is recorded first; a replica whose
// mirror is damaged begins a new one, because the world log has what it held.

import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Unrecorded } from '../core/event.ts';
import type { Retention } from '../history/retention.ts';
import type { Journal } from '../journal/journal.ts';
import { openJournal } from '../journal/open.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { ServeOptions } from './serve-options.ts';
import { isDamaged, setAside } from './set-aside.ts';
import { recordSpill, writeSpill } from './spill.ts';
import { type Started, startWorld } from './start.ts';

/** The options that a journal is opened with. */
export type JournalOptions = Pick<
  ServeOptions,
  | 'settings'
  | 'journal'
  | 'replica'
  | 'journalKey'
  | 'journalDurability'
  | 'journalStrict'
  | 'journalSpill'
  | 'journalKeepMs'
>;

export async function openWorld(
  options: JournalOptions,
  clock: Clock,
  log: Log,
): Promise<Started & { readonly journal: Journal }> {
  await mkdir(dirname(options.journal), { recursive: true });
  try {
    return await openedWorld(options, clock, log);
  } catch (error) {
    if (options.replica === undefined || !isDamaged(error)) throw error;
    const aside = setAside(options.journal, clock.now());
    log('error', `${error.message}; it is in ${aside} now, and the world log is folded from its beginning`);
    return openedWorld(options, clock, log);
  }
}

async function openedWorld(
  options: JournalOptions,
  clock: Clock,
  log: Log,
): Promise<Started & { readonly journal: Journal }> {
  const journal = await openJournal(options.journal, {
    clock: () => clock.now(),
    durability: options.journalDurability,
    keyFile: options.journalKey,
  });
  try {
    const { settings, journalStrict: strict, journalSpill: folder } = options;
    const given = { settings, strict, clock, log, isReplica: options.replica !== undefined };
    if (folder === undefined) return { journal, ...(await startWorld(journal, given)) };
    await recordSpill(folder, journal, log);
    const spill = (facts: readonly Unrecorded[]): Promise<string> => writeSpill(folder, journal, facts);
    return { journal, ...(await startWorld(journal, { ...given, spill })) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** The retention at the time of the call. */
export function retentionOf({ journalKeepMs }: JournalOptions, clock: Clock): () => Retention | undefined {
  return () => (journalKeepMs === undefined ? undefined : { since: clock.now() - journalKeepMs });
}
