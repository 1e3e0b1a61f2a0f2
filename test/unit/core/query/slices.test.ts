// Work in slices makes progress in each of them, however small they are beside the work.

import { describe, expect, it } from 'vitest';
import { READS_PER_STEP } from '../../../../src/core/query/read-index.ts';
import type { Query, Selection } from '../../../../src/core/query/reader.ts';
import { SliceGrowth } from '../../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { CALLS_PER_WORK_UNIT } from '../../../../src/core/query/work-budget.ts';
import type { State } from '../../../../src/core/state.ts';
import { put } from '../../world.ts';
import { authentication, start } from './tracker-scene.ts';

describe('a verification that is charged more than a slice', () => {
  const SLICE = 10;
  const items = Array.from({ length: SLICE * CALLS_PER_WORK_UNIT * 8 }, (_, i) => ({ key: `prod/${i}` }));
  const found: Selection<{ readonly key: string }, boolean> = {
    name: 'found',
    run: (reader, { key }) => reader.object('PeerAuthentication', key) !== undefined,
  };
  const all: Query<'', readonly boolean[]> = { name: 'all', run: reader => reader.selectEach(found, items) };

  it('ends although a call has to run in it', () => {
    const tracker = new Tracker();
    tracker.get(start, undefined, all, '');
    const changed = put(start, authentication('7')).state;
    const look = () => tracker.within(SLICE, () => tracker.get(changed, undefined, all, '') as object).value;
    const looks = [look(), look(), look()];
    expect((looks.find(value => value !== undefined) as readonly boolean[]).indexOf(true)).toBe(7);
  });
});

describe.each<[string, (list: readonly number[]) => unknown]>([
  ['list', list => list],
  ['map', list => new Map(list.map(i => [i, i]))],
  ['map of a list', list => new Map([['all', list]])],
])('a run that gives a %s', (_, made) => {
  const listOf = (name: string, length: number): Query<'', unknown> => ({
    name,
    run: () => made(Array.from({ length }, (_, i) => i)),
  });
  /** Slices of 500 units in which two lists are made. */
  const slicesOf = (length: number): number => {
    const tracker = new Tracker();
    const lists = [listOf('first', length), listOf('second', length)];
    const both = (): readonly unknown[] => lists.map(query => tracker.get(start, undefined, query, ''));
    let slices = 1;
    while (tracker.within(500, both).value === undefined && slices < 4) slices++;
    return slices;
  };

  it('of ten thousand takes a slice; of a thousand it does not', () => {
    expect(slicesOf(1_000)).toBe(1);
    expect(slicesOf(10_000)).toBe(2);
  });
});

describe('a change of very many objects', () => {
  const COUNT = 4_000;
  const names = Array.from({ length: COUNT }, (_, i) => String(i));
  const one: Query<string, boolean> = {
    name: 'one',
    run: (reader, name) => reader.object('PeerAuthentication', `prod/${name}`) !== undefined,
  };
  const changed = (of: readonly string[]): State =>
    of.reduce((state, name) => put(state, authentication(name)).state, start);

  function watching(): Tracker {
    const tracker = new Tracker();
    for (const name of names) tracker.get(start, undefined, one, name);
    return tracker;
  }

  it('is noticed in slices of one size', () => {
    const tracker = watching();
    const state = changed(names);
    const growth = new SliceGrowth();
    const look = (): object => ({ found: tracker.get(state, undefined, one, '7') });
    let slices = 1;
    for (let slice = tracker.within(growth.budget(10), look); slice.value === undefined; slices++) {
      growth.cut(slice);
      slice = tracker.within(growth.budget(10), look);
    }
    expect(slices).toBeGreaterThan(COUNT / READS_PER_STEP / 10 / 4);
    for (const name of names) expect(tracker.get(state, undefined, one, name)).toBe(true);
  });

  it('may be followed by another one before it is noticed', () => {
    const tracker = watching();
    const [more, fewer] = [changed(names), changed(['7'])];
    expect(tracker.within(10, () => ({ found: tracker.get(more, undefined, one, '7') })).value).toBeUndefined();
    expect(names.filter(name => tracker.get(fewer, undefined, one, name))).toEqual(['7']);
    expect(tracker.within(10, () => ({ found: tracker.get(more, undefined, one, '7') })).value).toBeUndefined();
    expect(names.filter(name => tracker.get(start, undefined, one, name))).toEqual([]);
  });
});
