// A list of hosts, searched by those of another list: hosts that name something in common with one, at a cost that
// follows what is found. To compare tens of thousands of hosts of a VirtualService with those of a Gateway pair by pair
// stops the event loop.
//
// Hosts that begin with `*T` are those that end with T, so they lie side by side when ordered from their ends.

import { isWildcard } from './hosts.ts';

interface Placed {
  /** The host without its asterisk, from its end. */
  readonly reversed: string;
  readonly position: number;
}

export class HostIndex {
  readonly #hosts: readonly string[];
  /** Position of the first of equal hosts. */
  readonly #positions = new Map<string, number>();
  /** Position of the first wildcard, by what follows its asterisk. */
  readonly #tails = new Map<string, number>();
  /** The longest first. */
  readonly #tailLengths: readonly number[];
  #placed: readonly Placed[] | undefined;

  constructor(hosts: readonly string[]) {
    this.#hosts = hosts;
    for (const [position, host] of hosts.entries()) {
      if (this.#positions.has(host)) continue;
      this.#positions.set(host, position);
      if (isWildcard(host)) this.#tails.set(host.slice(1), position);
    }
    this.#tailLengths = [...new Set([...this.#tails.keys()].map(tail => tail.length))].sort((a, b) => b - a);
  }

  /** As `mostSpecific` of hosts.ts. */
  mostSpecific(host: string): string | undefined {
    if (this.#positions.has(host)) return host;
    const text = isWildcard(host) ? host.slice(1) : host;
    for (const length of this.#tailLengths) {
      const position = length > text.length ? undefined : this.#tails.get(text.slice(text.length - length));
      if (position !== undefined) return this.#hosts[position];
    }
    return undefined;
  }

  /** Whether each name that `host` stands for is one of a host of the list. */
  covers(host: string): boolean {
    return this.mostSpecific(host) !== undefined;
  }

  /** Of each pair of `host` and a host of the list that one covers the more specific one, in the order of the list. */
  meeting(host: string): readonly string[] {
    if (!isWildcard(host)) return this.#positions.has(host) || this.#covering(host) >= 0 ? [host] : [];
    const positions = this.#covered(host.slice(1));
    const covering = this.#covering(host);
    if (covering >= 0) positions.push(covering);
    return positions.sort((a, b) => a - b).map(position => (position === covering ? host : this.#hosts[position]!));
  }

  /** The distinct hosts of the list of which `meeting` finds pairs, in their order. */
  hostsMeeting(host: string): readonly string[] {
    const own = isWildcard(host) ? this.#covered(host.slice(1)) : [this.#positions.get(host) ?? -1];
    return [...own, ...this.#allCovering(host)]
      .filter(position => position >= 0)
      .sort((a, b) => a - b)
      .map(position => this.#hosts[position]!);
  }

  /** Whether `meeting` finds any. */
  meets(host: string): boolean {
    if (this.#covering(host) >= 0) return true;
    return isWildcard(host) ? this.#isAnyCovered(host.slice(1)) : this.#positions.has(host);
  }

  /** Position of the first wildcard of the list that covers `host` and is another; -1: none. */
  #covering(host: string): number {
    let first = -1;
    for (const position of this.#allCovering(host)) if (first < 0 || position < first) first = position;
    return first;
  }

  /** Positions of the wildcards of the list that cover `host` and are others. */
  #allCovering(host: string): readonly number[] {
    const text = isWildcard(host) ? host.slice(1) : host;
    const found: number[] = [];
    for (const length of this.#tailLengths) {
      if (length > text.length || (isWildcard(host) && length === text.length)) continue;
      const position = this.#tails.get(text.slice(text.length - length));
      if (position !== undefined) found.push(position);
    }
    return found;
  }

  /** Positions of the hosts that end with `tail`. */
  #covered(tail: string): number[] {
    // `*` covers all, which needs no order.
    if (tail === '') return [...this.#positions.values()];
    const reversed = reverse(tail);
    const positions: number[] = [];
    for (let i = this.#firstFrom(reversed); this.#fromEnd[i]?.reversed.startsWith(reversed); i++) {
      positions.push(this.#fromEnd[i]!.position);
    }
    return positions;
  }

  #isAnyCovered(tail: string): boolean {
    const reversed = reverse(tail);
    return this.#fromEnd[this.#firstFrom(reversed)]?.reversed.startsWith(reversed) === true;
  }

  /** Most indexes are asked for hosts without an asterisk, which need no order. */
  get #fromEnd(): readonly Placed[] {
    this.#placed ??= [...this.#positions]
      .map(([host, position]) => ({ reversed: reverse(isWildcard(host) ? host.slice(1) : host), position }))
      .sort((a, b) => (a.reversed < b.reversed ? -1 : 1));
    return this.#placed;
  }

  #firstFrom(reversed: string): number {
    let low = 0;
    let high = this.#fromEnd.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#fromEnd[middle]!.reversed < reversed) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const indexes = new WeakMap<readonly string[], HostIndex>();

/** One for each list, which must not change. */
export function hostIndexOf(hosts: readonly string[]): HostIndex {
  let index = indexes.get(hosts);
  if (index === undefined) {
    index = new HostIndex(hosts);
    indexes.set(hosts, index);
  }
  return index;
}

/** By code units: a pair of surrogates comes apart, which no comparison here minds. */
function reverse(text: string): string {
  return text.split('').reverse().join('');
}
