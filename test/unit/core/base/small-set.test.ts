import { describe, expect, it } from 'vitest';
import { type Few, forEachOf, isEmpty, SET_MAX, Sets, withOne, without } from '../../../../src/core/base/small-set.ts';

interface Item {
  readonly at: number;
}
const items = (count: number): readonly Item[] => Array.from({ length: count }, (_, at) => ({ at }));
const setOf = (all: readonly Item[]): Few<Item> => all.reduce<Few<Item>>(withOne, undefined);
const elements = (few: Few<Item>): readonly number[] => {
  const found: number[] = [];
  forEachOf(few, ({ at }) => found.push(at));
  return found.sort((a, b) => a - b);
};
const sizes = (few: Few<Item>): readonly number[] =>
  few instanceof Sets ? few.sets.map(({ size }) => size) : few instanceof Set ? [few.size] : [1];

describe('a small set', () => {
  it.each([0, 1, 2, 100, SET_MAX, SET_MAX + 1, 3 * SET_MAX + 5])(
    'has each of %d elements until it is removed',
    count => {
      const all = items(count);
      let few = [...all, ...all.slice(-1)].reduce<Few<Item>>(withOne, undefined);
      expect(elements(few)).toEqual(all.map(({ at }) => at));
      expect(isEmpty(few)).toBe(count === 0);
      const [even, odd] = [0, 1].map(rest => all.filter(({ at }) => at % 2 === rest));
      few = even!.reduce<Few<Item>>(without, few);
      expect(elements(few)).toEqual(odd!.map(({ at }) => at));
      few = odd!.reduce<Few<Item>>(without, without(few, { at: 0 }));
      expect(elements(few)).toEqual([]);
      expect(isEmpty(few)).toBe(true);
    },
  );

  it('never finds a place anew for more elements than a Set has at most', () => {
    expect(Math.max(...sizes(setOf(items(10 * SET_MAX))))).toBe(SET_MAX);
  });

  it('has as many Sets as its elements need, however many came and went', () => {
    const waves = Array.from({ length: 8 }, () => items(2 * SET_MAX));
    const few = waves.reduce<Few<Item>>(
      (set, wave) => wave.slice(0, -9).reduce(without, wave.reduce(withOne, set)),
      undefined,
    );
    expect(sizes(few).length).toBeLessThanOrEqual(3);
    expect(elements(few)).toHaveLength(8 * 9);
  });
});
