// Resolves the names in a VirtualService: hosts, destinations and gateways, relative to the namespace of the object.
// Source: Istio pilot/pkg/model/virtualservice.go (ResolveVirtualServiceShortnames).

import { joined } from '../../base/groups.ts';
import { resolveGatewayName, resolveShortName } from '../../model/hosts.ts';
import type { Generator } from '../../query/memo.ts';
import type { Reader } from '../../query/reader.ts';
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
  const names = namesIn(namespace, domainSuffix);
  return { ...withoutRules(spec, names), http: spec.http?.map(route => httpRoute(route, names)) };
}

function namesIn(namespace: string, domainSuffix: string): Names {
  return {
    host: host => resolveShortName(host, namespace, domainSuffix),
    gateways: gateways => gateways.map(gateway => resolveGatewayName(gateway, namespace)),
  };
}

/** With the HTTP rules as they are. */
function withoutRules(spec: VirtualService, names: Names): VirtualService {
  return {
    ...spec,
    hosts: spec.hosts?.map(names.host),
    gateways: spec.gateways && names.gateways(spec.gateways),
    http: spec.http,
    tcp: spec.tcp?.map(route => l4Route(route, names)),
    tls: spec.tls?.map(route => l4Route(route, names)),
  };
}

/** More HTTP rules are resolved in blocks. */
const RULES_ALONE_MAX = 1_024;
const RULES_TOGETHER = 512;

/** As `resolveNames`, in runs of their own if there are many rules. */
export function resolvedNames(
  reader: Reader,
  spec: VirtualService,
  namespace: string,
  domainSuffix: string,
): VirtualService {
  const count = spec.http?.length ?? 0;
  if (count <= RULES_ALONE_MAX) return resolveNames(spec, namespace, domainSuffix);
  const blocks: (readonly HTTPRoute[])[] = [];
  for (let from = 0; from < count; from += RULES_TOGETHER) {
    const to = Math.min(count, from + RULES_TOGETHER);
    blocks.push(reader.make(resolvedRules, { spec, from, to, namespace, domainSuffix }));
  }
  return { ...withoutRules(spec, namesIn(namespace, domainSuffix)), http: joined(blocks) };
}

interface RulesInputs {
  readonly spec: VirtualService;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly namespace: string;
  readonly domainSuffix: string;
}

const resolvedRules: Generator<RulesInputs, readonly HTTPRoute[]> = {
  name: 'scope/resolvedRules',
  run: ({ spec, from, to, namespace, domainSuffix }) => {
    const names = namesIn(namespace, domainSuffix);
    return spec.http!.slice(from, to).map(route => httpRoute(route, names));
  },
  work: ({ length }) => length / RULES_PER_WORK_UNIT,
};

/** Rules that are resolved in about the time of one run of a query. */
const RULES_PER_WORK_UNIT = 16;

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
