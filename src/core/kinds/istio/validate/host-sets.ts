// Questions about a whole list of hosts, which may be as long as an object can be: which of them overlap, and which
// names they cover.
//
// No two hosts are compared directly. Exact names are looked up; a wildcard is found by the tail of a name, of which
// there are as many as wildcards have different lengths, at most the length of a name.

import { isWildcard, subsetOf } from '../../../model/hosts.ts';

/** What all wildcards of a list end with, and the place of the first of each. */
class Tails {
  readonly #first = new Map<string, number>();
  readonly #lengths: readonly number[];

  constructor(hosts: readonly string[]) {
    for (const [i, host] of hosts.entries()) {
      if (!isWildcard(host)) continue;
      const tail = host.slice(1);
      if (!this.#first.has(tail)) this.#first.set(tail, i);
    }
    this.#lengths = [...new Set([...this.#first.keys()].map(tail => tail.length))].sort((a, b) => a - b);
  }

  /**
   * Calls back with every tail that the name ends with, and the place of the first wildcard that has it. A wildcard's
   * own tail is one of them. No generator: it would be most of the cost of a long list.
   */
  of(host: string, found: (tail: string, at: number) => void): void {
    if (this.#lengths.length === 0) return;
    const name = isWildcard(host) ? host.slice(1) : host;
    for (const length of this.#lengths) {
      if (length > name.length) return;
      const tail = name.slice(name.length - length);
      const at = this.#first.get(tail);
      if (at !== undefined) found(tail, at);
    }
  }
}

/**
 * For each host the place of the first host before it that it has a name in common with; undefined if there is none.
 */
export function earlierOverlaps(hosts: readonly string[]): readonly (number | undefined)[] {
  const tails = new Tails(hosts);
  const exact = new Map<string, number>();
  /** By tail: the first host that ends with it. */
  const ending = new Map<string, number>();
  return hosts.map((host, i) => {
    let first = exact.get(host) ?? i;
    if (first === i) exact.set(host, i);
    if (isWildcard(host)) first = Math.min(first, ending.get(host.slice(1)) ?? i);
    tails.of(host, (tail, at) => {
      first = Math.min(first, at);
      if (!ending.has(tail)) ending.set(tail, i);
    });
    return first < i ? first : undefined;
  });
}

/** Whether every name that a host stands for is also one of the list's. */
export function coverOf(hosts: readonly string[]): (host: string) => boolean {
  const exact = new Set(hosts);
  const tails = new Tails(hosts);
  return host => {
    let isCovered = exact.has(host);
    if (!isCovered) {
      tails.of(host, tail => {
        isCovered ||= subsetOf(host, `*${tail}`);
      });
    }
    return isCovered;
  };
}
