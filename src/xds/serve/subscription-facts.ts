// Which fact records a subscription: one with its names in full, or, when they are many, one that refers to names which the journal lists once
// for all who ask for the same. 400 sidecars of a mesh of 500 services would write 12 MB of names otherwise, the same ten lists again and again.
//
// A list is in the state as long as a connected proxy's subscription is just that (core/fold/name-lists.ts). Facts are folded in the order in which
// they are given to the host, so what is counted here, in that order, is what folding will find; where in doubt the names are listed again.

import { hash } from 'node:crypto';
import { canonicalJson } from '../../core/base/json.ts';
import type { ProxySubscribed, Unrecorded } from '../../core/event.ts';
import type { Subscription } from '../../core/model/proxy.ts';
import { XDS_SOURCE } from './host.ts';

/** Fewer names are recorded in full. */
export const LISTED_NAMES_MIN = 16;

export class SubscriptionFacts {
  readonly #digests = new WeakMap<readonly string[], string>();
  /** digest → subscriptions that are just that, in facts given to the host. */
  readonly #uses = new Map<string, number>();
  /** connection → type → digest. */
  readonly #held = new Map<string, Map<string, string>>();

  /** Lists that are in use. */
  get size(): number {
    return this.#uses.size;
  }

  /** What to record at once, in one piece. `before`: the subscription as it is folded. */
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

  /** To be called when `ProxyDisconnected` is recorded, not later. */
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
