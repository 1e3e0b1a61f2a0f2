// Questions about a whole list of hosts, which may be as long as an object can be: which of them overlap, and which
// names they cover.
//
// No two hosts are compared directly. Exact names are looked up; a wildcard is found by the tail of a name, of which
// there are as many as wildcards have different lengths, at most the length of a name. Most tails of a name are none of
// a wildcard: they are told by a number that grows with the tail, and no text is made of them.

import { isWildcard, subsetOf } from '../../../model/hosts.ts';

/** What wildcards of a list end with. */
interface Tail {
  readonly text: string;
  /** The place of the first of them. */
  readonly first: number;
  /** The longest tail that this one ends with; null: not looked up yet. */
  shorter: Tail | undefined | null;
  /** The place of the first wildcard whose tail this one ends with; -1: not looked up yet. */
  earliest: number;
  /** The first host that ends with it; -1: none so far. A tail that has one has one in all shorter tails. */
  ending: number;
}

class Tails {
  readonly #byText = new Map<string, Tail>();
  /** Of all tails; another text may have the same. */
  readonly #hashes = new Set<number>();
  /** Ascending. */
  readonly #lengths: readonly number[];
  /** Of the tails of the name that is looked up, by length. */
  readonly #found: Int32Array;

  constructor(hosts: readonly string[]) {
    const lengths = new Set<number>();
    for (let first = 0; first < hosts.length; first++) {
      const host = hosts[first]!;
      if (!isWildcard(host)) continue;
      const text = host.slice(1);
      if (this.#byText.has(text)) continue;
      this.#byText.set(text, { text, first, shorter: null, earliest: -1, ending: -1 });
      lengths.add(text.length);
      let hash = 0;
      for (let i = text.length - 1; i >= 0; i--) hash = withLetter(hash, text.charCodeAt(i));
      this.#hashes.add(hash);
    }
    this.#lengths = [...lengths].sort((a, b) => a - b);
    this.#found = new Int32Array((this.#lengths.at(-1) ?? 0) + 1);
  }

  /** The longest tail that a name, or what is behind the star of a wildcard, ends with. */
  longestOf(host: string): Tail | undefined {
    if (this.#lengths.length === 0) return undefined;
    if (!isWildcard(host)) return this.#longest(host, host.length);
    const text = host.slice(1);
    return this.#byText.get(text) ?? this.#longest(text, text.length);
  }

  shorterThan(tail: Tail): Tail | undefined {
    if (tail.shorter === null) tail.shorter = this.#longest(tail.text, tail.text.length - 1);
    return tail.shorter;
  }

  earliestOf(tail: Tail): number {
    if (tail.earliest < 0) {
      const shorter = this.shorterThan(tail);
      tail.earliest = shorter === undefined ? tail.first : Math.min(tail.first, this.earliestOf(shorter));
    }
    return tail.earliest;
  }

  #longest(name: string, lengthMax: number): Tail | undefined {
    const most = Math.min(lengthMax, this.#found.length - 1);
    let hash = 0;
    for (let length = 1; length <= most; length++) {
      hash = withLetter(hash, name.charCodeAt(name.length - length));
      this.#found[length] = hash;
    }
    for (let i = this.#lengths.length - 1; i >= 0; i--) {
      const length = this.#lengths[i]!;
      if (length > most || !this.#hashes.has(this.#found[length]!)) continue;
      const tail = this.#byText.get(name.slice(name.length - length));
      if (tail !== undefined) return tail;
    }
    return undefined;
  }
}

function withLetter(hash: number, letter: number): number {
  return (Math.imul(hash, 31) + letter) | 0;
}

/**
 * For each host the place of the first host before it that it has a name in common with; undefined if there is none.
 */
export function earlierOverlaps(hosts: readonly string[]): readonly (number | undefined)[] {
  const tails = new Tails(hosts);
  const exact = new Map<string, number>();
  return hosts.map((host, i) => {
    const longest = tails.longestOf(host);
    let first = longest === undefined ? i : tails.earliestOf(longest);
    if (!isWildcard(host)) {
      first = Math.min(first, exact.get(host) ?? i);
      if (!exact.has(host)) exact.set(host, i);
    } else if (longest !== undefined && longest.ending >= 0) first = Math.min(first, longest.ending);
    for (let tail = longest; tail !== undefined && tail.ending < 0; tail = tails.shorterThan(tail)) tail.ending = i;
    return first < i ? first : undefined;
  });
}

/** Whether every name that a host stands for is also one of the list's. */
export function coverOf(hosts: readonly string[]): (host: string) => boolean {
  const exact = new Set(hosts);
  const tails = new Tails(hosts);
  return host => {
    if (exact.has(host)) return true;
    for (let tail = tails.longestOf(host); tail !== undefined; tail = tails.shorterThan(tail)) {
      if (subsetOf(host, `*${tail.text}`)) return true;
    }
    return false;
  };
}
