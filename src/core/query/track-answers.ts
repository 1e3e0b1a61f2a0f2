// What one proxy answers, kept over states: plain facets never change, and a derived one is asked for again only when something that it was worked
// out from has another value. So a change that says nothing about a proxy costs nothing for it.
//
// Invariant: while an `Answers` is not in doubt, each of its values is what asking again would give. Whoever finds the identical object again
// (Tracker.stands) need not compare anything.

import type { ProxyRecord } from '../model/proxy.ts';
import type { Entry } from './track-entry.ts';
import type { Facet, FacetBook, FacetValue } from './track-facets.ts';
import type { Audience } from './track-variants.ts';

/** A value that was got for a proxy, with what shows whether it is still that proxy's. */
export interface Held<R> {
  readonly value: R;
  readonly entry: Entry;
  readonly audience: Audience;
  readonly answers: Answers;
}

/** A sweep forgets what was not used in its generation nor in the one before: so much later it may still be there. */
const GENERATIONS_KEPT = 2;

export class Answers {
  readonly values = new Map<Facet, FacetValue>();
  /** The proxy in one of its versions: what it watches and refuses changes, and answers nothing. */
  readonly #proxy: ProxyRecord;
  /** The values of derived facets, which proxies of which others think alike rest on as well, each with its audience then. */
  #own: Entry[] = [];
  #audiences: Audience[] = [];
  #facets: Facet[] = [];
  #generation: number;
  #doubts: number;

  /** `doubts`: how often the tracker has had a reason to doubt anything. */
  constructor(proxy: ProxyRecord, generation: number, doubts: number) {
    this.#proxy = proxy;
    this.#generation = generation;
    this.#doubts = doubts;
  }

  /** Nothing has changed since it was last found that they stand and are remembered. */
  isFresh(generation: number, doubts: number): boolean {
    return this.#doubts === doubts && this.#generation === generation;
  }

  /** Everything that a facet may look at is the same. */
  areOf(proxy: ProxyRecord): boolean {
    const { facets, metadata, extensions, identities } = this.#proxy;
    return (
      facets === proxy.facets &&
      metadata === proxy.metadata &&
      extensions === proxy.extensions &&
      identities === proxy.identities
    );
  }

  /** From now on doubt about the entry is doubt about these answers. */
  restOn(facet: Facet, entry: Entry): void {
    this.#own.push(entry);
    this.#audiences.push(entry.audience);
    this.#facets.push(facet);
  }

  /** False for ever once something that they rest on is in doubt, or has come to its value by asking something else. */
  stands(doubts: number): boolean {
    if (this.#doubts === doubts) return true;
    for (let i = 0; i < this.#own.length; i++) {
      const { standing, audience } = this.#own[i]!;
      if (standing !== 'current' || audience !== this.#audiences[i]) return false;
    }
    this.#doubts = doubts;
    return true;
  }

  /** False: what they rest on may have been forgotten, or equal values are told by another representative now. */
  renew(generation: number, facets: FacetBook): boolean {
    if (this.#generation === generation) return true;
    if (generation - this.#generation > GENERATIONS_KEPT) return false;
    let forgotten = false;
    for (const [facet, value] of this.values) {
      if (facet.kind === 'derived' && facet.gone) {
        this.values.delete(facet);
        forgotten = true;
      } else if (facets.intern(value) !== value) return false;
    }
    if (forgotten) this.#forgetGone();
    for (const entry of this.#own) entry.usedIn = generation;
    this.#generation = generation;
    return true;
  }

  #forgetGone(): void {
    const kept = this.#facets.map(facet => this.values.has(facet));
    this.#own = this.#own.filter((_, i) => kept[i]);
    this.#audiences = this.#audiences.filter((_, i) => kept[i]);
    this.#facets = this.#facets.filter((_, i) => kept[i]);
  }

  /** What does not depend on the state, for the next ones of the same proxy. */
  plain(generation: number, doubts: number): Answers {
    const next = new Answers(this.#proxy, generation, doubts);
    if (generation !== this.#generation) return next;
    for (const [facet, value] of this.values) if (facet.kind === 'plain') next.values.set(facet, value);
    return next;
  }
}
