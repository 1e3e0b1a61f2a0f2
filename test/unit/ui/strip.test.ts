// The strip: places and events correspond, zooming stays within the journal, ticks are round.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bucket, Density } from '../../../src/admin/explorer/api.ts';
import { lastSeqIn, panned, parseSpan, seqAt, shareOf, ticksOf, zoomed } from '../../../ui/model/strip.ts';
import { counted, duration, fullTime } from '../../../ui/model/time-text.ts';

const marks = { pushes: 0, nacks: 0, connects: 0, disconnects: 0, troubles: 0, refusedObjects: 0 };
const bucketsOf = (widths: readonly number[]): readonly Bucket[] => {
  let from = 1;
  return widths.map(width => {
    const one = { from, to: from + width - 1, fromTime: 0, toTime: 0, events: width, parts: [], marks };
    from += width;
    return one;
  });
};

describe('the strip', () => {
  it('finds the bucket of every event again', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 10 }), fc.nat(), (widths, any) => {
        const buckets = bucketsOf(widths);
        const total = widths.reduce((sum, width) => sum + width, 0);
        fc.pre(total > 0);
        const seq = 1 + (any % total);
        const found = seqAt(buckets, shareOf(buckets, seq));
        const holds = buckets.find(({ from, to }) => from <= seq && seq <= to)!;
        expect(found! >= holds.from && found! <= holds.to).toBe(true);
      }),
    );
  });

  it('gives a place without events the event before it', () => {
    const buckets = bucketsOf([10, 0, 0, 5]);
    expect([seqAt(buckets, 0.4), lastSeqIn(buckets, 0.7), lastSeqIn(buckets, 1)]).toEqual([10, 10, 15]);
    expect([shareOf(buckets, 0), shareOf(buckets, 16)]).toEqual([-1, 2]);
  });

  it('zooms around an event and never leaves the journal', () => {
    const whole = { from: 1, to: 1_000 };
    const span = fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 501, max: 1_000 }));
    fc.assert(
      fc.property(
        span,
        fc.integer({ min: 1, max: 1_000 }),
        fc.double({ min: 0.1, max: 4, noNaN: true }),
        (two, at, by) => {
          const next = zoomed({ from: two[0], to: two[1] }, whole, at, by);
          if (next === undefined) return;
          expect(next.from >= 1 && next.to <= 1_000 && next.from < next.to).toBe(true);
          const moved = panned(next, whole, 0.25);
          expect(moved.from >= 1 && moved.to <= 1_000 && moved.to - moved.from === next.to - next.from).toBe(true);
        },
      ),
    );
    expect(zoomed({ from: 1, to: 900 }, whole, 500, 2)).toBeUndefined();
    expect([parseSpan('5-9'), parseSpan('9-5'), parseSpan('x')]).toEqual([{ from: 5, to: 9 }, undefined, undefined]);
  });

  it('has ticks at round times and numbers', () => {
    const density = (by: 'time' | 'seq'): Density => ({
      by,
      from: { seq: 1, time: Date.UTC(2026, 2, 11, 9, 0, 0, 448) },
      to: { seq: 163, time: Date.UTC(2026, 2, 11, 10, 40) },
      buckets: [],
      parts: [],
      index: { from: 1, to: 163, complete: true },
      verdicts: { from: 1, to: 163, complete: true },
    });
    expect(ticksOf(density('time'), 6).map(({ text }) => text)).toEqual(['09:20', '09:40', '10:00', '10:20', '10:40']);
    expect(ticksOf(density('seq'), 4).map(({ text }) => text)).toEqual(['#50', '#100', '#150']);
  });
});

describe('times and numbers as text', () => {
  it('are UTC, and as short as they can be', () => {
    expect(fullTime(Date.UTC(2026, 2, 11, 10, 12, 0, 117))).toBe('2026-03-11 10:12:00.117');
    expect([duration(118), duration(25_000), duration(15_000_000), duration(90_000_000)]).toEqual([
      '118 ms',
      '25 s',
      '4 h 10 min',
      '1 d 1 h',
    ]);
    expect([counted(1, 'event'), counted(1_234_567, 'event')]).toEqual(['1 event', '1,234,567 events']);
    expect(fullTime(Number.NaN)).toBe('–');
  });
});
