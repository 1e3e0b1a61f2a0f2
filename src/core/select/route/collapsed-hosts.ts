// Hosts of a gateway with routes from the same VirtualServices through the same Gateways, as domains of one virtual
// host. They are sorted as texts, which compare faster than what has them; many in a run of its own.
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { joined } from '../../base/groups.ts';
import { isWildcard } from '../../model/hosts.ts';
import { compareText } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { Reader } from '../../query/reader.ts';
import type { VirtualServiceRoutesInputs } from './virtual-service-routes.ts';

export interface GatewayVirtualHost {
  /** Also the first domain. */
  readonly host: string;
  /** Declared port of the first server with the host. */
  readonly port: number;
  /** Never empty; more than one where hosts with the same routes were joined. */
  readonly domains: readonly string[];
  readonly requireTls: boolean;
  /** Of the service of that name, if there is one: see persistent-session.ts. */
  readonly session: string;
  /** In order; empty for a host that only redirects to TLS. One object for each VirtualService and Gateway. */
  readonly routes: readonly VirtualServiceRoutesInputs[];
}

/** Hosts that are gone through in about the time of one run of a query. */
const HOSTS_PER_WORK_UNIT = 64;

/**
 * `hosts` have one domain each. A host is compared with the last virtual host of its routes only: one that redirects to
 * TLS, or does not, parts the others.
 */
export function collapsedHosts(hosts: readonly GatewayVirtualHost[]): readonly GatewayVirtualHost[] {
  return collapsedInOrder(hosts, inCollapseOrder(hosts));
}

/** Of tens of thousands: one object while they stay the same. */
export interface ManyHosts {
  readonly hosts: readonly GatewayVirtualHost[];
}

/** As `collapsedHosts`, in two runs of their own. */
export function collapsedMany(reader: Reader, many: ManyHosts): readonly GatewayVirtualHost[] {
  return reader.make(collapsedOfMany, { many, order: reader.make(collapseOrder, { many }) }).hosts;
}

interface CollapseOrder {
  readonly names: readonly string[];
}

const collapseOrder: Generator<{ readonly many: ManyHosts }, CollapseOrder> = {
  name: 'select/collapseOrder',
  run: ({ many }) => ({ names: inCollapseOrder(many.hosts) }),
  work: (_, { many }) => many.hosts.length / HOSTS_PER_WORK_UNIT,
};

const collapsedOfMany: Generator<{ readonly many: ManyHosts; readonly order: CollapseOrder }, ManyHosts> = {
  name: 'select/collapsedOfMany',
  run: ({ many, order }) => ({ hosts: collapsedInOrder(many.hosts, order.names) }),
  work: (_, { many }) => many.hosts.length / HOSTS_PER_WORK_UNIT,
};

function collapsedInOrder(
  hosts: readonly GatewayVirtualHost[],
  order: readonly string[],
): readonly GatewayVirtualHost[] {
  const byName = new Map<string, GatewayVirtualHost>();
  for (const host of hosts) byName.set(host.host, host);
  const kept: (GatewayVirtualHost & { readonly domains: string[] })[] = [];
  const lastOf = new Map<unknown, (typeof kept)[number]>();
  const keyOf = routeKeys();
  for (const name of order) {
    const host = byName.get(name)!;
    const key = keyOf(host.routes);
    const last = lastOf.get(key);
    if (last?.requireTls === host.requireTls) {
      last.domains.push(name);
      continue;
    }
    const { port, requireTls, session, routes } = host;
    const first = { host: name, port, domains: [name], requireTls, session, routes };
    kept.push(first);
    lastOf.set(key, first);
  }
  return kept;
}

/** Equal for lists of the same routes. Thousands of hosts may begin with the same ones. */
function routeKeys(): (routes: readonly VirtualServiceRoutesInputs[]) => unknown {
  const ids = new Map<VirtualServiceRoutesInputs, number>();
  const idOf = (one: VirtualServiceRoutesInputs): number => {
    const id = ids.get(one) ?? ids.size;
    ids.set(one, id);
    return id;
  };
  return routes => (routes.length === 1 ? routes[0] : routes.map(idOf).join());
}

/** Exact hosts before wildcards; of each the longest first, then by text. */
function inCollapseOrder(hosts: readonly GatewayVirtualHost[]): readonly string[] {
  const groups = new Map<number, string[]>();
  for (const { host } of hosts) {
    const key = (isWildcard(host) ? HOST_MAX : 0) - host.length;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [host]);
    else group.push(host);
  }
  const keys = [...groups.keys()].sort((a, b) => a - b);
  return joined(keys.map(key => groups.get(key)!.sort(compareText)));
}

/** More than the length of any host. */
const HOST_MAX = 1e9;
