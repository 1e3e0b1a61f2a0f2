// Set operations on names and versions, memoised by the identity of their arguments. A thousand sidecars of a namespace
// watch the same six hundred clusters and go from one version of them to the next together. All sets and lists here are
// immutable, so the same operation on the same arguments is a look-up for the second stream, and gives the identical
// result; shared response bodies are found by that identity (serve/shared-bodies.ts).
//
// Invariant: memoisation changes no value. Pure; the memos are weak, so they keep nothing alive.

import type { Versions } from './session.ts';

type Names = ReadonlySet<string>;
type NameList = readonly string[];

/** Memoises by the identity of both arguments, for as long as both exist. */
function memoByPair<A extends object, B extends object, R>(make: (a: A, b: B) => R): (a: A, b: B) => R {
  const known = new WeakMap<A, WeakMap<B, { readonly made: R }>>();
  return (a, b) => {
    let ofA = known.get(a);
    if (ofA === undefined) {
      ofA = new WeakMap();
      known.set(a, ofA);
    }
    let cell = ofA.get(b);
    if (cell === undefined) {
      cell = { made: make(a, b) };
      ofA.set(b, cell);
    }
    return cell.made;
  };
}

function memoByOne<A extends object, R extends object>(make: (a: A) => R): (a: A) => R {
  const known = new WeakMap<A, R>();
  return a => {
    let made = known.get(a);
    if (made === undefined) {
      made = make(a);
      known.set(a, made);
    }
    return made;
  };
}

export const noList: NameList = [];
const empty: Names = new Set();

export const setOf: (list: NameList) => Names = memoByOne(list => new Set(list));

/** Sorted by code units. */
export const sorted: (names: Names) => NameList = memoByOne(names => [...names].sort());

export const namesOf: (versions: Versions) => NameList = memoByOne(versions => [...versions.keys()]);

/** The names in both sets; `a` itself if it is a subset of `b`. */
export const intersection: (a: Names, b: Names) => Names = memoByPair((a, b) => {
  const both = new Set([...a].filter(name => b.has(name)));
  return both.size === a.size ? a : both.size === 0 ? empty : both;
});

/** The set without the names of the list; `a` itself if none of them is in it. */
export const without: (a: Names, list: NameList) => Names = memoByPair((a, list) => {
  const gone = list.filter(name => a.has(name));
  if (gone.length === 0) return a;
  const left = new Set(a);
  for (const name of gone) left.delete(name);
  return left.size === 0 ? empty : left;
});

export const unionWith: (a: Names, list: NameList) => Names = memoByPair((a, list) =>
  list.every(name => a.has(name)) ? a : a.size === 0 ? setOf(list) : new Set([...a, ...list]),
);

/** The names of both lists. */
export const unionOf: (a: NameList, b: NameList) => Names = memoByPair((a, b) =>
  b.length === 0 ? setOf(a) : new Set([...a, ...b]),
);

/** The names of the list that have a version. */
const present: (list: NameList, versions: Versions) => NameList = memoByPair((list, versions) => {
  const found = list.filter(name => versions.has(name));
  return found.length === list.length ? list : found;
});

/** The names of the set that have no version, sorted. */
export const absent: (names: Names, versions: Versions) => NameList = memoByPair((names, versions) => {
  const found = [...names].filter(name => !versions.has(name));
  return found.length === 0 ? noList : found.sort();
});

/**
 * The sorted union of `list` and those of `names` that have a version. `list` must be sorted and have versions
 * throughout.
 */
export function mergePresent(versions: Versions, list: NameList, names: Names): NameList {
  return names.size === 0 ? list : mergeLists(list, present(sorted(names), versions));
}

const mergeLists: (a: NameList, b: NameList) => NameList = memoByPair((a, b) => {
  if (b.length === 0) return a;
  const all = new Set(a);
  for (const name of b) all.add(name);
  if (all.size === a.length) return a;
  return all.size === b.length ? b : [...all].sort();
});

export interface VersionDiff {
  /** Names that are new or have another version; sorted. */
  readonly changed: NameList;
  readonly gone: NameList;
}

/** From the versions that a client holds to the generated ones. */
export const diffVersions: (before: Versions, now: Versions) => VersionDiff = memoByPair((before, now) => {
  const changed: string[] = [];
  for (const [name, version] of now) if (before.get(name) !== version) changed.push(name);
  const gone = [...before.keys()].filter(name => !now.has(name));
  return {
    // One list for all streams that are sent everything.
    changed: changed.length === now.size ? namesOf(now) : changed.length === 0 ? noList : changed,
    gone: gone.length === 0 ? noList : gone,
  };
});
