// Long lists of the explorer: every row can be reached, few are drawn, and the rows of a filter are found by counts.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bucket } from '../../../src/admin/explorer/api.ts';
import {
  isCoarse,
  PAGE_ROWS_MAX,
  pagesFor,
  refined,
  rowOf,
  rowsOf,
  type Segment,
  segmentsOf,
  wholeOf,
} from '../../../ui/model/event-index.ts';
import { passesAll } from '../../../ui/model/filters.ts';
import { centredTopFor, heightOf, rowWindow, SCROLL_PX_MAX, scrollTopFor } from '../../../ui/model/row-window.ts';

const geometry = fc.record({
  rows: fc.integer({ min: 0, max: 3_000_000 }),
  rowPx: fc.integer({ min: 16, max: 40 }),
  viewportPx: fc.integer({ min: 100, max: 2_000 }),
});

describe('the window of a long list', () => {
  it('draws the first row at the top, the last at the bottom, and never more than the screen needs', () => {
    fc.assert(
      fc.property(geometry, one => {
        const bottom = Math.max(0, heightOf(one) - one.viewportPx);
        const [top, end] = [rowWindow(one, 0), rowWindow(one, bottom)];
        expect(top.first).toBe(0);
        expect(end.end).toBe(one.rows);
        expect(end.end - end.first).toBeLessThanOrEqual(Math.ceil(one.viewportPx / one.rowPx) + 14);
        expect(heightOf(one)).toBeLessThanOrEqual(SCROLL_PX_MAX);
      }),
    );
  });

  it('shows the row that is scrolled to, whole', () => {
    fc.assert(
      fc.property(geometry, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), (one, any, share) => {
        fc.pre(one.rows > 0);
        const row = any % one.rows;
        const range = Math.max(0, heightOf(one) - one.viewportPx);
        for (const top of [scrollTopFor(one, row, range * share), centredTopFor(one, row)]) {
          const { first, end, offsetPx } = rowWindow(one, top);
          expect(row >= first && row < end).toBe(true);
          const y = offsetPx + (row - first) * one.rowPx - top;
          expect(y).toBeGreaterThan(-1);
          expect(y + one.rowPx).toBeLessThan(Math.max(one.viewportPx, one.rowPx) + 1);
        }
      }),
    );
  });
});

const bucket = (from: number, to: number, events: number): Bucket => ({
  from,
  to,
  fromTime: 0,
  toTime: 0,
  events,
  parts: [],
  marks: { pushes: 0, nacks: 0, connects: 0, disconnects: 0, troubles: 0, refusedObjects: 0 },
});

/** Consecutive buckets of a journal, some of whose events pass. */
const buckets = fc
  .array(fc.tuple(fc.nat({ max: 5_000 }), fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true }))), {
    maxLength: 10,
  })
  .map(widths => {
    let from = 1;
    return widths.map(([width, share]) => {
      const one = bucket(from, from + width - 1, Math.floor(width * share));
      from += width;
      return one;
    });
  });

describe('the rows of a filter', () => {
  it('are on exactly one page each, in pages that one question answers or that are split', () => {
    fc.assert(
      fc.property(buckets, found => {
        const segments = segmentsOf(found);
        const total = rowsOf(segments);
        const pages = pagesFor(segments, 0, total);
        let row = 0;
        for (const page of pages) {
          expect(page.row).toBe(row);
          expect(page.count <= PAGE_ROWS_MAX || isCoarse(page)).toBe(true);
          row += page.count;
        }
        expect(row).toBe(total);
      }),
    );
  });

  it('are asked for by at most two hundred where every event passes, and counted by no question', () => {
    const whole = wholeOf(1_001, 1_001_000);
    expect(rowsOf(whole)).toBe(1_000_000);
    expect(pagesFor(whole, 999_950, 1_000_000)).toEqual([{ from: 1_000_801, to: 1_001_000, count: 200, row: 999_800 }]);
    expect(pagesFor(whole, 399, 401)).toEqual([
      { from: 1_201, to: 1_400, count: 200, row: 200 },
      { from: 1_401, to: 1_600, count: 200, row: 400 },
    ]);
    expect(wholeOf(0, 0)).toEqual([]);
    expect([passesAll({}), passesAll({ kind: [] }), passesAll({ text: 'a' })]).toEqual([true, true, false]);
  });

  it('stay the same number when a large bucket is split', () => {
    const segments: readonly Segment[] = [
      { from: 1, to: 5_000, count: 900 },
      { from: 5_001, to: 9_000, count: 3 },
    ];
    const parts = [
      { from: 1, to: 2_500, count: 400 },
      { from: 2_501, to: 5_000, count: 500 },
    ];
    const finer = refined(segments, segments[0]!, parts);
    expect(rowsOf(finer)).toBe(rowsOf(segments));
    expect(pagesFor(finer, 450, 460)).toEqual([{ from: 2_501, to: 5_000, count: 500, row: 400 }]);
  });

  it('are found by their event where every event passes', () => {
    const segments = segmentsOf([bucket(1, 100, 100), bucket(101, 100, 0), bucket(101, 300, 200)]);
    expect([rowOf(segments, 1), rowOf(segments, 100), rowOf(segments, 101), rowOf(segments, 300)]).toEqual([
      0, 99, 100, 299,
    ]);
    expect(rowOf(segments, 0)).toBe(-1);
    expect(rowOf(segments, 400)).toBe(299);
  });
});
