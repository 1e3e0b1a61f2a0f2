// Which virtual hosts a sidecar's route configuration has: for each, its hosts and services and what its routes are made of.
//
// VirtualServices come first, in their order, then the services that none of them took. Two of them may claim one host or one address; the
// generator removes those in the order given here, so the order is part of the answer.
// Source: Istio pilot/pkg/networking/core/httproute.go, route/route.go (BuildSidecarVirtualHostWrapper); spec-routes-visibility §1, §2.

import type { Generator } from '../memo.ts';
import { portNumbered, type Service } from '../model/service.ts';
import { compareText } from '../object.ts';
import type { ProxyReader, Query, Selection } from '../reader.ts';
import { isHttp, isUnsupported, protocolOf } from '../registry/protocol.ts';
import { isWildcard, matches } from './hosts.ts';
import {
  inferFrom,
  type RoutePlace,
  type VirtualServiceRoutesInputs,
  virtualServiceRoutesInputs,
} from './route-inputs.ts';
import { parseRouteName, type RouteName } from './route-names.ts';
import { type EgressListener, type SidecarScope, sidecarScope } from './sidecar-scope.ts';
import type { ResolvedVirtualService } from './virtual-services.ts';
import { mostSpecificVirtualService } from './wildcard-hosts.ts';

/** Equal ones are one object: what follows from one is not asked for again because another changed. */
export interface VirtualHostWrapper {
  /** Port that the route configuration is built for: as below. */
  readonly buildPort: number;
  /** Names the virtual hosts, together with host or service. */
  readonly port: number;
  /** Hosts of the VirtualService that are no services. */
  readonly hosts: readonly string[];
  readonly services: readonly Service[];
  /** undefined: the default routes of each service. */
  readonly routes: VirtualServiceRoutesInputs | undefined;
}

export interface SidecarVirtualHosts {
  readonly name: RouteName;
  /** Port that the virtual hosts are built for; 0: all ports, and domains carry theirs. */
  readonly port: number;
  readonly wrappers: readonly VirtualHostWrapper[];
}

/** Argument: the name of a route configuration. undefined: there is none of that name. */
export const sidecarVirtualHosts: Query<string, SidecarVirtualHosts | undefined> = {
  name: 'select/sidecarVirtualHosts',
  run: (reader, routeName) => {
    const name = parseRouteName(routeName);
    if (name === undefined) return undefined;
    const listener = listenerFor(reader.get(sidecarScope, ''), routeName, name.port);
    if (listener === undefined) return { name, port: name.port, wrappers: [] };
    const proxyProtocol = protocolOf(String(listener.spec?.port?.protocol ?? '')) === 'HTTP_PROXY';
    const port = proxyProtocol ? 0 : name.port;
    const { services, virtualServices } = listener;
    return { name, port, wrappers: reader.about(wrappersOf, { services, virtualServices, port }) };
  },
};

/** The first listener that is for every port, for this port, or, without a number, bound to what the route is named after. */
function listenerFor(scope: SidecarScope, routeName: string, port: number): EgressListener | undefined {
  return scope.egressListeners.find(({ spec }) => {
    if (spec?.port === undefined) return true;
    const number = spec.port.number ?? 0;
    if (number !== 0 && number === port) return true;
    return port === 0 && spec.bind === routeName;
  });
}

/** Services by host; of several with one host the last counts. */
type ServicesByHost = ReadonlyMap<string, Service>;

/** What a route configuration is seen from; namespaces that see the same there share the wrappers. */
interface RouteScope {
  readonly services: readonly Service[];
  readonly virtualServices: readonly ResolvedVirtualService[];
  readonly port: number;
}

const wrappersOf: Selection<RouteScope, readonly VirtualHostWrapper[]> = {
  name: 'select/wrappersOf',
  run: (reader, scope) => selectWrappers(reader, scope),
};

function selectWrappers(reader: ProxyReader, scope: RouteScope): readonly VirtualHostWrapper[] {
  const { port } = scope;
  const services = servicesOn(reader, scope.services, port);
  const relevant = relevantVirtualServices(scope.virtualServices, services, port);
  const specific = mostSpecificVirtualService(scope.virtualServices);
  const place: RoutePlace = {
    gateway: 'mesh',
    port,
    https: false,
    http3: false,
    infer: host => infer(services, host, port),
    service: host => services.get(host),
  };
  const wrappers: VirtualHostWrapper[] = [];
  const taken = new Set<Service>();
  for (const virtualService of relevant) {
    const inputs = virtualServiceRoutesInputs(reader, virtualService, place);
    if (inputs === undefined) continue;
    const routes = reader.make(oneOfEqualRoutes, inputs);
    const { hosts, found } = separate(virtualService, services, specific);
    for (const wrapper of byPort(found, port, hosts, routes)) {
      wrappers.push(reader.make(oneOfEqualWrappers, wrapper));
      for (const service of wrapper.services) taken.add(service);
    }
  }
  const rest = [...services.values()].filter(service => !taken.has(service) && service.resolution !== 'Alias');
  // Istio visits these in random order; by name, so that an address which two services share always goes to the same one.
  rest.sort((a, b) => compareText(a.hostname, b.hostname));
  for (const service of rest) {
    for (const p of httpPorts(service, port)) {
      const wrapper = { buildPort: port, port: p, hosts: [], services: [service], routes: undefined };
      wrappers.push(reader.make(oneOfEqualWrappers, wrapper));
    }
  }
  return wrappers;
}

const oneOfEqualRoutes: Generator<VirtualServiceRoutesInputs, VirtualServiceRoutesInputs> = {
  name: 'select/oneOfEqualRoutes',
  run: inputs => inputs,
};

const oneOfEqualWrappers: Generator<VirtualHostWrapper, VirtualHostWrapper> = {
  name: 'select/oneOfEqualWrappers',
  run: wrapper => wrapper,
};

/** On a port of their own services are called by their names in small letters. */
function servicesOn(reader: ProxyReader, services: readonly Service[], port: number): ServicesByHost {
  const found = new Map<string, Service>();
  for (const service of services) {
    const hostname = port === 0 ? service.hostname : service.hostname.toLowerCase();
    if (port !== 0 && portNumbered(service, port) === undefined) continue;
    found.set(hostname, hostname === service.hostname ? service : reader.make(inSmallLetters, { service }));
  }
  return found;
}

const inSmallLetters: Generator<{ readonly service: Service }, Service> = {
  name: 'select/inSmallLetters',
  run: ({ service }) => ({ ...service, hostname: service.hostname.toLowerCase() }),
};

/** A service seen through a route has the port of the route only, so a destination without a port means that one. */
function infer(services: ServicesByHost, host: string, port: number): { clusterHost: string; port: number } {
  const inferred = inferFrom(services.get(host), host, port);
  return port === 0 ? inferred : { ...inferred, port };
}

function relevantVirtualServices(
  virtualServices: readonly ResolvedVirtualService[],
  services: ServicesByHost,
  port: number,
): readonly ResolvedVirtualService[] {
  if (port === 80) return virtualServices;
  const names = [...services.keys()];
  const wildcards = names.filter(isWildcard);
  return virtualServices.filter(({ hosts }) =>
    hosts
      .map(host => host.toLowerCase())
      .some(host => services.has(host) || (isWildcard(host) ? names : wildcards).some(name => matches(host, name))),
  );
}

function separate(
  virtualService: ResolvedVirtualService,
  services: ServicesByHost,
  specific: (host: string) => ResolvedVirtualService | undefined,
): { readonly hosts: readonly string[]; readonly found: readonly Service[] } {
  const hosts: string[] = [];
  const found: Service[] = [];
  for (const host of virtualService.hosts.filter(h => !isWildcard(h))) {
    const service = services.get(host.toLowerCase());
    if (service === undefined) hosts.push(host);
    else found.push(service);
  }
  for (const written of virtualService.hosts.filter(isWildcard)) {
    const host = written.toLowerCase();
    const covered = [...services].filter(([name]) => matches(name, host));
    if (covered.length === 0) hosts.push(host);
    for (const [name, service] of covered) if (specific(name) === virtualService) found.push(service);
  }
  return { hosts, found };
}

function byPort(
  services: readonly Service[],
  buildPort: number,
  hosts: readonly string[],
  routes: VirtualServiceRoutesInputs,
): readonly VirtualHostWrapper[] {
  const groups = new Map<number, Service[]>();
  for (const service of services) {
    for (const port of httpPorts(service, buildPort)) groups.set(port, [...(groups.get(port) ?? []), service]);
  }
  if (groups.size === 0 && buildPort === 80) return [{ buildPort, port: 80, hosts, services: [], routes }];
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([port, group]) => ({ buildPort, port, hosts, services: group, routes }));
}

function httpPorts(service: Service, buildPort: number): readonly number[] {
  const usable = service.ports.filter(
    p => (buildPort === 0 || p.port === buildPort) && (isHttp(p.protocol) || isUnsupported(p.protocol)),
  );
  return [...new Set(usable.map(p => p.port))];
}
