// How many events there are along a journal, bucket by bucket, by one of their columns: the timeline's histogram.
//
// Buckets are even in events or in time. A bucket that the index has not reached counts all its events and no parts.

import type { Bucket, Density, Marks, Position } from './api.ts';
import type { EventIndex } from './event-index.ts';
import { compiled, type EventFilter } from './filter.ts';
import type { Verdicts } from './verdicts.ts';

export const BUCKETS_MAX = 2_000;
/** Names that a histogram tells apart; the others are one. */
export const PARTS_MAX = 12;
const OTHER_PARTS = 'other';
/** Of events without one. */
const NO_NAME = '(none)';

export const SPLITS = ['kind', 'source', 'manager', 'namespace'] as const;

export interface DensityQuestion {
  readonly by: 'seq' | 'time';
  readonly split: (typeof SPLITS)[number];
  readonly buckets: number;
  readonly from: number;
  readonly to: number;
  readonly filter: EventFilter;
}

const MARKS: Readonly<Record<string, keyof Marks>> = {
  Receipt: 'pushes',
  ProxyNacked: 'nacks',
  ProxyConnected: 'connects',
  ProxyDisconnected: 'disconnects',
  Malformed: 'troubles',
  Gap: 'troubles',
  Rejected: 'troubles',
};

export async function densityOf(index: EventIndex, verdicts: Verdicts, question: DensityQuestion): Promise<Density> {
  const { by, from, to } = question;
  const ends = [await timeOf(index, from), await timeOf(index, to)] as const;
  const edges = by === 'seq' ? evenEdges(question) : await edgesInTime(index, question, ends);
  const passes = compiled(index, question.filter);
  const split = splitOf(index, question, passes);
  const buckets: Bucket[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i]!, edges[i + 1]! - 1];
    const time = async (seq: number): Promise<number> => (start > end ? 0 : timeOf(index, seq));
    const times = { fromTime: await time(start), toTime: await time(end) };
    buckets.push({ from: start, to: end, ...times, ...countedIn({ index, verdicts, passes, split }, start, end) });
  }
  return {
    by,
    from: { seq: from, time: ends[0] },
    to: { seq: to, time: ends[1] },
    buckets,
    parts: split.names,
    index: index.state(),
    verdicts: verdicts.state(),
  };
}

/** First events of the buckets, and the one after the last. */
function evenEdges({ from, to, buckets }: DensityQuestion): readonly number[] {
  const events = to - from + 1;
  const count = Math.max(1, Math.min(buckets, events));
  return Array.from({ length: count + 1 }, (_, i) => from + Math.floor((i * events) / count));
}

async function edgesInTime(
  index: EventIndex,
  { from, to, buckets }: DensityQuestion,
  [start, end]: readonly [number, number],
): Promise<readonly number[]> {
  const edges = [from];
  for (let i = 1; i < buckets; i++) {
    const time = start + ((end - start) * i) / buckets;
    edges.push(await firstFrom(index, time, { low: edges.at(-1)!, high: to + 1, lowTime: start, highTime: end }));
  }
  return [...edges, to + 1];
}

interface Search {
  readonly low: number;
  readonly high: number;
  /** About the times there. */
  readonly lowTime: number;
  readonly highTime: number;
}

/**
 * The first event in [low, high) whose time is not before `time`; `high` if there is none. Most events come evenly,
 * so every other probe is where it would be then; halving bounds what uneven ones cost.
 */
async function firstFrom(index: EventIndex, time: number, search: Search): Promise<number> {
  let { low, high, lowTime, highTime } = search;
  for (let isGuess = true; low < high; isGuess = !isGuess) {
    const share = highTime > lowTime && isGuess ? (time - lowTime) / (highTime - lowTime) : 1 / 2;
    const probe = Math.min(high - 1, Math.max(low, low + Math.floor(share * (high - low))));
    const found = await timeOf(index, probe);
    if (found >= time) [high, highTime] = [probe, found];
    else [low, lowTime] = [probe + 1, found];
  }
  return low;
}

/** 0 where there is no event. */
export async function timeOf(index: EventIndex, seq: number): Promise<number> {
  const { from, to } = index.state();
  if (seq >= from && seq <= to) return index.columns.time[seq - index.first]!;
  for await (const [event] of index.journal.records({ from: seq, to: seq })) return event?.time ?? 0;
  return 0;
}

export async function positionAt(index: EventIndex, seq: number): Promise<Position> {
  return { seq, time: seq < index.first ? 0 : await timeOf(index, seq) };
}

interface Split {
  readonly names: readonly string[];
  /** Place in `names` of an indexed event. */
  readonly placeOf: (seq: number) => number;
}

function splitOf(index: EventIndex, { split, from, to }: DensityQuestion, passes: (seq: number) => boolean): Split {
  const { columns, first, namespaceOf } = index;
  const column = split === 'namespace' ? undefined : columns[split];
  const numberOf = (seq: number): number =>
    column === undefined ? (namespaceOf[columns.subject[seq - first]!] ?? 0) : column[seq - first]!;
  const texts = { kind: index.kinds, source: index.sources, manager: index.managers, namespace: index.namespaces };
  const counts = new Map<number, number>();
  const { from: low, to: high } = index.state();
  for (let seq = Math.max(from, low); seq <= Math.min(to, high); seq++) {
    if (!passes(seq)) continue;
    const number = numberOf(seq);
    counts.set(number, (counts.get(number) ?? 0) + 1);
  }
  const ranked = [...counts].sort(([a, m], [b, n]) => n - m || a - b);
  const shown = ranked.slice(0, ranked.length > PARTS_MAX ? PARTS_MAX - 1 : PARTS_MAX);
  const places = new Map(shown.map(([number], place) => [number, place]));
  const names = shown.map(([number]) => texts[split].textOf(number) || NO_NAME);
  const other = names.length;
  return {
    names: ranked.length > shown.length ? [...names, OTHER_PARTS] : names,
    placeOf: seq => places.get(numberOf(seq)) ?? other,
  };
}

interface Counting {
  readonly index: EventIndex;
  readonly verdicts: Verdicts;
  readonly passes: (seq: number) => boolean;
  readonly split: Split;
}

function countedIn(
  { index, verdicts, passes, split }: Counting,
  from: number,
  to: number,
): Pick<Bucket, 'events' | 'parts' | 'marks'> {
  const { from: low, to: high } = index.state();
  const parts = split.names.map(() => 0);
  const marks = { pushes: 0, nacks: 0, connects: 0, disconnects: 0, troubles: 0, refusedObjects: 0 };
  const markOf = index.kinds;
  let events = Math.max(0, Math.min(to, low - 1) - from + 1);
  for (let seq = Math.max(from, low); seq <= Math.min(to, high); seq++) {
    const mark = MARKS[markOf.textOf(index.columns.kind[seq - index.first]!)];
    if (mark !== undefined) marks[mark]++;
    if (verdicts.has(seq)) marks.refusedObjects++;
    if (!passes(seq)) continue;
    events++;
    const place = split.placeOf(seq);
    parts[place] = (parts[place] ?? 0) + 1;
  }
  return { events, parts, marks };
}
