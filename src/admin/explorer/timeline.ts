// The questions of the timeline: how long the journal is, where its events lie, which they are, what comes now.
// Answered from the index, in the thread that builds it.

import type { StoredEvent } from '../../journal/journal.ts';
import { VERSION } from '../version.ts';
import type { Count, Density, EventPage, EventRow, Info, LiveBatch, Position } from './api.ts';
import type { ObjectVersions } from './api-questions.ts';
import { BUCKETS_MAX, densityOf, positionAt, SPLITS } from './density.ts';
import type { EventIndex } from './event-index.ts';
import { compiled, filterOf, isEmpty } from './filter.ts';
import type { Interned } from './interned.ts';
import { type Asked, numberOf, oneOf, positionIn, type Question, requireAll } from './question.ts';
import { rowOf } from './rows.ts';
import type { Verdicts } from './verdicts.ts';

/** Rows of one page. */
export const ROWS_MAX = 1_000;
const ROWS_DEFAULT = 100;
/** Events of one batch of the live tail. */
export const LIVE_ROWS_MAX = 200;
/** Names that `info` counts, of each column. */
export const COUNTS_MAX = 500;
const BUCKETS_DEFAULT = 200;

export interface Timeline {
  readonly index: EventIndex;
  readonly verdicts: Verdicts;
  readonly mode: Info['mode'];
  /** What people call the journal. */
  readonly title: string;
}

export const timelineQuestions: Readonly<Record<string, Question<Timeline>>> = {
  '/info': infoOf,
  '/density': density,
  '/events': events,
  '/live': live,
  '/position': position,
  '/object/versions': objectVersions,
};

async function infoOf({ index, mode, title }: Timeline, { viewer }: Asked): Promise<Info> {
  await index.catchUp();
  const { journal } = index;
  const head = journal.head();
  const first = journal.base().seq + 1;
  const isAll = viewer === 'all';
  const counts = (column: 'kind' | 'source' | 'manager' | 'namespace'): readonly Count[] =>
    isAll ? countsOf(index, column) : [];
  return {
    api: 1,
    version: VERSION,
    journal: title,
    mode,
    viewer,
    first: head.seq < first ? { seq: 0, time: 0 } : positionAt(index, first),
    head: { seq: head.seq, time: head.time },
    events: head.seq - first + 1,
    kinds: counts('kind'),
    sources: counts('source'),
    managers: counts('manager'),
    namespaces: counts('namespace'),
    snapshots: (await journal.snapshots.list()).map(({ seq }) => seq),
    index: index.state(),
  };
}

function countsOf(index: EventIndex, column: 'kind' | 'source' | 'manager' | 'namespace'): readonly Count[] {
  const { columns, first, namespaceOf } = index;
  const texts = { kind: index.kinds, source: index.sources, manager: index.managers, namespace: index.namespaces };
  const names: Interned = texts[column];
  const counts = new Float64Array(names.size + 1);
  const { from, to } = index.state();
  for (let seq = from; seq <= to; seq++) {
    const slot = seq - first;
    const number = column === 'namespace' ? (namespaceOf[columns.subject[slot]!] ?? 0) : columns[column][slot]!;
    counts[Math.min(number, names.size)]!++;
  }
  return [...counts]
    .map((count, number) => ({ name: names.textOf(number), events: count }))
    .filter(({ name, events: count }) => count > 0 && name !== '')
    .sort((a, b) => b.events - a.events || (a.name < b.name ? -1 : 1))
    .slice(0, COUNTS_MAX);
}

async function density({ index, verdicts }: Timeline, asked: Asked): Promise<Density> {
  requireAll(asked);
  await index.catchUp();
  await verdicts.catchUp();
  const range = await rangeOf(index, asked);
  return densityOf(index, verdicts, {
    ...range,
    by: oneOf(asked, 'by', ['seq', 'time'], 'seq'),
    split: oneOf(asked, 'split', SPLITS, 'kind'),
    buckets: numberOf(asked, 'buckets', BUCKETS_DEFAULT, 1, BUCKETS_MAX),
    filter: filterOf(asked.query),
  });
}

/** An empty journal has the range 1…0. */
async function rangeOf(index: EventIndex, asked: Asked): Promise<{ readonly from: number; readonly to: number }> {
  const { journal } = index;
  const [first, head] = [journal.base().seq + 1, journal.head().seq];
  const from = Math.max(first, await positionIn(journal, asked, 'from', first));
  return { from, to: Math.max(from - 1, await positionIn(journal, asked, 'to', head)) };
}

async function position({ index }: Timeline, asked: Asked): Promise<Position> {
  const seq = await positionIn(index.journal, asked, 'at', index.journal.head().seq);
  return positionAt(index, seq);
}

async function events({ index, verdicts }: Timeline, asked: Asked): Promise<EventPage> {
  requireAll(asked);
  await index.catchUp();
  await verdicts.catchUp();
  const range = await rangeOf(index, asked);
  const limit = numberOf(asked, 'limit', ROWS_DEFAULT, 1, ROWS_MAX);
  const before = numberOf(asked, 'before', range.to + 1, 0, range.to + 1);
  const after = numberOf(asked, 'after', -1, -1, range.to);
  const filter = filterOf(asked.query);
  const found = isEmpty(filter)
    ? unfiltered(range, before, after, limit)
    : filtered(index, range, before, after, limit, compiled(index, filter));
  const { seqs, ...rest } = found;
  return { ...rest, rows: await rowsOf(index, verdicts, seqs), index: index.state() };
}

/** Loaded when it is asked for: the rules of all kinds are most of the program. */
async function objectVersions({ index }: Timeline, asked: Asked): Promise<ObjectVersions> {
  requireAll(asked);
  const { indexedVersions } = await import('./object-versions.ts');
  return indexedVersions(index, asked);
}

interface Found {
  readonly seqs: readonly number[];
  readonly total: number;
  readonly earlier: boolean;
  readonly later: boolean;
}

type Range = { readonly from: number; readonly to: number };

function unfiltered({ from, to }: Range, before: number, after: number, limit: number): Found {
  const start = after >= 0 ? Math.max(from, after + 1) : Math.max(from, Math.min(before, to + 1) - limit);
  const end = after >= 0 ? Math.min(to, start + limit - 1) : Math.min(to, before - 1);
  const seqs = Array.from({ length: Math.max(0, end - start + 1) }, (_, i) => start + i);
  return { seqs, total: Math.max(0, to - from + 1), earlier: start > from, later: end < to };
}

/** Of the indexed events. */
function filtered(
  index: EventIndex,
  { from, to }: Range,
  before: number,
  after: number,
  limit: number,
  passes: (seq: number) => boolean,
): Found {
  const state = index.state();
  const [low, high] = [Math.max(from, state.from), Math.min(to, state.to)];
  const seqs: number[] = [];
  let [total, earlier, later] = [0, false, false];
  for (let seq = high; seq >= low; seq--) {
    if (!passes(seq)) continue;
    total++;
    if (after >= 0) {
      if (seq <= after) earlier = true;
      else seqs.push(seq);
    } else if (seq >= before) later = true;
    else if (seqs.length < limit) seqs.push(seq);
    else earlier = true;
  }
  seqs.reverse();
  const page = seqs.slice(0, limit);
  return { seqs: page, total, earlier, later: later || page.length < seqs.length };
}

/** Neighbours are read together. */
async function rowsOf(index: EventIndex, verdicts: Verdicts, seqs: readonly number[]): Promise<readonly EventRow[]> {
  const rows: EventRow[] = [];
  const shown = (event: StoredEvent): EventRow =>
    verdicts.has(event.seq) ? { ...rowOf(event), refused: true } : rowOf(event);
  for (let i = 0; i < seqs.length; ) {
    let end = i;
    while (end + 1 < seqs.length && seqs[end + 1] === seqs[end]! + 1) end++;
    for await (const page of index.journal.records({ from: seqs[i]!, to: seqs[end]!, secrets: 'redacted' }))
      rows.push(...page.map(shown));
    i = end + 1;
  }
  return rows;
}

async function live({ index, verdicts }: Timeline, asked: Asked): Promise<LiveBatch> {
  requireAll(asked);
  await index.catchUp();
  const { from, to } = index.state();
  const head = positionAt(index, to);
  const after = numberOf(asked, 'after', to, 0, to);
  const passes = compiled(index, filterOf(asked.query));
  const seqs: number[] = [];
  for (let seq = Math.max(after + 1, from); seq <= to; seq++) if (passes(seq)) seqs.push(seq);
  const rows = await rowsOf(index, verdicts, seqs.slice(-LIVE_ROWS_MAX));
  return { head, rows, skipped: seqs.length - rows.length };
}
