// The VirtualServices of a Gateway by their hosts, and their TCP rules by port: those of a server are looked up.
// Thousands of servers, each compared with thousands of VirtualServices or rules, cost the product.

import { groupsOfEach } from '../../base/groups.ts';
import { HostIndex } from '../../model/host-index.ts';
import type { Query } from '../../query/reader.ts';
import type { RouteDestination } from '../../schema/istio-types.gen.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../scope/virtual-services.ts';
import { earlier, FirstRules, type Placed, type PlacedRule } from './first-rules.ts';

/** Shorter lists are made as fast as they are found. */
const KEPT_MIN = 256;

interface HostGroup {
  readonly index: HostIndex;
  /** Host → those that have it, in order. */
  readonly byHost: ReadonlyMap<string, readonly Placed[]>;
}

/** The rule that connections to a TCP server take, and the VirtualService that has it. */
export interface ServerRule {
  readonly virtualService: ResolvedVirtualService;
  readonly route: readonly RouteDestination[];
}

export class BoundVirtualServices {
  readonly #gateway: string;
  readonly #all: readonly ResolvedVirtualService[];
  #open: HostGroup | undefined;
  readonly #byNamespace = new Map<string, HostGroup>();
  /** By the positions of the VirtualServices: most hosts of a VirtualService have no other. */
  readonly #firstRules = new Map<string, FirstRules>();
  /** The last long list that `meeting` made, for work that was interrupted and asks for it again. */
  #lastMeeting: { readonly hosts: readonly string[]; readonly list: readonly ResolvedVirtualService[] } | undefined;

  constructor(gateway: string, all: readonly ResolvedVirtualService[]) {
    this.#gateway = gateway;
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
    const isWhole = without === undefined || without.size === 0;
    if (isWhole && this.#lastMeeting?.hosts === serverHosts) return this.#lastMeeting.list;
    const found = new Map<number, ResolvedVirtualService>();
    for (const ofHost of this.#met(serverHosts)) {
      for (const [position, vs] of ofHost) if (without?.has(vs) !== true) found.set(position, vs);
    }
    const list = [...found].sort(([a], [b]) => a - b).map(([, vs]) => vs);
    if (isWhole && list.length > KEPT_MIN) this.#lastMeeting = { hosts: serverHosts, list };
    return list;
  }

  /** The first TCP rule for the port of those; of TLSRoutes also the first TLS rule, at a server that ends TLS. */
  firstRule(serverHosts: readonly string[], port: number, endsTls: boolean): ServerRule | undefined {
    let first: PlacedRule | undefined;
    for (const ofHost of this.#met(serverHosts)) first = earlier(first, this.#firstOf(ofHost).at(port, endsTls));
    return first;
  }

  *#met(serverHosts: readonly string[]): IterableIterator<readonly Placed[]> {
    for (const own of serverHosts) {
      const slash = own.indexOf('/');
      const group = slash < 0 ? this.#everyNamespace() : this.#inNamespace(own.slice(0, slash));
      for (const host of group.index.hostsMeeting(own.slice(slash + 1))) yield group.byHost.get(host) ?? [];
    }
  }

  #firstOf(ofHost: readonly Placed[]): FirstRules {
    const key = ofHost.map(([position]) => position).join();
    const known = this.#firstRules.get(key) ?? new FirstRules(this.#gateway, ofHost);
    this.#firstRules.set(key, known);
    return known;
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

/** Argument `namespace/name` of a Gateway, or `mesh`. */
export const boundVirtualServices: Query<string, BoundVirtualServices> = {
  name: 'select/boundVirtualServices',
  run: (reader, gateway) =>
    new BoundVirtualServices(
      gateway,
      reader.get(virtualServicesFor, { namespace: reader.facet('namespace'), gateway }),
    ),
};
