// Slices of work that begin anew each time: what they find again stays a part of what they do, and none grows without
// bound.

import { describe, expect, it } from 'vitest';
import type { Selection } from '../../../../src/core/query/reader.ts';
import { SliceGrowth } from '../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { CALLS_PER_WORK_UNIT } from '../../../../src/core/query/work-budget.ts';
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

  it('do not grow by what is found in runs that end, which no other slice finds again', () => {
    const together = 64;
    const blocks = 500;
    const one = { name: 'one', run: ({ n }: { readonly n: number }) => ({ n }) };
    const block: Selection<{ readonly from: number }, readonly object[]> = {
      name: 'block',
      run: (reader, { from }) => Array.from({ length: together }, (_, i) => reader.make(one, { n: from + i })),
    };
    const froms = Array.from({ length: blocks }, (_, i) => ({ from: i * together }));
    const all = query('all', reader => froms.map(from => reader.select(block, from)));
    const ofOthers = query('ofOthers', reader => froms.map(({ from }) => block.run(reader, { from })));
    const tracker = new Tracker();
    tracker.get(start, undefined, ofOthers, '');
    const growth = new SliceGrowth();
    const ended: number[] = [];
    for (let value: unknown; value === undefined; ) {
      const slice = tracker.within(growth.budget(ALLOWANCE), () => tracker.get(start, undefined, all, ''));
      ended.push(slice.finished);
      value = slice.value;
      growth.cut(slice);
    }
    const unitsOfBlock = 1 + together / 16 + together / CALLS_PER_WORK_UNIT;
    const room = 2 * (blocks / 32);
    expect(Math.max(...ended)).toBeLessThan((4 * ALLOWANCE + room) / unitsOfBlock + 2);
  });

  it('have no room for what one found that ended a part of the work', () => {
    const growth = new SliceGrowth();
    const slice = { value: undefined, left: 0, found: 1_000, finished: 0 };
    growth.cut(slice, true);
    expect(growth.budget(ALLOWANCE)).toBe(ALLOWANCE);
    growth.cut(slice);
    expect(growth.budget(ALLOWANCE)).toBeGreaterThan(1_000);
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
