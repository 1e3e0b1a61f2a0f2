// Positions as people write them: a number of an event, a time, or a distance from the end. Every one comes to a seq:
// the state right after that event. A time means the last event that was recorded by then; times without a zone are
// UTC, as all times that are printed.

import type { Journal } from '../journal/journal.ts';
import { HistoryFault } from './history-fault.ts';

export const POSITION_HELP =
  'a number of an event (17), `head`, `head~3` (three events before the end), a time (2026-11-21T14:03:00Z, "2026-11-21 14:03", 14:03: of the ' +
  'day of the last event), or how long before the last event (90s, 10m, 2h, 3d; -10m is the same)';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DAY_MS = 86_400_000;

/**
 * The seq that `text` means. Rejects with a HistoryFault if it means none. `clamped`: a time before the first event
 * means the first position.
 */
export async function resolvePosition(
  journal: Journal,
  text: string,
  early: 'refused' | 'clamped' = 'refused',
): Promise<number> {
  const head = journal.head();
  const base = journal.base().seq;
  const first = base === 0 ? 0 : base + 1;
  const word = text.trim();
  const seq = seqOf(word, head.seq);
  if (seq !== undefined) {
    if (seq >= first && seq <= head.seq) return seq;
    throw new HistoryFault(`there is no position ${text}; ${journal.path} goes from ${first} to ${head.seq}`);
  }
  const time = timeOf(word, head.time);
  if (time === undefined)
    throw new HistoryFault(`${JSON.stringify(text)} is no position; one is ${POSITION_HELP}`, true);
  const found = lastBy(journal, time);
  if (found !== undefined) return found;
  if (early === 'clamped' && head.seq > base) return first;
  const begin = head.seq === base ? 'is empty' : `begins at ${new Date(timeAt(journal, base + 1)).toISOString()}`;
  throw new HistoryFault(`${journal.path} ${begin}; nothing is known of ${new Date(time).toISOString()}`);
}

/** Whether the text has the form of a position, in whatever journal. */
export function isPositionText(text: string): boolean {
  const word = text.trim();
  return seqOf(word, 0) !== undefined || timeOf(word, 0) !== undefined;
}

function seqOf(word: string, head: number): number | undefined {
  if (/^[0-9]+$/.test(word)) return Number(word);
  const back = /^head(?:~([0-9]+))?$/i.exec(word);
  return back === null ? undefined : head - Number(back[1] ?? 0);
}

/** Milliseconds since the epoch. */
function timeOf(word: string, headTime: number): number | undefined {
  const ago = /^-?([0-9]+(?:\.[0-9]+)?)(s|m|h|d)(?: ago)?$/.exec(word);
  if (ago !== null) return headTime - Number(ago[1]) * (UNIT_MS[ago[2]!] ?? 0);
  const clock = /^([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?$/.exec(word);
  if (clock !== null) {
    const [hours, minutes, seconds] = [Number(clock[1]), Number(clock[2]), Number(clock[3] ?? 0)];
    if (hours > 23 || minutes > 59 || seconds >= 60) return undefined;
    return headTime - (headTime % DAY_MS) + hours * UNIT_MS.h! + minutes * UNIT_MS.m! + seconds * 1_000;
  }
  const full =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)(Z|[+-][0-9]{2}:[0-9]{2})?)?$/.exec(
      word,
    );
  if (full === null) return undefined;
  const time = Date.parse(`${full[1]}T${full[2] ?? '00:00'}${full[3] ?? 'Z'}`);
  return Number.isNaN(time) ? undefined : time;
}

/** The last event with a time up to `time`, by halving: times never decrease. Undefined: the first one is later. */
export function lastBy(journal: Journal, time: number): number | undefined {
  const first = journal.base().seq + 1;
  let [low, high] = [first - 1, journal.head().seq];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (timeAt(journal, middle) <= time) low = middle;
    else high = middle - 1;
  }
  return low < first ? undefined : low;
}

function timeAt(journal: Journal, seq: number): number {
  const time = journal.timeAt(seq);
  if (time === undefined) throw new HistoryFault(`${journal.path} has no event ${seq}`);
  return time;
}
