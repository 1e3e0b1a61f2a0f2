// Lists of the identical resources share one set; other lists do not.

import { expect, test } from 'vitest';
import type { Resource } from '../../../../src/core/model/resource.ts';
import { COMPARED_SETS, SetBook } from '../../../../src/xds/engine/set-book.ts';

const CDS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const EDS = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
const resource = (name: string): Resource<object> => ({ name, message: { name }, problems: [] });

test('set book: lists of identical resources have one set', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(resource) as [Resource<object>, Resource<object>, Resource<object>];
  const book = new SetBook();
  const list = [a, b];
  expect(book.find(CDS, list)).toBeUndefined();
  const set = book.make(CDS, list);
  expect(book.find(CDS, list)).toBe(set);
  expect(book.find(CDS, [a, b])).toBe(set);
  expect(book.find(CDS, [b, a])).toBeUndefined();
  expect(book.find(CDS, [a, b, c])).toBeUndefined();
  expect(book.find(CDS, [a, resource('b')])).toBeUndefined();
  expect(book.find(EDS, [a, b])).toBeUndefined();
});

test('set book: a list is compared with COMPARED_SETS sets at most', () => {
  const book = new SetBook();
  const lists = Array.from({ length: COMPARED_SETS + 1 }, (_, i) => [resource(`r${i}`)]);
  const sets = lists.map(list => book.make(CDS, list));
  expect(book.find(CDS, [...lists.at(-1)!])).toBe(sets.at(-1));
  expect(book.find(CDS, [...lists[0]!])).toBeUndefined();
  expect(book.find(CDS, lists[0]!)).toBe(sets[0]);
});
