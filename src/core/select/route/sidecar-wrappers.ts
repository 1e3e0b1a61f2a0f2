// Which VirtualServices take hosts on a port of sidecars: for each, its hosts and services there, and what its routes
// are made of.
//
// Of thousands of VirtualServices each has hosts on few ports, so they are filed by their hosts. A long list is gone
// through in blocks: what is made of one stays made when the work is interrupted, and a changed VirtualService is a
// change of its block alone.
// Source: Istio pilot/pkg/networking/core/route/route.go (BuildSidecarVirtualHostWrapper).

import { append } from '../../base/append.ts';
import { blocksOf, groupsOf, groupsOfEach } from '../../base/groups.ts';
import { HostIndex } from '../../model/host-index.ts';
import { isWildcard } from '../../model/hosts.ts';
import { isHttp, isUnsupported } from '../../model/protocol.ts';
import type { Service } from '../../model/service.ts';
import { type Generator, interning } from '../../query/memo.ts';
import type { ProxyReader, Selection } from '../../query/reader.ts';
import { hasGatewaySemantics, type ResolvedVirtualService } from '../scope/virtual-services.ts';
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

/** Services by host; of several with one host the last counts. */
export type ServicesByHost = ReadonlyMap<string, Service>;

/** The viewpoint of route configurations. Equal ones are one object, so namespaces with equal ones share the result. */
export interface RouteScope {
  readonly visible: VisibleServices;
  readonly virtualServices: readonly ResolvedVirtualService[];
}

/** Equal ones are one object. */
export interface VisibleServices {
  readonly services: readonly Service[];
}

/** What a port has of a scope. */
export interface PortWrappers {
  readonly services: ServicesByHost;
  /** In the order of the VirtualServices. */
  readonly wrappers: readonly VirtualHostWrapper[];
}

/** More VirtualServices are filed by their hosts, and gone through in blocks. */
const WALKED_MAX = 512;
const WALKED_TOGETHER = 128;

export function selectWrappers(reader: ProxyReader, scope: RouteScope, port: number): PortWrappers {
  const { visible, virtualServices } = scope;
  if (virtualServices.length <= WALKED_MAX) {
    const services = servicesOn(reader, visible, port);
    const covered = new CoveredServices(virtualServices, services);
    const placed = placedOn({ virtualServices, services, covered, port });
    return { services, wrappers: wrappersOf.run(reader, { placed, services, port }) };
  }
  const services = reader.select(servicesOfPort, { visible, port });
  const covered = reader.make(coveredServices, { scope, services });
  const some = virtualServicesOn(reader, scope, { services, covered, port });
  const wrappers = blocksOf(some, WALKED_TOGETHER).flatMap(block => {
    const isCovering = block.some(({ hosts }) => hosts.some(isWildcard));
    const walk = { virtualServices: block, services, covered: isCovering ? covered : undefined, port };
    const placed = reader.make(placedOfBlock, walk);
    return placed.length === 0 ? [] : reader.select(wrappersOf, { placed, services, port });
  });
  return { services, wrappers };
}

/** Those that may have a service there, in their order; for port 80 all, since it has hosts without a service too. */
function virtualServicesOn(
  reader: ProxyReader,
  scope: RouteScope,
  { services, covered, port }: Required<Omit<Walk, 'virtualServices'>>,
): readonly ResolvedVirtualService[] {
  const { virtualServices } = scope;
  if (port === 80 || services.size >= virtualServices.length) return virtualServices;
  const { byHost, byWildcard } = reader.make(positionsOfHosts, { scope });
  const positions = new Set<number>();
  for (const host of services.keys()) for (const position of byHost.get(host) ?? nothing) positions.add(position);
  for (const [host, those] of byWildcard) {
    if (covered?.isAny(host) === true) for (const position of those) positions.add(position);
  }
  return [...positions].sort((a, b) => a - b).map(position => virtualServices[position]!);
}

/** By hosts in small letters: the positions of the VirtualServices that have one. */
interface HostPositions {
  /** Of hosts that are visible services. */
  readonly byHost: ReadonlyMap<string, readonly number[]>;
  readonly byWildcard: ReadonlyMap<string, readonly number[]>;
}

const positionsOfHosts: Generator<{ readonly scope: RouteScope }, HostPositions> = {
  name: 'select/positionsOfHosts',
  run: ({ scope: { visible, virtualServices } }) => {
    const byHost = new Map<string, number[]>();
    const byWildcard = new Map<string, number[]>();
    for (const { hostname } of visible.services) byHost.set(hostname.toLowerCase(), []);
    for (const [position, { hosts }] of virtualServices.entries()) {
      for (const written of hosts) {
        const host = written.toLowerCase();
        const known = isWildcard(host) ? byWildcard.get(host) : byHost.get(host);
        if (known !== undefined) known.push(position);
        else if (isWildcard(host)) byWildcard.set(host, [position]);
      }
    }
    return { byHost, byWildcard };
  },
  work: (_, { scope }) => scope.virtualServices.length / WALKED_PER_WORK_UNIT,
};

interface Walk {
  readonly virtualServices: readonly ResolvedVirtualService[];
  readonly services: ServicesByHost;
  /** Of all VirtualServices; undefined: none of these has a wildcard. */
  readonly covered: CoveredServices | undefined;
  readonly port: number;
}

/** What a VirtualService has on a port. */
interface Placed {
  readonly virtualService: ResolvedVirtualService;
  /** That are no services. */
  readonly hosts: readonly string[];
  /** That are hosts. */
  readonly found: readonly Service[];
  /** Never empty. */
  readonly groups: readonly Pick<VirtualHostWrapper, 'port' | 'services'>[];
}

function placedOn({ virtualServices, services, covered, port }: Walk): readonly Placed[] {
  const placed: Placed[] = [];
  for (const virtualService of virtualServices) {
    const { hosts, found } = separate(virtualService, services, covered);
    const groups = byPort(found, port);
    if (groups.length > 0) placed.push({ virtualService, hosts, found, groups });
  }
  return placed;
}

const placedOfBlock: Generator<Walk, readonly Placed[]> = {
  name: 'select/placedOfBlock',
  run: placedOn,
  work: (_, { virtualServices }) => virtualServices.length / WALKED_PER_WORK_UNIT,
};

/** VirtualServices that are gone through in about the time of one run of a query. */
const WALKED_PER_WORK_UNIT = 16;

interface PlacedOnPort {
  readonly placed: readonly Placed[];
  readonly services: ServicesByHost;
  readonly port: number;
}

const wrappersOf: Selection<PlacedOnPort, readonly VirtualHostWrapper[]> = {
  name: 'select/wrappersOf',
  run: (reader, { placed, services, port }) => {
    const place: RoutePlace = {
      gateway: 'mesh',
      port,
      https: false,
      http3: false,
      // A single port of a service on the port is that port.
      infer: host => inferFrom(services.get(host), host, port),
      service: host => services.get(host),
    };
    const wrappers: VirtualHostWrapper[] = [];
    for (const { virtualService, hosts, found, groups } of placed) {
      if (hasGatewaySemantics(virtualService.obj) && !reachesAny(reader, virtualService, found)) continue;
      const inputs = virtualServiceRoutesInputs(reader, virtualService, place);
      if (inputs === undefined) continue;
      const routes = reader.make(oneOfEqualRoutes, inputs);
      for (const group of groups) wrappers.push(reader.make(oneOfEqualWrappers, { ...group, hosts, routes }));
    }
    return wrappers;
  },
};

/**
 * A route of the Gateway API is its service's own, for every client, or a client's own, for those of its namespace. To
 * a host that is no service it does not apply.
 */
function reachesAny(reader: ProxyReader, { namespace }: ResolvedVirtualService, found: readonly Service[]): boolean {
  if (found.length === 0) return false;
  return found.some(service => service.namespace === namespace) || reader.facet('namespace') === namespace;
}

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

const servicesOfPort: Selection<{ readonly visible: VisibleServices; readonly port: number }, ServicesByHost> = {
  name: 'select/servicesOfPort',
  run: (reader, { visible, port }) => servicesOn(reader, visible, port),
};

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
  covered: CoveredServices | undefined,
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
    if (covered?.isAny(host) === true) append(found, covered.of(virtualService, host));
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

/** One for all blocks. It keeps what it has looked up. */
const coveredServices: Generator<{ readonly scope: RouteScope; readonly services: ServicesByHost }, CoveredServices> = {
  name: 'select/coveredServices',
  run: ({ scope, services }) => new CoveredServices(scope.virtualServices, services),
};

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
export function portsOn(service: Service, buildPort: number): readonly number[] {
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
