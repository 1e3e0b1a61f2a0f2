// Finds addresses by any of their names, for clients that ask for some: by uid, by `network/address`, by
// `namespace/host`. A service comes with its workloads.
// Source: Istio pilot/pkg/serviceregistry/ambient/ambientindex.go (Lookup).

import type { Resource } from '../../../core/model/resource.ts';
import type { WorkloadAddress } from '../../proto/types.gen.ts';

type Address = Resource<WorkloadAddress>;

export class AddressIndex {
  readonly #byName = new Map<string, Address>();
  readonly #workloadsAt = new Map<string, Address[]>();
  readonly #servicesAt = new Map<string, Address>();
  readonly #workloadsOf = new Map<string, Address[]>();
  readonly #workloadsOn = new Map<string, Address[]>();

  constructor(addresses: readonly Address[]) {
    for (const address of addresses) {
      const { name, message, aliases = [] } = address;
      if (!this.#byName.has(name)) this.#byName.set(name, address);
      const { workload } = message;
      for (const alias of aliases) {
        if (workload !== undefined) add(this.#workloadsAt, alias, address);
        else if (!this.#servicesAt.has(alias)) this.#servicesAt.set(alias, address);
      }
      if (workload === undefined) continue;
      for (const service of Object.keys(workload.services ?? {})) add(this.#workloadsOf, service, address);
      if (workload.node) add(this.#workloadsOn, workload.node, address);
    }
  }

  /** Those of the names, and the workloads of a node; by name. */
  chosen(names: readonly string[], node: string): readonly Address[] {
    const found = new Map<string, Address>();
    const own = this.#workloadsOn.get(node) ?? [];
    for (const address of [...names.flatMap(name => this.#lookup(name)), ...own]) found.set(address.name, address);
    return [...found.keys()].sort().map(name => found.get(name)!);
  }

  #lookup(name: string): readonly Address[] {
    const workloads = this.#workloadsAt.get(name);
    if (workloads !== undefined) return workloads;
    const named = this.#byName.get(name) ?? this.#servicesAt.get(name);
    return named === undefined ? [] : [named, ...(this.#workloadsOf.get(named.name) ?? [])];
  }
}

function add(to: Map<string, Address[]>, key: string, address: Address): void {
  const list = to.get(key);
  if (list === undefined) to.set(key, [address]);
  else list.push(address);
}
