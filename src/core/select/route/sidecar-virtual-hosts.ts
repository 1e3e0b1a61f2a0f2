// Which virtual hosts a sidecar's route configuration has: for each, its hosts and services and what its routes are
// made of.
//
// VirtualServices come first, in their order, then the services that none of them took. Two of them may claim one host
// or one address; the generator removes those in the order given here, so the order is part of the answer.
// Source: Istio pilot/pkg/networking/core/httproute.go, pilot/pkg/networking/core/route/route.go
// (BuildSidecarVirtualHostWrapper).

import { append } from '../../base/append.ts';
import { groupsOf, groupsOfEach } from '../../base/groups.ts';
import { HostIndex } from '../../model/host-index.ts';
import { isWildcard } from '../../model/hosts.ts';
import { compareText } from '../../model/object.ts';
import { isHttp, isUnsupported, protocolOf } from '../../model/protocol.ts';
import type { Service } from '../../model/service.ts';
import { type Generator, interning } from '../../query/memo.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import { type EgressListener, sidecarScope } from '../scope/sidecar-scope.ts';
import { hasGatewaySemantics, type ResolvedVirtualService } from '../scope/virtual-services.ts';
import { parseRouteName, type RouteName } from './route-names.ts';
import {
  inferFrom,
  type RoutePlace,
  type VirtualServiceRoutesInputs,
  virtualServiceRoutesInputs,
} from './virtual-service-routes.ts';
import { mostSpecificVirtualService } from './wildcard-hosts.ts';

/** Equal values are one object: queries that depend on one do not run again when another changes. */
export interface VirtualHostWrapper {
  /** Names the virtual hosts, together with host or service. */
  readonly port: number;
  /** Hosts of the VirtualService that are no services. */
  readonly hosts: readonly string[];
  readonly services: readonly Service[];
  readonly routes: VirtualServiceRoutesInputs;
}

/** Equal ones are one object. */
export interface PortVirtualHosts {
  /** Port that they are built for; 0: all ports, and domains carry theirs. */
  readonly port: number;
  /** Those that a VirtualService takes, in its order. */
  readonly wrappers: readonly VirtualHostWrapper[];
  readonly defaults: DefaultHosts;
}

/** Services that no VirtualService takes, by name: a virtual host for each port. Equal ones are one object. */
export interface DefaultHosts {
  readonly services: readonly Service[];
  /** Of each. */
  readonly ports: readonly number[];
}

export interface SidecarVirtualHosts {
  readonly name: RouteName;
  readonly hosts: PortVirtualHosts;
}

/** Argument: the name of a route configuration. undefined: there is none of that name. */
export const sidecarVirtualHosts: Query<string, SidecarVirtualHosts | undefined> = {
  name: 'select/sidecarVirtualHosts',
  run: (reader, routeName) => {
    const name = parseRouteName(routeName);
    if (name === undefined) return undefined;
    const { egressListeners } = reader.get(sidecarScope, '');
    const at = listenerFor(egressListeners, routeName, name.port);
    if (at < 0) return { name, hosts: { port: name.port, wrappers: [], defaults: { services: [], ports: [] } } };
    const { spec } = egressListeners[at]!;
    const port = protocolOf(String(spec?.port?.protocol ?? '')) === 'HTTP_PROXY' ? 0 : name.port;
    return { name, hosts: reader.get(hostsOfListener, { index: at, port }) };
  },
};

/** By index of the egress listener and port: with sniffing there are hundreds of route configurations for one port. */
const hostsOfListener: Query<{ readonly index: number; readonly port: number }, PortVirtualHosts> = {
  name: 'select/hostsOfListener',
  key: ({ index, port }) => `${index}|${port}`,
  run: (reader, { index, port }) =>
    reader.select(portVirtualHosts, { scope: reader.get(scopeOfListener, index), port }),
};

/** Argument: the index of an egress listener. Compared once for all its ports, of which there can be thousands. */
const scopeOfListener: Query<number, RouteScope> = {
  name: 'select/scopeOfListener',
  key: String,
  run: (reader, index) => {
    const { services, virtualServices } = reader.get(sidecarScope, '').egressListeners[index]!;
    return reader.make(oneOfEqualScopes, { visible: reader.make(oneOfEqualLists, { services }), virtualServices });
  },
};

/** The first listener for every port, for this port, or, without a number, bound to the address in the route's name. */
function listenerFor(listeners: readonly EgressListener[], routeName: string, port: number): number {
  return listeners.findIndex(({ spec }) => {
    if (spec?.port === undefined) return true;
    const number = spec.port.number ?? 0;
    if (number !== 0 && number === port) return true;
    return port === 0 && spec.bind === routeName;
  });
}

/** Services by host; of several with one host the last counts. */
type ServicesByHost = ReadonlyMap<string, Service>;

/** The viewpoint of route configurations. Equal ones are one object, so namespaces with equal ones share the result. */
interface RouteScope {
  readonly visible: VisibleServices;
  readonly virtualServices: readonly ResolvedVirtualService[];
}

/** Equal ones are one object. */
interface VisibleServices {
  readonly services: readonly Service[];
}

const oneOfEqualLists = interning<VisibleServices>('select/oneOfEqualVisibleServices');
const oneOfEqualScopes = interning<RouteScope>('select/oneOfEqualRouteScopes');

const portVirtualHosts: Selection<{ readonly scope: RouteScope; readonly port: number }, PortVirtualHosts> = {
  name: 'select/portVirtualHosts',
  run: (reader, { scope, port }) => {
    const services = servicesOn(reader, scope.visible, port);
    const wrappers = selectWrappers(reader, scope, port, services);
    const taken = new Set(wrappers.flatMap(wrapper => wrapper.services));
    const rest = [...services.values()].filter(service => !taken.has(service) && service.resolution !== 'Alias');
    // Istio visits these in random order; by name, so that an address which two services share always goes to the same
    // one.
    rest.sort((a, b) => compareText(a.hostname, b.hostname));
    const defaults = reader.make(oneOfEqualDefaults, defaultHosts(rest, port));
    return reader.make(oneOfEqualHosts, { port, wrappers, defaults });
  },
};

function selectWrappers(
  reader: ProxyReader,
  { virtualServices }: RouteScope,
  port: number,
  services: ServicesByHost,
): readonly VirtualHostWrapper[] {
  const place: RoutePlace = {
    gateway: 'mesh',
    port,
    https: false,
    http3: false,
    // A single port of a service on the port is that port.
    infer: host => inferFrom(services.get(host), host, port),
    service: host => services.get(host),
  };
  const covered = new CoveredServices(virtualServices, services);
  const wrappers: VirtualHostWrapper[] = [];
  for (const virtualService of virtualServices) {
    const { hosts, found } = separate(virtualService, services, covered);
    // Before the routes: most VirtualServices are on few of the ports.
    const groups = byPort(found, port);
    if (groups.length === 0) continue;
    if (hasGatewaySemantics(virtualService.obj) && !reachesAny(reader, virtualService, found)) continue;
    const inputs = virtualServiceRoutesInputs(reader, virtualService, place);
    if (inputs === undefined) continue;
    const routes = reader.make(oneOfEqualRoutes, inputs);
    for (const group of groups) wrappers.push(reader.make(oneOfEqualWrappers, { ...group, hosts, routes }));
  }
  return wrappers;
}

/**
 * A route of the Gateway API is its service's own, for every client, or a client's own, for those of its namespace. To
 * a host that is no service it does not apply.
 */
function reachesAny(reader: ProxyReader, { namespace }: ResolvedVirtualService, found: readonly Service[]): boolean {
  if (found.length === 0) return false;
  return found.some(service => service.namespace === namespace) || reader.facet('namespace') === namespace;
}

function defaultHosts(rest: readonly Service[], buildPort: number): DefaultHosts {
  const services: Service[] = [];
  const ports: number[] = [];
  for (const service of rest) {
    for (const port of portsOn(service, buildPort)) {
      services.push(service);
      ports.push(port);
    }
  }
  return { services, ports };
}

const oneOfEqualHosts = interning<PortVirtualHosts>('select/oneOfEqualHosts');
const oneOfEqualDefaults = interning<DefaultHosts>('select/oneOfEqualDefaults');
const oneOfEqualRoutes = interning<VirtualServiceRoutesInputs>('select/oneOfEqualRoutes');
const oneOfEqualWrappers = interning<VirtualHostWrapper>('select/oneOfEqualWrappers');

/** On a port of their own services are called by their names in small letters. */
function servicesOn(reader: ProxyReader, visible: VisibleServices, port: number): ServicesByHost {
  const found = new Map<string, Service>();
  if (port === 0) {
    for (const service of visible.services) found.set(service.hostname, service);
    return found;
  }
  for (const service of reader.make(servicesByPort, { visible }).get(port) ?? []) {
    const hostname = service.hostname.toLowerCase();
    found.set(hostname, hostname === service.hostname ? service : reader.make(inSmallLetters, { service }));
  }
  return found;
}

/** Those that have the port, in their order; a port of UDP is none. */
const servicesByPort: Generator<{ readonly visible: VisibleServices }, ReadonlyMap<number, readonly Service[]>> = {
  name: 'select/servicesByPort',
  run: ({ visible }) =>
    groupsOfEach(visible.services, ({ ports }) => {
      return new Set(ports.filter(({ protocol }) => protocol !== 'UDP').map(({ port }) => port));
    }),
};

const inSmallLetters: Generator<{ readonly service: Service }, Service> = {
  name: 'select/inSmallLetters',
  run: ({ service }) => ({ ...service, hostname: service.hostname.toLowerCase() }),
};

function separate(
  virtualService: ResolvedVirtualService,
  services: ServicesByHost,
  covered: CoveredServices,
): { readonly hosts: readonly string[]; readonly found: readonly Service[] } {
  const [first] = virtualService.hosts;
  if (virtualService.hosts.length === 1 && !isWildcard(first!)) {
    const service = services.get(first!.toLowerCase());
    return service === undefined
      ? { hosts: virtualService.hosts, found: nothing }
      : { hosts: nothing, found: [service] };
  }
  const hosts: string[] = [];
  const found: Service[] = [];
  const wildcards: string[] = [];
  for (const host of virtualService.hosts) {
    if (isWildcard(host)) {
      wildcards.push(host);
      continue;
    }
    const service = services.get(host.toLowerCase());
    if (service === undefined) hosts.push(host);
    else found.push(service);
  }
  for (const written of wildcards) {
    if (hasGatewaySemantics(virtualService.obj)) continue;
    const host = written.toLowerCase();
    if (covered.isAny(host)) append(found, covered.of(virtualService, host));
    else hosts.push(host);
  }
  return { hosts, found };
}

/** The services that wildcards of VirtualServices cover, found by their ends: both may be thousands. */
class CoveredServices {
  readonly #virtualServices: readonly ResolvedVirtualService[];
  readonly #services: ServicesByHost;
  #all: HostIndex | undefined;
  #byOwner: ReadonlyMap<ResolvedVirtualService | undefined, HostIndex> | undefined;

  constructor(virtualServices: readonly ResolvedVirtualService[], services: ServicesByHost) {
    this.#virtualServices = virtualServices;
    this.#services = services;
  }

  isAny(host: string): boolean {
    this.#all ??= new HostIndex([...this.#services.keys()]);
    return this.#all.meets(host);
  }

  /** Those of which the VirtualService has the most specific host, in the order of the services. */
  of(virtualService: ResolvedVirtualService, host: string): readonly Service[] {
    this.#byOwner ??= this.#owned();
    const names = this.#byOwner.get(virtualService)?.hostsMeeting(host) ?? nothing;
    return names.map(name => this.#services.get(name)!);
  }

  #owned(): ReadonlyMap<ResolvedVirtualService | undefined, HostIndex> {
    const byOwner = groupsOf(this.#services.keys(), mostSpecificVirtualService(this.#virtualServices));
    return new Map(Array.from(byOwner, ([owner, names]) => [owner, new HostIndex(names)]));
  }
}

const nothing: readonly never[] = [];

/**
 * The services by the ports under which they are called. Port 80 comes first: of the routes for all ports it alone has
 * hosts that are no services, and the first port with such a host claims it. The route of port 80 has them even without
 * a service.
 */
function byPort(
  services: readonly Service[],
  buildPort: number,
): readonly Pick<VirtualHostWrapper, 'port' | 'services'>[] {
  const groups = new Map<number, Service[]>();
  for (const service of services) {
    for (const port of portsOn(service, buildPort)) {
      const group = groups.get(port);
      if (group === undefined) groups.set(port, [service]);
      else group.push(service);
    }
  }
  if (groups.size === 0 && buildPort === 80) return [{ port: 80, services: nothing }];
  return [...groups]
    .sort(([a], [b]) => Number(b === 80) - Number(a === 80))
    .map(([port, group]) => ({ port, services: group }));
}

/** The ports of HTTP of the service: the one that is built for, or all. */
function portsOn(service: Service, buildPort: number): readonly number[] {
  if (buildPort === 0) return httpPorts(service);
  return hasHttpPort(service, buildPort) ? [buildPort] : nothing;
}

function hasHttpPort({ ports }: Service, port: number): boolean {
  for (const candidate of ports) if (candidate.port === port && takesHttp(candidate)) return true;
  return false;
}

/** Each once. */
function httpPorts({ ports }: Service): readonly number[] {
  return [...new Set(ports.filter(takesHttp).map(({ port }) => port))];
}

function takesHttp({ protocol }: Service['ports'][number]): boolean {
  return isHttp(protocol) || isUnsupported(protocol);
}
