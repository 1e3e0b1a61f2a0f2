// Which facts record a subscription: `ProxySubscribed` with its names in full, or, if there are many, with a reference
// to a list that the journal has once for all proxies that subscribe to the same (`Names`). Otherwise 400 sidecars of a
// mesh of 500 services would write 12 MB of names, the same ten lists again and again.
//
// Invariant: a fact refers to a list only if the state has the list when the fact is folded. The state keeps a list
// while the subscription of a connected proxy equals it (core/fold/name-lists.ts); facts are folded in the order in
// which the host gets them, so the uses counted here, in that order, are those that folding finds. In doubt the names
// are listed again.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/base/json.ts';
import type { ProxySubscribed, Unrecorded } from '../../core/event.ts';
import type { Subscription } from '../../core/model/proxy.ts';
import { XDS_SOURCE } from './host.ts';

/** A subscription to fewer names is recorded in full. */
export const LISTED_NAMES_MIN = 16;

export class SubscriptionFacts {
  readonly #digests = new WeakMap<readonly string[], string>();
  /** digest → subscriptions equal to that list, counted over the facts given to the host. */
  readonly #uses = new Map<string, number>();
  /** connection → type → digest. */
  readonly #held = new Map<string, Map<string, string>>();

  /** Number of lists in use. */
  get size(): number {
    return this.#uses.size;
  }

  /**
   * The facts for a subscription change, to be recorded in one call. `before`: the subscription in the folded state.
   */
  facts(fact: ProxySubscribed, before: Subscription | undefined): readonly Unrecorded[] {
    const { connection, typeUrl, subscribe, unsubscribe } = fact;
    this.#forget(connection, typeUrl);
    const isFirst = before === undefined || before.names.length === 0;
    if (!isFirst || unsubscribe.length > 0 || subscribe.length < LISTED_NAMES_MIN) {
      return [{ source: XDS_SOURCE, ...fact }];
    }
    const list = this.#digestOf(subscribe);
    const facts: Unrecorded[] = [];
    if (!this.#uses.has(list)) facts.push({ source: XDS_SOURCE, kind: 'Names', digest: list, names: subscribe });
    facts.push({ source: XDS_SOURCE, ...fact, list, subscribe: [] });
    this.#uses.set(list, (this.#uses.get(list) ?? 0) + 1);
    const held = this.#held.get(connection) ?? new Map<string, string>();
    this.#held.set(connection, held.set(typeUrl, list));
    return facts;
  }

  /** Call it when `ProxyDisconnected` is given to the host, not later. */
  onDisconnected(connection: string): void {
    for (const typeUrl of this.#held.get(connection)?.keys() ?? []) this.#forget(connection, typeUrl);
    this.#held.delete(connection);
  }

  #forget(connection: string, typeUrl: string): void {
    const held = this.#held.get(connection);
    const list = held?.get(typeUrl);
    if (list === undefined) return;
    held?.delete(typeUrl);
    const uses = this.#uses.get(list) ?? 0;
    if (uses > 1) this.#uses.set(list, uses - 1);
    else this.#uses.delete(list);
  }

  #digestOf(names: readonly string[]): string {
    const known = this.#digests.get(names);
    if (known !== undefined) return known;
    const digest = hash('sha256', canonicalJson(names), 'hex');
    this.#digests.set(names, digest);
    return digest;
  }
}
