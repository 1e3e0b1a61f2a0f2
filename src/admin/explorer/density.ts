// How many events there are along a journal, bucket by bucket, by one of their columns: the timeline's histogram.
//
// Buckets are even in events or in time. A bucket that the index has not reached counts all its events and no parts.

import type { Bucket, Density, IndexState, Marks, Position } from './api.ts';
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

export function densityOf(index: EventIndex, verdicts: Verdicts, question: DensityQuestion): Density {
  const { by, from, to } = question;
  const ends = [index.timeOf(from), index.timeOf(to)] as const;
  const edges = by === 'seq' ? evenEdges(question) : edgesInTime(index, question, ends);
  const indexed = index.state();
  const passes = compiled(index, question.filter);
  const split = splitOf(index, indexed, question, passes);
  const count = counting({ index, indexed, verdicts, passes, split });
  const buckets: Bucket[] = [];
  for (let i = 0; i + 1 < edges.length; i++) {
    const [start, end] = [edges[i]!, edges[i + 1]! - 1];
    const time = (seq: number): number => (start > end ? 0 : index.timeOf(seq));
    buckets.push({ from: start, to: end, fromTime: time(start), toTime: time(end), ...count(start, end) });
  }
  return {
    by,
    from: { seq: from, time: ends[0] },
    to: { seq: to, time: ends[1] },
    buckets,
    parts: split.names,
    index: indexed,
    verdicts: verdicts.state(),
  };
}

/** First events of the buckets, and the one after the last. */
function evenEdges({ from, to, buckets }: DensityQuestion): readonly number[] {
  const events = to - from + 1;
  const count = Math.max(1, Math.min(buckets, events));
  return Array.from({ length: count + 1 }, (_, i) => from + Math.floor((i * events) / count));
}

function edgesInTime(
  index: EventIndex,
  { from, to, buckets }: DensityQuestion,
  [start, end]: readonly [number, number],
): readonly number[] {
  const edges = [from];
  for (let i = 1; i < buckets; i++) {
    const low = edges.at(-1)!;
    if (low > to) return [...edges, ...Array.from({ length: buckets - i + 1 }, () => to + 1)];
    const time = start + ((end - start) * i) / buckets;
    edges.push(firstFrom(index, time, { low, high: to + 1, lowTime: index.timeOf(low), highTime: end }));
  }
  return [...edges, to + 1];
}

interface Search {
  readonly low: number;
  readonly high: number;
  /** The times of the first and of the last of them. */
  readonly lowTime: number;
  readonly highTime: number;
}

/**
 * The first event in [low, high), which is not empty, whose time is not before `time`; `high` if there is none. Most
 * events come evenly, so it is looked for where it would be then, and from there in steps that double, which bounds
 * what uneven ones cost.
 */
function firstFrom(index: EventIndex, time: number, search: Search): number {
  let { low, high } = search;
  const { lowTime, highTime } = search;
  const isFrom = (seq: number): boolean => index.timeOf(seq) >= time;
  const share = highTime > lowTime ? (time - lowTime) / (highTime - lowTime) : 0;
  const guess = Math.min(high - 1, Math.max(low, low + Math.ceil(share * (high - 1 - low))));
  const isLate = isFrom(guess);
  if (isLate) high = guess;
  else low = guess + 1;
  for (let step = 1; low < high; step *= 2) {
    const probe = isLate ? Math.max(low, high - step) : Math.min(high - 1, low + step - 1);
    const isStillLate = isFrom(probe);
    if (isStillLate) high = probe;
    else low = probe + 1;
    if (isStillLate !== isLate) break;
  }
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (isFrom(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function positionAt(index: EventIndex, seq: number): Position {
  return { seq, time: seq < index.first ? 0 : index.timeOf(seq) };
}

interface Split {
  readonly names: readonly string[];
  /** Place in `names` of an indexed event. */
  readonly placeOf: (seq: number) => number;
}

function splitOf(
  index: EventIndex,
  { from: low, to: high }: IndexState,
  { split, from, to }: DensityQuestion,
  passes: (seq: number) => boolean,
): Split {
  const { columns, first, namespaceOf } = index;
  const column = split === 'namespace' ? undefined : columns[split];
  const numberOf = (seq: number): number =>
    column === undefined ? (namespaceOf[columns.subject[seq - first]!] ?? 0) : column[seq - first]!;
  const texts = { kind: index.kinds, source: index.sources, manager: index.managers, namespace: index.namespaces };
  const counts = new Map<number, number>();
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
  readonly indexed: IndexState;
  readonly verdicts: Verdicts;
  readonly passes: (seq: number) => boolean;
  readonly split: Split;
}

type Counted = Pick<Bucket, 'events' | 'parts' | 'marks'>;

/** What a range of events holds, both ends included. */
function counting({ index, indexed, verdicts, passes, split }: Counting): (from: number, to: number) => Counted {
  const { from: low, to: high } = indexed;
  const { columns, first, kinds } = index;
  // By the number of a kind: a million events are looked up in it.
  const markOf = Array.from({ length: kinds.size + 1 }, (_, number) => MARKS[kinds.textOf(number)]);
  return (from, to) => {
    const parts = split.names.map(() => 0);
    const marks = { pushes: 0, nacks: 0, connects: 0, disconnects: 0, troubles: 0, refusedObjects: 0 };
    let events = Math.max(0, Math.min(to, low - 1) - from + 1);
    for (let seq = Math.max(from, low); seq <= Math.min(to, high); seq++) {
      const mark = markOf[columns.kind[seq - first]!];
      if (mark !== undefined) marks[mark]++;
      if (verdicts.has(seq)) marks.refusedObjects++;
      if (!passes(seq)) continue;
      events++;
      const place = split.placeOf(seq);
      parts[place] = (parts[place] ?? 0) + 1;
    }
    return { events, parts, marks };
  };
}
