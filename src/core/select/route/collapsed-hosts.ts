// Hosts of a gateway with routes from the same VirtualServices through the same Gateways, as domains of one virtual
// host. A long list is sorted by a generator of its own, as texts: they compare faster than what has them.
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { groupsOf } from '../../base/groups.ts';
import { isWildcard } from '../../model/hosts.ts';
import { compareText } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { ProxyReader } from '../../query/reader.ts';
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

const SORTED_TOGETHER_MAX = 4_096;
/** Hosts that are sorted in about the time of one run of a query. */
const SORTED_PER_WORK_UNIT = 64;

/**
 * `hosts` have one domain each. A host is compared with the last virtual host of its routes only: one that redirects to
 * TLS, or does not, parts the others.
 */
export function collapsedHosts(
  reader: ProxyReader,
  hosts: readonly GatewayVirtualHost[],
): readonly GatewayVirtualHost[] {
  const names = hosts.map(({ host }) => host);
  const order = names.length > SORTED_TOGETHER_MAX ? reader.make(collapseOrder, { names }) : inCollapseOrder(names);
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

const collapseOrder: Generator<{ readonly names: readonly string[] }, readonly string[]> = {
  name: 'select/collapseOrder',
  run: ({ names }) => inCollapseOrder(names),
  work: ({ length }) => length / SORTED_PER_WORK_UNIT,
};

/** Exact hosts before wildcards; of each the longest first, then by text. */
function inCollapseOrder(names: readonly string[]): readonly string[] {
  const groups = groupsOf(names, name => (isWildcard(name) ? HOST_MAX : 0) - name.length);
  const keys = [...groups.keys()].sort((a, b) => a - b);
  return keys.flatMap(key => groups.get(key)!.sort(compareText));
}

/** More than the length of any host. */
const HOST_MAX = 1e9;
