// Which events stand where in a filtered list of a million: counts by ranges of events, made finer where the reader
// looks. The server counts the events that pass a filter by buckets; a bucket too large for one page is split by
// asking again for that bucket alone. So any row is found by a few small questions, and the scroll bar is true.
//
// Invariant: the segments are disjoint, ascending, and their counts add up to the number of rows.

import type { Bucket } from '../../src/admin/explorer/api.ts';

/** Events from `from` to `to`, of which `count` pass the filter. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

export interface Page extends Segment {
  /** Row of its first event. */
  readonly row: number;
}

/** Rows asked for at once. */
export const PAGE_ROWS_MAX = 200;

export function segmentsOf(buckets: readonly Bucket[]): readonly Segment[] {
  return buckets.flatMap(({ from, to, events }) => (to < from || events === 0 ? [] : [{ from, to, count: events }]));
}

export function rowsOf(segments: readonly Segment[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0);
}

/** Of a range in which every event passes; none is counted for it. */
export function wholeOf(from: number, to: number): readonly Segment[] {
  return from < 1 || to < from ? [] : [{ from, to, count: to - from + 1 }];
}

/**
 * Neighbouring segments as pages of at most PAGE_ROWS_MAX rows, those that hold one of the rows `first` to `end`. What
 * is larger is split where every event passes, so that rows tell events; elsewhere it is one page.
 */
export function pagesFor(segments: readonly Segment[], first: number, end: number): readonly Page[] {
  return pagesOf(segments)
    .filter(({ row, count }) => row < end && row + count > first)
    .flatMap(page => (isDense(page) && isCoarse(page) ? partsOf(page, first, end) : [page]));
}

function partsOf({ from, to, row, count }: Page, first: number, end: number): readonly Page[] {
  const parts: Page[] = [];
  const skipped = Math.floor(Math.max(0, first - row) / PAGE_ROWS_MAX) * PAGE_ROWS_MAX;
  for (let done = skipped; done < count && row + done < end; done += PAGE_ROWS_MAX) {
    const [start, last] = [from + done, Math.min(to, from + done + PAGE_ROWS_MAX - 1)];
    parts.push({ from: start, to: last, count: last - start + 1, row: row + done });
  }
  return parts;
}

/** Every event passes. */
function isDense({ from, to, count }: Segment): boolean {
  return count === to - from + 1;
}

function pagesOf(segments: readonly Segment[]): readonly Page[] {
  const pages: Page[] = [];
  let row = 0;
  for (const { from, to, count } of segments) {
    const last = pages.at(-1);
    if (last !== undefined && last.count + count <= PAGE_ROWS_MAX) {
      pages[pages.length - 1] = { ...last, to, count: last.count + count };
    } else pages.push({ from, to, count, row });
    row += count;
  }
  return pages;
}

/** A page that is one segment too large to be asked for at once. */
export function isCoarse({ count, from, to }: Segment): boolean {
  return count > PAGE_ROWS_MAX && to > from;
}

/** The segments with one of them replaced by its parts. */
export function refined(
  segments: readonly Segment[],
  { from, to }: Segment,
  parts: readonly Segment[],
): readonly Segment[] {
  return segments.flatMap(one => (one.from === from && one.to === to ? parts : [one]));
}

/** The row of an event, or of the last one before that passes; -1: none. */
export function rowOf(segments: readonly Segment[], seq: number): number {
  let row = 0;
  for (const { from, to, count } of segments) {
    if (seq < from) return row - 1;
    if (seq <= to) {
      return isDense({ from, to, count })
        ? row + seq - from
        : row + Math.floor(((seq - from) / Math.max(1, to - from)) * (count - 1));
    }
    row += count;
  }
  return row - 1;
}
