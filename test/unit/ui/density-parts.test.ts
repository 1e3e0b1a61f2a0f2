// The parts of the strip's bars: no event is lost or counted twice, whatever the server has told apart so far.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Bucket, Density } from '../../../src/admin/explorer/api.ts';
import { colourOf, PARTS_SHOWN, partsOf } from '../../../ui/model/density-parts.ts';

const MARKS = { pushes: 0, nacks: 0, connects: 0, disconnects: 0, refusedObjects: 0, troubles: 0 };
const bucket = (parts: readonly number[], more: number): Bucket => ({
  ...{ from: 1, to: 2, fromTime: 0, toTime: 0, marks: MARKS, parts },
  events: parts.reduce((total, count) => total + count, 0) + more,
});
const density = (parts: readonly string[], buckets: readonly Bucket[]): Density => {
  const position = { seq: 1, time: 0 };
  const index = { from: 1, to: 1, complete: true };
  return { by: 'seq', from: position, to: position, parts, buckets, index, verdicts: index };
};

describe('the parts of the bars', () => {
  it('add up to the events of each bar, in no more parts than there are colours', () => {
    const names = ['Update', 'Add', 'Receipt', 'Delete', 'Synced', 'Subscribed', 'Gap', 'other'];
    fc.assert(
      fc.property(
        fc
          .nat(names.length)
          .chain(n =>
            fc.tuple(
              fc.constant(names.slice(0, n)),
              fc.array(fc.tuple(fc.array(fc.nat(9), { minLength: n, maxLength: n }), fc.constantFrom(0, 0, 5))),
            ),
          ),
        ([parts, rows]) => {
          const buckets = rows.map(([own, more]) => bucket(own, more));
          const { names: shown, counts } = partsOf(density(parts, buckets));
          expect(shown.length).toBeLessThanOrEqual(PARTS_SHOWN);
          expect(new Set(shown).size).toBe(shown.length);
          for (const [i, own] of counts.entries()) {
            expect(own).toHaveLength(shown.length);
            expect(own.reduce((total, count) => total + count, 0)).toBe(buckets[i]!.events);
          }
        },
      ),
    );
  });

  it('are those of the server where they are few and whole', () => {
    expect(partsOf(density(['Add', 'Delete'], [bucket([2, 1], 0)]))).toEqual({
      names: ['Add', 'Delete'],
      counts: [[2, 1]],
    });
  });

  it('show what is not indexed yet as others', () => {
    expect(partsOf(density(['Add'], [bucket([0], 7)]))).toEqual({ names: ['Add', 'other'], counts: [[0, 7]] });
  });

  it('have a colour each, and the rest always the last one', () => {
    const few = partsOf(density(['Update', 'Receipt'], [bucket([3, 1], 5)])).names;
    expect(few.map((_, i) => colourOf(few, i))).toEqual([1, 2, PARTS_SHOWN]);
    const many = partsOf(density(['a', 'b', 'c', 'd', 'e', 'f', 'g'], [bucket([1, 1, 1, 1, 1, 1, 1], 0)])).names;
    expect(many.map((_, i) => colourOf(many, i))).toEqual([1, 2, 3, 4, 5, 6]);
  });
});
