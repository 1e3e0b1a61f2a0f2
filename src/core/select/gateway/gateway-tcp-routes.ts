// Where connections to a TCP or TLS server of a Gateway go: VirtualServices bound to the Gateway, or, for
// AUTO_PASSTHROUGH, the services themselves by the SNI that mesh clients send.
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { hostIndexOf } from '../../model/host-index.ts';
import { protocolOf } from '../../model/protocol.ts';
import type { Port } from '../../model/service.ts';
import { interning } from '../../query/memo.ts';
import type { ProxyReader, Selection } from '../../query/reader.ts';
import type { L4MatchAttributes, Server, VirtualService } from '../../schema/istio-types.gen.ts';
import { sniDnatName } from '../cluster/cluster-names.ts';
import { ruleTcpRoute, sniTcpRoute, type TcpRoute } from '../listener/tcp-routes.ts';
import { destinationRule } from '../scope/destination-rules.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';
import type { ResolvedVirtualService } from '../scope/virtual-services.ts';
import { boundVirtualServices } from './bound-virtual-services.ts';
import { isAtGateway } from './first-rules.ts';
import { isHttpServer, serverPort } from './gateway-servers.ts';
import type { MergedServer, ServerGroup } from './gateways.ts';

export interface SniRoute {
  readonly serverNames: readonly string[];
  readonly route: TcpRoute;
  /** The number and protocol of the port that is meant, as far as the gateway can know it. */
  readonly port: number;
  readonly protocol: Port['protocol'];
}

/** The route of a TCP server, also of one that ends TLS: the first tcp rule that fits. */
export function serverTcpRoute(reader: ProxyReader, merged: MergedServer): TcpRoute | undefined {
  const { server, gatewayName } = merged;
  const port = declaredPort(merged);
  const bound = reader.get(boundVirtualServices, gatewayName);
  const rule = bound.firstRule(server.hosts, port.port, server.tls !== undefined);
  return rule === undefined ? undefined : ruleTcpRoute(reader, rule.route, port, rule.virtualService);
}

const oneOfEqualRoutes = interning<TcpRoute>('select/tcpRoute');

/**
 * The routes of the PASSTHROUGH servers of one listener, by group and server (none for other servers): one for each tls
 * match that fits, unless a route before it has one of its names and so takes its connections.
 *
 * A match that fits the servers of a Gateway on one port fits them all, so each VirtualService is gone through for the
 * first of them alone: 8,000 servers that each serve a host of 8,000 rules made 64,000,000 routes, of which 8,000 stay.
 */
export const passthroughRoutes: Selection<
  { readonly groups: readonly ServerGroup[] },
  readonly (readonly (readonly SniRoute[])[])[]
> = {
  name: 'select/passthroughRoutes',
  run: (reader, { groups }) => {
    const taken = new Set<string>();
    const walked = new Map<string, Set<ResolvedVirtualService>>();
    return groups.map(({ servers }) =>
      servers.map(merged => {
        if (!isPassthrough(merged.server)) return [];
        const key = `${merged.gatewayName}|${declaredPort(merged).port}`;
        const before = walked.get(key) ?? new Set();
        walked.set(key, before);
        return boundTo(reader, merged, before).flatMap(vs => {
          before.add(vs);
          return tlsRoutesOf(reader, vs, merged, taken);
        });
      }),
    );
  },
};

function isPassthrough(server: Server): boolean {
  return !isHttpServer(server) && server.tls !== undefined && (server.tls.mode ?? 'PASSTHROUGH') === 'PASSTHROUGH';
}

/** `taken` collects their names. */
function tlsRoutesOf(
  reader: ProxyReader,
  vs: ResolvedVirtualService,
  merged: MergedServer,
  taken: Set<string>,
): readonly SniRoute[] {
  const port = declaredPort(merged);
  const routes: SniRoute[] = [];
  for (const rule of (vs.spec as VirtualService).tls ?? []) {
    for (const match of rule.match ?? []) {
      const serverNames = match.sniHosts ?? [];
      if (!fits(match, merged) || serverNames.some(name => taken.has(name))) continue;
      const route = ruleTcpRoute(reader, rule.route ?? [], port, vs);
      if (route === undefined) continue;
      for (const name of serverNames) taken.add(name);
      routes.push({
        serverNames,
        route: reader.make(oneOfEqualRoutes, route),
        port: port.port,
        protocol: port.protocol,
      });
    }
  }
  return routes;
}

/**
 * The routes of an AUTO_PASSTHROUGH server: every service of the mesh that its hosts cover, every port, every subset.
 */
export function autoPassthroughRoutes(reader: ProxyReader, merged: MergedServer): readonly SniRoute[] {
  const routes: SniRoute[] = [];
  const index = hostIndexOf(merged.sniHosts);
  for (const service of reader.get(scopedServices, '')) {
    if (service.meshExternal || !index.covers(service.hostname)) continue;
    const rule = reader.get(destinationRule, { hostname: service.hostname, direction: 'outbound' });
    const subsets = ['', ...(rule?.spec.subsets ?? []).map(subset => subset.name ?? '')];
    for (const port of service.ports) {
      if (port.protocol === 'UDP') continue;
      for (const subset of subsets) {
        const name = sniDnatName(service.hostname, subset, port.port);
        const route = sniTcpRoute(reader, name, { service, port, subset }, rule?.spec);
        routes.push({ serverNames: [name], route, port: port.port, protocol: port.protocol });
      }
    }
  }
  return routes;
}

/** VirtualServices of the server's Gateway with a host that it serves, in their order, but those of `without`. */
function boundTo(
  reader: ProxyReader,
  { server, gatewayName }: MergedServer,
  without?: ReadonlySet<ResolvedVirtualService>,
): readonly ResolvedVirtualService[] {
  return reader.get(boundVirtualServices, gatewayName).meeting(server.hosts, without);
}

function fits(match: L4MatchAttributes, merged: MergedServer): boolean {
  if (!isAtGateway(match, merged.gatewayName)) return false;
  return match.port === undefined || match.port === 0 || match.port === declaredPort(merged).port;
}

function declaredPort({ server }: MergedServer): Port {
  const { name, number, protocol } = serverPort(server);
  return { name, port: number, protocol: protocolOf(protocol) };
}
