// A table is a sorted map: whatever is written to it, key by key or in bulk, it holds what a Map would hold, in key
// order, and the versions before stay as they were.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Table } from '../../src/core/table.ts';
import { parameters } from './seed.ts';

type Entry = readonly [string, number];
interface Written {
  readonly start: readonly Entry[];
  readonly deletions: readonly string[];
  readonly entries: readonly Entry[];
}

const key = fc.nat(1_500).map(n => `key-${n}`);
const entries = (maxLength: number): fc.Arbitrary<readonly Entry[]> =>
  fc.array(fc.tuple(key, fc.nat()), { maxLength, size: 'max' });
const written: fc.Arbitrary<Written> = fc.record({
  start: entries(1_200),
  deletions: fc.array(key, { maxLength: 300, size: 'max' }),
  entries: fc.oneof(entries(20), entries(800)),
});

type Change = (table: Table<number>, deletions: readonly string[], entries: readonly Entry[]) => Table<number>;

function likeAMap(change: Change): fc.IProperty<[Written]> {
  return fc.property(written, ({ start, deletions, entries: put }) => {
    const before = Table.from(start);
    const old = [...before.entries()];
    const now = change(before, deletions, put);
    const map = new Map(start);
    for (const gone of deletions) map.delete(gone);
    for (const [name, value] of put) map.set(name, value);
    const expected = [...map].sort(([a], [b]) => (a < b ? -1 : 1));
    expect([...now.entries()]).toEqual(expected);
    expect(now.size).toBe(expected.length);
    expect([...before.entries()]).toEqual(old);
    expect([...now.with('key-1-more', 1).without('key-1-more').entries()]).toEqual(expected);
    for (const prefix of ['', 'key-1', 'key-15', 'none']) {
      const values = expected.filter(([name]) => name.startsWith(prefix)).map(([, value]) => value);
      expect(now.range(prefix)).toEqual(values);
      expect([...now.valuesFrom(prefix)]).toEqual(values);
    }
    const differing = expected.filter(([name, value]) => before.get(name) !== value).map(([name]) => name);
    const gone = old.filter(([name]) => !map.has(name)).map(([name]) => name);
    expect([...now.keysUnlike(before)].sort()).toEqual([...differing, ...gone].sort());
  });
}

describe('a table', () => {
  it('contains what was written to it, in batches of any size', () => {
    fc.assert(
      likeAMap((table, deletions, put) => table.changed(deletions, put)),
      parameters<[Written]>(150),
    );
  });
  it('canary: a lost entry is detected', () => {
    const lossy: Change = (table, deletions, put) => table.changed(deletions, put.slice(1));
    expect(fc.check(likeAMap(lossy), { numRuns: 50, seed: 1 }).failed).toBe(true);
  });
});
