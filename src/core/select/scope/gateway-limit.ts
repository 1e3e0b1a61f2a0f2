// A limit on hosts of VirtualServices times ports of the Gateways that they name. Each port of a gateway has routes of
// its own (Istio pilot/pkg/networking/core/gateway.go, buildGatewayHTTPRouteConfig) with a virtual host of each host,
// so a Gateway of thousands of ports and a VirtualService of thousands of hosts that an API server stores make
// gigabytes.
//
// The oldest VirtualServices come first, as in route-limits.ts.

import type { Query, Reader } from '../../query/reader.ts';
import { gatewayInForce } from '../../translate/in-force.ts';
import { type Within, within } from './route-limits.ts';

/** Virtual hosts on all ports of all gateways, some 300 MB in a proxy that has them all. */
export const GATEWAY_HOSTS_MAX = 1_000_000;

export interface OnGateways {
  readonly hosts: readonly string[];
  /** `mesh` or `namespace/name`. */
  readonly gateways: readonly string[];
}

/** As `within` of route-limits.ts. */
export function withinGatewayLimit<T extends OnGateways>(reader: Reader, all: readonly T[]): Within<T> {
  if (!mayExceed(reader, all)) return { fitting: all, past: [] };
  return within(all, GATEWAY_HOSTS_MAX, ({ hosts, gateways }) => {
    const ports = new Set(gateways.flatMap(gateway => reader.get(portsOfGateway, gateway)));
    return hosts.length * ports.size;
  });
}

/** As if no two gateways had a port in common: a look at each gateway and not at each pair. */
function mayExceed(reader: Reader, all: readonly OnGateways[]): boolean {
  const hosts = new Map<string, number>();
  for (const one of all) {
    for (const gateway of one.gateways) hosts.set(gateway, (hosts.get(gateway) ?? 0) + one.hosts.length);
  }
  let sum = 0;
  for (const [gateway, count] of hosts) sum += count * reader.get(portsOfGateway, gateway).length;
  return sum > GATEWAY_HOSTS_MAX;
}

/** Argument `namespace/name`; `mesh` has none. */
const portsOfGateway: Query<string, readonly number[]> = {
  name: 'scope/portsOfGateway',
  run: (reader, key) => {
    const servers = gatewayInForce(reader, key)?.spec.servers ?? [];
    return [...new Set(servers.map(({ port }) => port?.number ?? 0))];
  },
};
