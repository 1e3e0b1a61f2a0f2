// Slices of work that begin anew each time: what they find again stays a part of what they do, and none grows without
// bound.

import { describe, expect, it } from 'vitest';
import { SliceGrowth } from '../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { query, start } from './tracker-scene.ts';

const ALLOWANCE = 50;

/** Outputs that each slice makes of one query over `items`, and how many all of them ask for. */
function slicesOver(items: number, work = 0): { readonly made: readonly number[]; readonly asked: number } {
  let asked = 0;
  const one = { name: 'one', run: ({ n }: { readonly n: number }) => ({ n }), work: () => work };
  const all = query('all', reader =>
    Array.from({ length: items }, (_, n) => {
      asked++;
      return reader.make(one, { n });
    }),
  );
  const tracker = new Tracker();
  const growth = new SliceGrowth();
  const made: number[] = [];
  for (;;) {
    const before = tracker.stats.generated;
    const slice = tracker.within(growth.budget(ALLOWANCE), () => tracker.get(start, undefined, all, ''));
    made.push(tracker.stats.generated - before);
    if (slice.value !== undefined) return { made, asked };
    growth.cut(slice);
  }
}

describe('slices of work', () => {
  it('end after a generator whose work is larger than a slice', () => {
    expect(slicesOver(6, 1_000).made).toEqual([1, 1, 1, 1, 1, 1]);
  });

  it('find again what earlier ones made at most some times', () => {
    const items = 20_000;
    expect(slicesOver(items).asked).toBeLessThan(30 * items);
  });

  it('do not grow beyond a few times the first and the room for what they find', () => {
    const items = 20_000;
    expect(Math.max(...slicesOver(items).made)).toBeLessThan(4 * ALLOWANCE + items / 16 + 1);
  });

  it('end in time when nothing is finished before a charge that one of them cannot bear', () => {
    const tracker = new Tracker();
    const growth = new SliceGrowth();
    const look = (): object => {
      tracker.charge(50 * ALLOWANCE);
      tracker.spend();
      return {};
    };
    let slices = 1;
    for (let slice = tracker.within(growth.budget(ALLOWANCE), look); slice.value === undefined; slices++) {
      growth.cut(slice);
      slice = tracker.within(growth.budget(ALLOWANCE), look);
    }
    expect(slices).toBeLessThan(10);
  });
});
