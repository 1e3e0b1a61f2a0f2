// A list of endpoints, searched by port and by address. The ports of a service, each searched for in the endpoints of
// all, cost the square of their number; so do the addresses of thousands of proxies. Services that have one list (those
// of one ServiceEntry, or of several with one selector) share its index.

import { groupsOf, groupsOfEach } from '../base/groups.ts';
import type { Endpoint } from '../model/service.ts';

export class EndpointIndex {
  readonly all: readonly Endpoint[];
  #byPort: ReadonlyMap<number, readonly Endpoint[]> | undefined;
  #byAddress: ReadonlyMap<string, readonly Endpoint[]> | undefined;
  #accounts: ReadonlySet<string> | undefined;

  constructor(all: readonly Endpoint[]) {
    this.all = all;
  }

  /** Those of a service port; those that know their port by its name alone if it is one of `names`. In order. */
  ofPort(port: number, names: readonly string[]): readonly Endpoint[] {
    this.#byPort ??= groupsOf(this.all, ({ servicePort }) => servicePort);
    const numbered = this.#byPort.get(port) ?? [];
    const named = (this.#byPort.get(0) ?? []).filter(({ portName }) => names.includes(portName));
    if (named.length === 0 || port === 0) return port === 0 ? named : numbered;
    if (numbered.length === 0) return named;
    const found = new Set([...numbered, ...named]);
    return this.all.filter(endpoint => found.has(endpoint));
  }

  at(address: string): readonly Endpoint[] {
    this.#byAddress ??= groupsOfEach(this.all, ({ addresses }) => new Set(addresses));
    return this.#byAddress.get(address) ?? [];
  }

  /** In order. */
  atAny(addresses: readonly string[]): readonly Endpoint[] {
    const found = addresses.map(address => this.at(address)).filter(({ length }) => length > 0);
    if (found.length <= 1) return found[0] ?? [];
    const members = new Set(found.flat());
    return this.all.filter(endpoint => members.has(endpoint));
  }

  /** Service accounts that are known. */
  get accounts(): ReadonlySet<string> {
    this.#accounts ??= new Set(this.all.map(({ serviceAccount }) => serviceAccount).filter(account => account !== ''));
    return this.#accounts;
  }
}

const indexes = new WeakMap<readonly Endpoint[], EndpointIndex>();

/** One for each list, which must not change. */
export function endpointIndexOf(endpoints: readonly Endpoint[]): EndpointIndex {
  let index = indexes.get(endpoints);
  if (index === undefined) {
    index = new EndpointIndex(endpoints);
    indexes.set(endpoints, index);
  }
  return index;
}
