// The facet values of one proxy, kept over states. A plain facet depends on the proxy's record alone and never changes.
// A derived facet is the value of a query, and is evaluated again only when its entry is no longer valid. So a change
// unrelated to a proxy costs nothing for it.
//
// Invariant: while `areCurrent` is true, each value here is what evaluating its facet again would give, so each derived
// value comes with the entry that it depends on (`dependOn`), and a value that is here is never replaced: this object
// is, by `withoutDerived`. A `Handle` therefore compares the identity of this object instead of facet values. After a
// sweep has ended, `renew` comes first: equal values may have been interned as other objects since.

import type { ProxyRecord } from '../model/proxy.ts';
import type { Entry } from './entry.ts';
import type { FacetKey } from './facet-key.ts';
import type { Facet, FacetRegistry, FacetValue } from './facets.ts';

/** The value of a query for one proxy, with what `Tracker.isCurrent` needs to tell whether it still is that value. */
export interface Handle<R> {
  readonly value: R;
  readonly entry: Entry;
  readonly facetKey: FacetKey;
  readonly proxyFacets: ProxyFacets;
}

/**
 * A sweep keeps what was used in its epoch or the one before: entries not used for more epochs may have been dropped.
 */
const EPOCHS_KEPT = 2;

/** A derived facet with the entry its value came from, and that entry's facet key at the time. */
interface DerivedDependency {
  readonly facet: Facet;
  readonly entry: Entry;
  readonly facetKey: FacetKey;
}

export class ProxyFacets {
  readonly values = new Map<Facet, FacetValue>();
  /** Any version of the proxy's record: versions differ in subscriptions and NACKs, which no facet reads. */
  readonly #proxy: ProxyRecord;
  #derived: DerivedDependency[] = [];
  #epoch: number;
  /** The tracker's count of invalidations when the values were last known to be current. */
  #invalidations: number;

  constructor(proxy: ProxyRecord, epoch: number, invalidations: number) {
    this.#proxy = proxy;
    this.#epoch = epoch;
    this.#invalidations = invalidations;
  }

  /** True if nothing was invalidated and no sweep ended since the last check: current, and already marked as used. */
  isFresh(epoch: number, invalidations: number): boolean {
    return this.#invalidations === invalidations && this.#epoch === epoch;
  }

  /** True if everything that a facet can read is the same in this record. */
  describes(proxy: ProxyRecord): boolean {
    const { facets, metadata, extensions, identities, protocol } = this.#proxy;
    return (
      facets === proxy.facets &&
      metadata === proxy.metadata &&
      extensions === proxy.extensions &&
      identities === proxy.identities &&
      protocol === proxy.protocol
    );
  }

  /** Records that the value of a derived facet is that of the entry. */
  dependOn(facet: Facet, entry: Entry): void {
    this.#derived.push({ facet, entry, facetKey: entry.facetKey });
  }

  /**
   * False once an entry is no longer valid or has another facet key. The caller then replaces this object
   * (`withoutDerived`).
   */
  areCurrent(invalidations: number): boolean {
    if (this.#invalidations === invalidations) return true;
    for (const { entry, facetKey } of this.#derived) {
      if (entry.validity !== 'valid' || entry.facetKey !== facetKey) return false;
    }
    this.#invalidations = invalidations;
    return true;
  }

  /**
   * Marks all values as used in this epoch. False if that is too late: entries may be swept, or equal values interned
   * as other objects.
   */
  renew(epoch: number, facets: FacetRegistry): boolean {
    if (this.#epoch === epoch) return true;
    if (epoch - this.#epoch > EPOCHS_KEPT) return false;
    let forgotten = false;
    for (const [facet, value] of this.values) {
      if (facet.kind === 'derived' && facet.forgotten) {
        this.values.delete(facet);
        forgotten = true;
      } else if (facets.intern(value) !== value) return false;
    }
    if (forgotten) this.#derived = this.#derived.filter(({ facet }) => this.values.has(facet));
    for (const { entry } of this.#derived) entry.usedInEpoch = epoch;
    this.#epoch = epoch;
    return true;
  }

  /** A successor for the same proxy that keeps the plain facets, whose values do not depend on the state. */
  withoutDerived(epoch: number, invalidations: number): ProxyFacets {
    const next = new ProxyFacets(this.#proxy, epoch, invalidations);
    if (epoch !== this.#epoch) return next;
    for (const [facet, value] of this.values) if (facet.kind === 'plain') next.values.set(facet, value);
    return next;
  }
}
