// The VirtualServices of a Gateway by their hosts: those of a server are looked up. Thousands of servers, each compared
// with thousands of VirtualServices, cost the product.

import { groupsOfEach } from '../../base/groups.ts';
import { HostIndex } from '../../model/host-index.ts';
import type { Query } from '../../query/reader.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../scope/virtual-services.ts';

type Placed = readonly [position: number, virtualService: ResolvedVirtualService];

interface HostGroup {
  readonly index: HostIndex;
  /** Host → those that have it, in order. */
  readonly byHost: ReadonlyMap<string, readonly Placed[]>;
}

export class BoundVirtualServices {
  readonly #all: readonly ResolvedVirtualService[];
  #open: HostGroup | undefined;
  readonly #byNamespace = new Map<string, HostGroup>();

  constructor(all: readonly ResolvedVirtualService[]) {
    this.#all = all;
  }

  /**
   * Those with a host that one of the server's hosts (`h` or `namespace/h`) meets, in their order, but those of
   * `without`. A host with a namespace is for VirtualServices of that namespace.
   */
  meeting(
    serverHosts: readonly string[],
    without?: ReadonlySet<ResolvedVirtualService>,
  ): readonly ResolvedVirtualService[] {
    const found = new Map<number, ResolvedVirtualService>();
    for (const own of serverHosts) {
      const slash = own.indexOf('/');
      const group = slash < 0 ? this.#everyNamespace() : this.#inNamespace(own.slice(0, slash));
      for (const host of group.index.hostsMeeting(own.slice(slash + 1))) {
        for (const [position, vs] of group.byHost.get(host) ?? []) {
          if (without?.has(vs) !== true) found.set(position, vs);
        }
      }
    }
    return [...found].sort(([a], [b]) => a - b).map(([, vs]) => vs);
  }

  #everyNamespace(): HostGroup {
    this.#open ??= groupOf(this.#all.entries());
    return this.#open;
  }

  #inNamespace(namespace: string): HostGroup {
    let group = this.#byNamespace.get(namespace);
    if (group === undefined) {
      group = groupOf([...this.#all.entries()].filter(([, vs]) => vs.namespace === namespace));
      this.#byNamespace.set(namespace, group);
    }
    return group;
  }
}

function groupOf(virtualServices: Iterable<Placed>): HostGroup {
  const byHost = groupsOfEach(virtualServices, ([, { hosts }]) => new Set(hosts));
  return { index: new HostIndex([...byHost.keys()]), byHost };
}

/** Argument `namespace/name` of a Gateway. */
export const boundVirtualServices: Query<string, BoundVirtualServices> = {
  name: 'select/boundVirtualServices',
  run: (reader, gateway) =>
    new BoundVirtualServices(reader.get(virtualServicesFor, { namespace: reader.facet('namespace'), gateway })),
};
