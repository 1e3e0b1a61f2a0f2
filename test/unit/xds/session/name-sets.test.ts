// Set operations on names: the right names in order, and the identical value where nothing changed or the same was asked
// before, since shared response bodies are found by identity.

import { describe, expect, test } from 'vitest';
import {
  absent,
  difference,
  diffVersions,
  intersection,
  mergePresent,
  namesOf,
  noList,
  setOf,
  sorted,
  union,
  unionOf,
  unionWith,
} from '../../../../src/xds/session/name-sets.ts';

const set = (text: string): ReadonlySet<string> => new Set(text);
const list = (text: string): readonly string[] => [...text];
const versions = (text: string, version = '1'): ReadonlyMap<string, string> =>
  new Map([...text].map(name => [name, version]));
const shown = (names: Iterable<string>): string => [...names].join('');

describe('operations on names', () => {
  test('give the identical value for the identical arguments', () => {
    const [a, b, names] = [set('abc'), set('bcd'), list('bx')];
    const [held, now] = [versions('ab'), versions('bc')];
    expect(intersection(a, b)).toBe(intersection(a, b));
    expect(difference(a, b)).toBe(difference(a, b));
    expect(unionWith(a, names)).toBe(unionWith(a, names));
    expect(setOf(names)).toBe(setOf(names));
    expect(sorted(a)).toBe(sorted(a));
    expect(diffVersions(held, now)).toBe(diffVersions(held, now));
    // Another partner of the same first argument is another question.
    expect(shown(intersection(a, b))).toBe('bc');
    expect(shown(intersection(a, set('a')))).toBe('a');
    expect(intersection(a, b)).toBe(intersection(a, b));
  });

  test('keep an argument that is the result', () => {
    const [a, names] = [set('ab'), list('ab')];
    expect(intersection(a, set('abc'))).toBe(a);
    expect(intersection(a, versions('abc'))).toBe(a);
    expect(difference(a, set('xy'))).toBe(a);
    expect(unionWith(a, list('ba'))).toBe(a);
    expect(union(a, set('b'))).toBe(a);
    expect(union(set(''), a)).toBe(a);
    expect(unionWith(set(''), names)).toBe(setOf(names));
    expect(unionOf(names, list(''))).toBe(setOf(names));
  });

  test('share one empty set and one empty list', () => {
    expect(intersection(set('a'), set('b'))).toBe(intersection(set('c'), set('d')));
    expect(difference(set('a'), set('a'))).toBe(difference(set('bc'), set('cb')));
    expect(difference(set('a'), set('a')).size).toBe(0);
    expect(absent(set('a'), versions('a'))).toBe(noList);
    expect(diffVersions(versions('a'), versions('a'))).toEqual({ changed: noList, gone: noList });
    expect(diffVersions(versions('a'), versions('a')).changed).toBe(noList);
    expect(diffVersions(versions('a'), versions('ab')).gone).toBe(noList);
  });

  test('take away and add what the other one names, and nothing else', () => {
    expect(shown(difference(set('abc'), set('bx')))).toBe('ac');
    expect(shown(intersection(set('abc'), versions('bx')))).toBe('b');
    expect(shown(unionWith(set('ab'), list('bc')))).toBe('abc');
    expect(shown(unionOf(list('ab'), list('bc')))).toBe('abc');
    expect([...union(set('ab'), set('bcd'))].sort()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('sort what they list', () => {
    expect(shown(sorted(set('cab')))).toBe('abc');
    expect(shown(absent(set('zxay'), versions('a')))).toBe('xyz');
  });
});

describe('the merger of a list with present names', () => {
  test('adds those that have a version, in order', () => {
    expect(shown(mergePresent(versions('abcd'), list('bd'), set('xca')))).toBe('abcd');
  });

  test('keeps the list if no name comes to it', () => {
    const now = versions('abcd');
    const names = list('ab');
    expect(mergePresent(now, names, set(''))).toBe(names);
    expect(mergePresent(now, names, set('xyz'))).toBe(names);
    expect(mergePresent(now, names, set('b'))).toBe(names);
    expect(mergePresent(versions('ab'), names, set('ab'))).toBe(names);
  });

  test('is the names alone, as they are sorted once, if the list has none of its own', () => {
    const now = versions('abcd');
    const asked = set('ca');
    expect(mergePresent(now, noList, asked)).toBe(sorted(asked));
    expect(mergePresent(now, list('a'), asked)).toBe(sorted(asked));
  });
});

describe('the difference of versions', () => {
  test('names what is new or has another version, and what is gone', () => {
    const held = new Map([
      ['same', '1'],
      ['other', '1'],
      ['gone', '1'],
    ]);
    const now = new Map([
      ['same', '1'],
      ['other', '2'],
      ['new', '1'],
    ]);
    expect(diffVersions(held, now)).toEqual({ changed: ['other', 'new'], gone: ['gone'] });
  });

  test('is one list for all clients that are sent everything', () => {
    const now = versions('ab');
    expect(diffVersions(versions(''), now).changed).toBe(namesOf(now));
    expect(diffVersions(versions('b', '0'), now).changed).toBe(namesOf(now));
  });
});
