// Set operations on names and versions, memoised by the identity of their arguments. A thousand sidecars of a namespace
// watch the same six hundred clusters and go from one version of them to the next together. All sets and lists here are
// immutable, so the same operation on the same arguments is a look-up for the second stream, and gives the identical
// result; shared response bodies are found by that identity (serve/shared-bodies.ts).
//
// Invariant: memoisation changes no value. Pure; the memos are weak, so they keep nothing alive.

import type { Versions } from './session.ts';

type Names = ReadonlySet<string>;
type NameList = readonly string[];
/** A set of names, or something by name. */
type Has = Pick<Names, 'has'>;

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

/** The names in both; `a` itself if it is a subset of `b`. */
export const intersection: (a: Names, b: Has) => Names = memoByPair((a, b) => kept(a, name => b.has(name)));

/** The names of `a` that are not in `b`; `a` itself if none of them is. */
export const difference: (a: Names, b: Has) => Names = memoByPair((a, b) => kept(a, name => !b.has(name)));

function kept(names: Names, isKept: (name: string) => boolean): Names {
  const all = [...names];
  const left = all.filter(isKept);
  return left.length === all.length ? names : left.length === 0 ? empty : new Set(left);
}

/** The names in either; one of both itself if it has the other. */
export const union: (a: Names, b: Names) => Names = memoByPair((a, b) => {
  const [large, small] = a.size < b.size ? [b, a] : [a, b];
  for (const name of small) if (!large.has(name)) return new Set([...large, ...small]);
  return large;
});

export function unionWith(a: Names, list: NameList): Names {
  return union(a, setOf(list));
}

/** The names of both lists. */
export function unionOf(a: NameList, b: NameList): Names {
  return union(setOf(a), setOf(b));
}

/** The names of the list that have a version. */
const present: (list: NameList, versions: Versions) => NameList = memoByPair((list, versions) => {
  const found = list.filter(name => versions.has(name));
  return found.length === list.length ? list : found;
});

/** The names of the set that have no version, sorted. */
export const absent: (names: Names, versions: Versions) => NameList = memoByPair((names, versions) => {
  const found: string[] = [];
  for (const name of names) if (!versions.has(name)) found.push(name);
  return found.length === 0 ? noList : found.sort();
});

/**
 * The sorted union of `list` and those of `names` that have a version. `list` must be sorted and have versions
 * throughout.
 */
export function mergePresent(versions: Versions, list: NameList, names: Names): NameList {
  if (names.size === 0 || list.length === versions.size) return list;
  return mergeLists(list, present(sorted(names), versions));
}

const mergeLists: (a: NameList, b: NameList) => NameList = memoByPair((a, b) => {
  if (b.length === 0) return a;
  if (a.length === 0) return b;
  // A list that has the other one is the result, and its set is made once for all of its uses.
  const [long, short] = a.length < b.length ? [b, a] : [a, b];
  const all = setOf(long);
  return short.every(name => all.has(name)) ? long : [...new Set([...long, ...short])].sort();
});

export interface VersionDiff {
  /** Names that are new or have another version; sorted. */
  readonly changed: NameList;
  readonly gone: NameList;
}

/** From the versions that a client holds to the generated ones. */
export const diffVersions: (before: Versions, now: Versions) => VersionDiff = memoByPair((before, now) => {
  const changed: string[] = [];
  let stayed = 0;
  now.forEach((version, name) => {
    const held = before.get(name);
    if (held !== undefined) stayed++;
    if (held !== version) changed.push(name);
  });
  return {
    // One list for all streams that are sent everything.
    changed: changed.length === now.size ? namesOf(now) : changed.length === 0 ? noList : changed,
    gone: stayed === before.size ? noList : [...before.keys()].filter(name => !now.has(name)),
  };
});
