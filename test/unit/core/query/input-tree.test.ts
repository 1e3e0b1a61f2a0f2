// The memo of inputs by hand: what counts as equal, however it is written down, and what a sweep leaves.

import { describe, expect, test } from 'vitest';
import { InputTree, type Leaf } from '../../../../src/core/query/input-tree.ts';

interface Noted extends Leaf {
  readonly name: string;
}

function treeOf(...all: readonly (readonly [name: string, inputs: object])[]): InputTree<Noted> {
  const tree = new InputTree<Noted>();
  for (const [name, inputs] of all) tree.add({ name, atoms: tree.atomsOf(inputs), usedInEpoch: 1 });
  return tree;
}

const find = (tree: InputTree<Noted>, inputs: object): string | undefined => tree.find(tree.atomsOf(inputs))?.name;

describe('the memo of inputs', () => {
  const object = {};

  test('ignores the order of members and members that are undefined', () => {
    const tree = treeOf(['one', { a: 1, b: 'x' }]);
    expect(find(tree, { b: 'x', a: 1 })).toBe('one');
    expect(find(tree, { c: undefined, b: 'x', a: 1 })).toBe('one');
    expect(find(tree, { a: 1 })).toBeUndefined();
    expect(find(tree, { a: 1, c: 'x' })).toBeUndefined();
    expect(find(tree, { a: 1, b: null })).toBeUndefined();
  });

  test('compares scalars by value and type, arrays by element, other objects by identity', () => {
    const tree = treeOf(['one', { of: [object, ['x', 1]] }], ['nan', { of: Number.NaN }]);
    expect(find(tree, { of: [object, ['x', 1]] })).toBe('one');
    expect(find(tree, { of: [object, ['x', '1']] })).toBeUndefined();
    expect(find(tree, { of: [object, 'x', 1] })).toBeUndefined();
    expect(find(tree, { of: [object, ['x', 1], undefined] })).toBeUndefined();
    expect(find(tree, { of: [{}, ['x', 1]] })).toBeUndefined();
    expect(find(tree, { of: Number.NaN })).toBe('nan');
  });

  test('distinguishes absent members also beyond the bits of a number', () => {
    const names = Array.from({ length: 70 }, (_, i) => `m${i}`);
    const record = (missing: number): object =>
      Object.fromEntries(names.map((name, i) => [name, i === missing ? undefined : 1]));
    const tree = treeOf(['60', record(60)], ['61', record(61)]);
    expect([60, 61, 62].map(missing => find(tree, record(missing)))).toEqual(['60', '61', undefined]);
  });

  test('finds a thousand inputs that differ in one place each, and no others', () => {
    const inputs = Array.from({ length: 1000 }, (_, i) => ({ kind: 'same', a: i % 10, b: [i % 7, object], c: `${i}` }));
    const tree = treeOf(...inputs.map((each, i) => [`${i}`, each] as const));
    expect(inputs.map(each => find(tree, { ...each, b: [...each.b] }))).toEqual(inputs.map((_, i) => `${i}`));
    expect(find(tree, { ...inputs[5], a: 6 })).toBeUndefined();
    expect(tree.size).toBe(1000);
  });

  test('drops unused inputs in a sweep, and no others', () => {
    const tree = treeOf(['old', { a: 1 }], ['kept', { a: 2 }], ['other', { a: 3, b: 1 }]);
    tree.find(tree.atomsOf({ a: 2 }))!.usedInEpoch = 5;
    expect([...tree.sweeping(4)].length).toBeGreaterThan(0);
    expect(tree.size).toBe(1);
    expect([{ a: 1 }, { a: 2 }, { a: 3, b: 1 }].map(inputs => find(tree, inputs))).toEqual([
      undefined,
      'kept',
      undefined,
    ]);
    expect([...tree.sweeping(6)].length).toBeGreaterThan(0);
    expect(tree.size).toBe(0);
    tree.add({ name: 'again', atoms: tree.atomsOf({ a: 1 }), usedInEpoch: 6 });
    expect(find(tree, { a: 1 })).toBe('again');
  });
});
