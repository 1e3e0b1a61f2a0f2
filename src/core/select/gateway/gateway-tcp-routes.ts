// Where connections to a TCP or TLS server of a Gateway go: VirtualServices bound to the Gateway, or, for
// AUTO_PASSTHROUGH, the services themselves by the SNI that mesh clients send.
// Source: Istio pilot/pkg/networking/core/gateway.go.

import { PARENTS } from '../../model/derived.ts';
import { hostIndexOf } from '../../model/host-index.ts';
import { subsetOf } from '../../model/hosts.ts';
import { protocolOf } from '../../model/protocol.ts';
import type { Port } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { L4MatchAttributes, TLSRoute, VirtualService } from '../../schema/istio-types.gen.ts';
import { sniDnatName } from '../cluster/cluster-names.ts';
import { ruleTcpRoute, sniTcpRoute, type TcpRoute } from '../listener/tcp-routes.ts';
import { destinationRule } from '../scope/destination-rules.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';
import { type ResolvedVirtualService, virtualServicesFor } from '../scope/virtual-services.ts';
import { serverPort } from './gateway-servers.ts';
import type { MergedServer } from './gateways.ts';

export interface SniRoute {
  readonly serverNames: readonly string[];
  readonly route: TcpRoute;
  /** The port that is meant, as far as the gateway can know it. */
  readonly port: Pick<Port, 'port' | 'protocol'>;
}

/** The route of a TCP server, also of one that ends TLS: the first tcp rule that fits. */
export function serverTcpRoute(reader: ProxyReader, merged: MergedServer): TcpRoute | undefined {
  for (const vs of boundTo(reader, merged)) {
    for (const rule of (vs.spec as VirtualService).tcp ?? []) {
      const all = rule.match ?? [];
      if (all.length > 0 && !all.some(match => fits(match, merged))) continue;
      return ruleTcpRoute(reader, rule.route ?? [], declaredPort(merged), vs);
    }
    const rule = merged.server.tls === undefined ? undefined : terminatedRule(vs, merged);
    if (rule !== undefined) return ruleTcpRoute(reader, rule.route ?? [], declaredPort(merged), vs);
  }
  return undefined;
}

/** The rule of a TLSRoute at a server that ends TLS: names of clients no longer choose. */
function terminatedRule(vs: ResolvedVirtualService, merged: MergedServer): TLSRoute | undefined {
  if (vs.obj.annotations[PARENTS]?.startsWith('TLSRoute/') !== true) return undefined;
  return (vs.spec.tls ?? []).find(({ match = [] }) => match.some(one => fits(one, merged)));
}

/** The routes of a PASSTHROUGH server: one for each tls match that fits. */
export function passthroughRoutes(reader: ProxyReader, merged: MergedServer): readonly SniRoute[] {
  const routes: SniRoute[] = [];
  for (const vs of boundTo(reader, merged)) {
    for (const rule of (vs.spec as VirtualService).tls ?? []) {
      for (const match of rule.match ?? []) {
        if (!fits(match, merged)) continue;
        const route = ruleTcpRoute(reader, rule.route ?? [], declaredPort(merged), vs);
        if (route !== undefined) routes.push({ serverNames: match.sniHosts ?? [], route, port: declaredPort(merged) });
      }
    }
  }
  return routes;
}

/**
 * The routes of an AUTO_PASSTHROUGH server: every service of the mesh that its hosts cover, every port, every subset.
 */
export function autoPassthroughRoutes(reader: ProxyReader, merged: MergedServer): readonly SniRoute[] {
  const routes: SniRoute[] = [];
  for (const service of reader.get(scopedServices, '')) {
    if (service.meshExternal || !merged.sniHosts.some(host => subsetOf(service.hostname, host))) continue;
    const rule = reader.get(destinationRule, { hostname: service.hostname, direction: 'outbound' });
    const subsets = ['', ...(rule?.spec.subsets ?? []).map(subset => subset.name ?? '')];
    for (const port of service.ports) {
      if (port.protocol === 'UDP') continue;
      for (const subset of subsets) {
        const name = sniDnatName(service.hostname, subset, port.port);
        const route = sniTcpRoute(reader, name, { service, port, subset }, rule?.spec);
        routes.push({ serverNames: [name], route, port });
      }
    }
  }
  return routes;
}

/** VirtualServices of the server's Gateway with a host that the server serves, in their order. */
function boundTo(reader: ProxyReader, merged: MergedServer): readonly ResolvedVirtualService[] {
  const all = reader.get(virtualServicesFor, { namespace: reader.facet('namespace'), gateway: merged.gatewayName });
  return all.filter(({ hosts, namespace }) => {
    const index = hostIndexOf(hosts);
    return merged.server.hosts.some(own => {
      // A server host with a namespace is for VirtualServices of that namespace.
      const slash = own.indexOf('/');
      return (slash < 0 || own.slice(0, slash) === namespace) && index.meets(own.slice(slash + 1));
    });
  });
}

function fits(match: L4MatchAttributes, merged: MergedServer): boolean {
  const gateways = match.gateways ?? [];
  if (gateways.length > 0 && !gateways.includes(merged.gatewayName)) return false;
  return match.port === undefined || match.port === 0 || match.port === declaredPort(merged).port;
}

function declaredPort({ server }: MergedServer): Port {
  const { name, number, protocol } = serverPort(server);
  return { name, port: number, protocol: protocolOf(protocol) };
}
