// Which facts record a subscription: `ProxySubscribed` with its names in full, or, if there are many, with a reference
// to a list that the journal has once for all proxies that subscribe to the same (`Names`). Otherwise 400 sidecars of a
// mesh of 500 services would write 12 MB of names, the same ten lists again and again.
//
// Invariant: a fact refers to a list only if the state has the list when the fact is folded. The state keeps a list
// while the subscription of a connected proxy equals it (core/fold/name-lists.ts); facts are folded in the order in
// which the host gets them, so the uses counted here, in that order, are those that folding finds. In doubt the names
// are listed again. What the host refuses is in no state: its uses are given back (`onDisconnected`), and a fact that
// was given meanwhile and found no list is followed by one with the names in full.

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

  /**
   * Records a subscription change. `current`: the subscription in the newest folded state. `write`: gives facts to the
   * host; what that rejects with, this rejects with.
   */
  async record(
    fact: ProxySubscribed,
    current: () => Subscription | undefined,
    write: (facts: readonly Unrecorded[]) => Promise<void>,
  ): Promise<void> {
    const facts = this.facts(fact, current());
    try {
      await write(facts);
    } catch (error) {
      this.onDisconnected(fact.connection);
      throw error;
    }
    const unlisted = this.#unlisted(fact, facts, current());
    if (unlisted.length > 0) await write(unlisted);
  }

  /** The facts to record besides if the fold of `recorded` did not find its list; none if `after` has the names. */
  #unlisted(
    fact: ProxySubscribed,
    recorded: readonly Unrecorded[],
    after: Subscription | undefined,
  ): readonly Unrecorded[] {
    const isListed = recorded.some(one => one.kind === 'ProxySubscribed' && one.list !== undefined);
    if (!isListed || after === undefined || after.names.length > 0) return [];
    this.#forget(fact.connection, fact.typeUrl);
    return [{ source: XDS_SOURCE, ...fact }];
  }

  /** Call it when `ProxyDisconnected` is given to the host, not later, or the host refused facts of the connection. */
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
