// Resolves the names in a VirtualService: hosts, destinations and gateways, relative to the namespace of the object.
// Source: Istio pilot/pkg/model/virtualservice.go (ResolveVirtualServiceShortnames).

import { resolveGatewayName, resolveShortName } from '../../model/hosts.ts';
import type {
  Destination,
  HTTPRoute,
  RouteDestination,
  TCPRoute,
  TLSRoute,
  VirtualService,
} from '../../schema/istio-types.gen.ts';

interface Names {
  readonly host: (host: string) => string;
  readonly gateways: (gateways: readonly string[]) => readonly string[];
}

export function resolveNames(spec: VirtualService, namespace: string, domainSuffix: string): VirtualService {
  const names: Names = {
    host: host => resolveShortName(host, namespace, domainSuffix),
    gateways: gateways => gateways.map(gateway => resolveGatewayName(gateway, namespace)),
  };
  return {
    ...spec,
    hosts: spec.hosts?.map(names.host),
    gateways: spec.gateways && names.gateways(spec.gateways),
    http: spec.http?.map(route => httpRoute(route, names)),
    tcp: spec.tcp?.map(route => l4Route(route, names)),
    tls: spec.tls?.map(route => l4Route(route, names)),
  };
}

function httpRoute(route: HTTPRoute, names: Names): HTTPRoute {
  return {
    ...route,
    match: route.match?.map(match => withGateways(match, names)),
    route: route.route?.map(to => ({ ...to, destination: destination(to.destination, names) })),
    mirror: destination(route.mirror, names),
    mirrors: route.mirrors?.map(mirror => ({ ...mirror, destination: destination(mirror.destination, names) })),
  };
}

function l4Route<R extends TCPRoute | TLSRoute>(route: R, names: Names): R {
  return {
    ...route,
    match: route.match?.map(match => withGateways(match, names)),
    route: route.route?.map((to: RouteDestination) => ({ ...to, destination: destination(to.destination, names) })),
  };
}

function withGateways<M extends { readonly gateways?: readonly string[] }>(match: M, names: Names): M {
  return match.gateways === undefined ? match : { ...match, gateways: names.gateways(match.gateways) };
}

function destination(to: Destination | undefined, names: Names): Destination | undefined {
  return to === undefined ? undefined : { ...to, host: names.host(to.host ?? '') };
}
