// Where connections to a TCP or TLS server of a Gateway go: VirtualServices bound to the Gateway, or, for
// AUTO_PASSTHROUGH, the services themselves by the SNI that mesh clients send.
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { blocksOf } from '../../base/groups.ts';
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
        const bound = boundTo(reader, merged, before);
        for (const vs of bound) before.add(vs);
        return untaken(fittingRoutes(reader, bound, merged), taken);
      }),
    );
  },
};

function isPassthrough(server: Server): boolean {
  return !isHttpServer(server) && server.tls !== undefined && (server.tls.mode ?? 'PASSTHROUGH') === 'PASSTHROUGH';
}

/** Without those that have a name of one before; `taken` collects the names. */
function untaken(routes: readonly SniRoute[], taken: Set<string>): readonly SniRoute[] {
  return routes.filter(({ serverNames }) => {
    if (serverNames.some(name => taken.has(name))) return false;
    for (const name of serverNames) taken.add(name);
    return true;
  });
}

/** More VirtualServices are gone through in blocks, so that their routes stay made when the work is interrupted. */
const WALKED_MAX = 256;
const WALKED_TOGETHER = 64;

function fittingRoutes(
  reader: ProxyReader,
  bound: readonly ResolvedVirtualService[],
  merged: MergedServer,
): readonly SniRoute[] {
  if (bound.length <= WALKED_MAX) return tlsRoutesOf.run(reader, { bound, merged });
  return blocksOf(bound, WALKED_TOGETHER).flatMap(block => reader.select(tlsRoutesOf, { bound: block, merged }));
}

interface Bound {
  readonly bound: readonly ResolvedVirtualService[];
  readonly merged: MergedServer;
}

/** One for each tls match that fits the server. */
const tlsRoutesOf: Selection<Bound, readonly SniRoute[]> = {
  name: 'select/tlsRoutesOf',
  run: (reader, { bound, merged }) => {
    const port = declaredPort(merged);
    const routes: SniRoute[] = [];
    for (const vs of bound) {
      for (const rule of (vs.spec as VirtualService).tls ?? []) {
        const fitting = (rule.match ?? []).filter(match => fits(match, merged));
        if (fitting.length === 0) continue;
        const made = ruleTcpRoute(reader, rule.route ?? [], port, vs);
        if (made === undefined) continue;
        const route = reader.make(oneOfEqualRoutes, made);
        for (const { sniHosts: serverNames = [] } of fitting) {
          routes.push({ serverNames, route, port: port.port, protocol: port.protocol });
        }
      }
    }
    return routes;
  },
};

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
