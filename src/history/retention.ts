// How much of a journal is kept: by age, by number of events, by size. A snapshot of the state right after the first
// kept event replaces the removed ones, so every later position works as before.

import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import type { Journal } from '../journal/journal.ts';
import { History } from './history.ts';
import { lastBy } from './position.ts';

/** Events beyond any of the limits are removed. */
export interface Retention {
  /** Events recorded before this go; ms since the epoch. */
  readonly since?: number;
  readonly events?: number;
  /** Characters of the recorded values, sealed ones included; the file is some ten percent larger. */
  readonly chars?: number;
}

export interface Cut {
  /** The first event that stays. */
  readonly first: number;
  /** Events that go. */
  readonly removed: number;
}

/** Undefined: nothing goes. */
export async function cutOf(journal: Journal, retention: Retention): Promise<Cut | undefined> {
  const base = journal.base().seq;
  const head = journal.head().seq;
  let first = base + 1;
  if (retention.since !== undefined) first = Math.max(first, (lastBy(journal, retention.since - 1) ?? base) + 1);
  if (retention.events !== undefined) first = Math.max(first, head - retention.events + 1);
  if (retention.chars !== undefined) first = Math.max(first, await firstWithin(journal, retention.chars));
  // The last event stays: a journal that held events is never empty.
  first = Math.min(first, head);
  return first <= base + 1 ? undefined : { first, removed: first - base - 1 };
}

/**
 * The journal must be open for writing. Wherever it ends, by a crash or a fault, the journal is whole. Rejects with a
 * JournalFault.
 */
export async function compactTo(
  journal: Journal,
  { first }: Cut,
  onProgress?: (done: number, of: number) => void,
): Promise<void> {
  const state = await new History(journal).at(first);
  await journal.snapshots.write({ seq: first, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
  await journal.compact(first, { onProgress });
}

/**
 * As compactTo, for a process that serves: at the last snapshot that there is before the cut, and without stopping to
 * give back what is freed. Undefined: nothing went.
 */
export async function compactBeside(journal: Journal, retention: Retention): Promise<Cut | undefined> {
  const cut = await cutOf(journal, retention);
  if (cut === undefined) return undefined;
  const snapshots = await journal.snapshots.list();
  const first = snapshots.filter(({ seq }) => seq <= cut.first).at(-1)?.seq ?? 0;
  const base = journal.base().seq;
  if (first <= base + 1) return undefined;
  await journal.compact(first, { shrink: false });
  return { first, removed: first - base - 1 };
}

async function firstWithin(journal: Journal, chars: number): Promise<number> {
  const base = journal.base().seq;
  const sizes: number[] = [];
  for await (const page of journal.records({ from: base + 1 })) {
    for (const { source, kind, body } of page) sizes.push(source.length + kind.length + body.length);
  }
  let left = chars;
  let seq = base + sizes.length;
  for (; seq > base; seq--) {
    left -= sizes[seq - base - 1]!;
    if (left < 0) break;
  }
  return seq + 1;
}
