// What the Istio API says of an HTTP request that leaves a workload: the host and port choose a service, the first
// VirtualService that has the host and applies to the client decides, its first rule that matches, then the
// destination, its subset and its endpoints. Written from the descriptions of VirtualService, DestinationRule,
// ServiceEntry and Service, not from the generators.

import type { JsonObject } from '../../../src/core/base/json.ts';
import { withDelegates } from './delegates.ts';
import {
  type Asked,
  always,
  destinedTo,
  gatewaysIn,
  type Mesh,
  type Question,
  routed,
  rulesOf,
  type Shares,
} from './http-route.ts';
import { covers, fullHost, inOrder, namespaceOf, specOf, textsIn } from './read.ts';
import { destinationsOf, importedRules, importedServices, scopeOf } from './scope.ts';
import { type Client, hiddenHosts, isExported, type Service, visibleServices } from './services.ts';
import type { World } from './world.ts';

export function meshOf(world: World, client: Client): Mesh {
  const scope = scopeOf(world, client);
  const visible = visibleServices(world, client);
  const services = importedServices(scope, visible);
  const rules = importedRules(scope, virtualServices(world, client, 'mesh'));
  const destinations = new Set(rules.flatMap(destinationsOf));
  const known = visible.filter(one => services.includes(one) || destinations.has(one.host));
  return {
    world,
    client,
    services,
    known,
    scope,
    hidden: hiddenHosts(world, client),
    rules,
    gateway: 'mesh',
    scheme: 'http',
  };
}

/** Private ones of the client's namespace first, then those exported to it by name, then public ones. */
export function virtualServices(world: World, { namespace }: Client, gateway: string): readonly JsonObject[] {
  const { objects, mesh } = world;
  const all = inOrder(objects.filter(({ kind }) => kind === 'VirtualService'))
    .filter(one => textsIn(specOf(one).hosts).length > 0 && isFor(one, gateway))
    .map(one => withDelegates(one, world));
  const given = (one: JsonObject): readonly string[] => {
    const own = textsIn(specOf(one).exportTo);
    return own.length > 0 ? own : textsIn(mesh.defaultVirtualServiceExportTo);
  };
  const visible = all.filter(one =>
    isExported(textsIn(specOf(one).exportTo), mesh.defaultVirtualServiceExportTo, namespaceOf(one), namespace),
  );
  const isPublic = (one: JsonObject): boolean => given(one).length === 0 || given(one).includes('*');
  const isPrivate = (one: JsonObject): boolean => !isPublic(one) && namespaceOf(one) === namespace;
  return [
    ...visible.filter(isPrivate),
    ...visible.filter(one => !isPublic(one) && !isPrivate(one)),
    ...visible.filter(isPublic),
  ];
}

function isFor(rule: JsonObject, gateway: string): boolean {
  const gateways = gatewaysIn(specOf(rule).gateways, namespaceOf(rule));
  return gateways.length === 0 ? gateway === 'mesh' : gateways.includes(gateway);
}

/** Undefined: the API does not say, or this model does not. */
export function expectHttp(mesh: Mesh, question: Question): Shares | undefined {
  const { address, port } = question.destination;
  const onPort = mesh.services.filter(service => service.ports.some(({ number }) => number === port));
  const protocols = new Set(onPort.map(service => service.ports.find(({ number }) => number === port)!.protocol));
  if (protocols.has('tcp') || protocols.has('tls')) return undefined;
  if (protocols.has('http')) return byHost(mesh, question, onPort);
  // Where the protocol is not declared, the address says which service is meant.
  const service = onPort.find(
    one =>
      one.addresses.includes(address) ||
      one.endpoints(one.ports.find(p => p.number === port)!, {}).some(e => e.startsWith(`${address}:`)),
  );
  if (service === undefined) return onPort.length === 0 ? unknownConnection(mesh, question) : undefined;
  if (service.passthrough) return undefined;
  // A TCP rule for subnets takes the connection before anybody sees that it is HTTP: the API does not say so, Istio
  // does it.
  const follows = (rule: JsonObject): boolean =>
    hostsOf(rule).some(one => one === service.host || covers(one, service.host));
  if (mesh.rules.some(rule => specOf(rule).tcp !== undefined && follows(rule))) return undefined;
  return served(mesh, question, onPort, service.host);
}

function byHost(mesh: Mesh, question: Question, onPort: readonly Service[]): Shares | undefined {
  const host = question.request.authority.replace(/:\d+$/, '').toLowerCase();
  const service = onPort.find(one => namesOf(one, mesh.client).includes(host));
  if (service !== undefined) return served(mesh, question, onPort, service.host);
  const { port } = question.destination;
  // Hosts of VirtualServices that are no services, and wildcards of either.
  const plain = mesh.rules.flatMap(rule => plainHosts(mesh, rule, onPort, port));
  const names = onPort.map(one => one.host);
  // Services answer to their absolute names too.
  const candidates = [host, ...wildcardsIn([...plain, ...names], host), ...wildcardsIn(names, host.replace(/\.$/, ''))];
  for (const candidate of candidates) {
    if (onPort.some(one => one.host === candidate) || plain.includes(candidate)) {
      return served(mesh, question, onPort, candidate);
    }
  }
  return unknownHost(mesh, question);
}

/** Longest first. */
function wildcardsIn(hosts: readonly string[], host: string): readonly string[] {
  const found = new Set(hosts.filter(one => covers(one, host)));
  return [...found].sort((a, b) => b.length - a.length);
}

/**
 * A service can be called by its full name, by shorter ones as DNS in the client's namespace would allow, and by its
 * address.
 */
function namesOf({ host, namespace, addresses, kubernetes }: Service, client: Client): readonly string[] {
  if (!kubernetes) return [host, `${host}.`, ...addresses];
  const name = host.split('.')[0]!;
  const short = [`${name}.${namespace}`, `${name}.${namespace}.svc`];
  const own = namespace === client.namespace ? [name] : [];
  return [host, `${host}.`, ...short, ...own, ...addresses];
}

export function hostsOf(rule: JsonObject): readonly string[] {
  return textsIn(specOf(rule).hosts).map(host => fullHost(host, namespaceOf(rule)));
}

/** Hosts of a VirtualService that are no services: on port 80, and elsewhere beside a service that follows it there. */
function plainHosts(mesh: Mesh, rule: JsonObject, onPort: readonly Service[], port: number): readonly string[] {
  if (rulesOf(mesh, rule, port).length === 0) return [];
  const hosts = hostsOf(rule);
  const isService = (host: string): boolean => onPort.some(one => one.host === host || covers(host, one.host));
  const leads = (host: string): boolean =>
    onPort.some(one => one.host === host || (covers(host, one.host) && mostSpecific(mesh, one.host) === host));
  return port === 80 || hosts.some(leads) ? hosts.filter(host => !isService(host)) : [];
}

/** The host of a VirtualService that a service goes by: its own, else the longest wildcard for it. */
function mostSpecific(mesh: Mesh, service: string): string | undefined {
  const hosts = mesh.rules.flatMap(hostsOf);
  return hosts.includes(service) ? service : wildcardsIn(hosts, service)[0];
}

/** What happens to requests for this host, which is a service's or a VirtualService's. */
function served(mesh: Mesh, question: Question, onPort: readonly Service[], host: string): Shares | undefined {
  const { port } = question.destination;
  const rule = ruleFor(mesh, onPort, host, port);
  if (rule === undefined) return destinedTo(mesh, question, question.request, { host, port, subset: '' }, {});
  return routed(mesh, question, rule);
}

/**
 * The VirtualService for a host: the first that names it; else, for services, the one with the longest wildcard for it.
 */
function ruleFor(mesh: Mesh, onPort: readonly Service[], host: string, port: number): JsonObject | undefined {
  const isService = onPort.some(one => one.host === host);
  // A service that is itself a wildcard goes by the wildcards of VirtualServices, of which only the first of each
  // counts.
  const exact = mesh.rules.filter(rule => !(isService && host.startsWith('*')) && hostsOf(rule).includes(host));
  const applies = (rule: JsonObject): boolean => rulesOf(mesh, rule, port).length > 0;
  const usable = (rule: JsonObject): boolean => isService || plainHosts(mesh, rule, onPort, port).includes(host);
  if (exact.length > 0) return exact.find(rule => applies(rule) && usable(rule));
  const [longest] = wildcardsIn(mesh.rules.flatMap(hostsOf), host);
  if (longest === undefined || !isService) return undefined;
  const winner = mesh.rules.find(rule => hostsOf(rule).includes(longest))!;
  return applies(winner) ? winner : undefined;
}

function unknownHost(mesh: Mesh, { destination }: Question): Shares {
  return always(mesh.scope.registryOnly ? '502' : `passthrough ${destination.address}:${destination.port}`);
}

export function unknownConnection(mesh: Mesh, { destination }: Asked): Shares {
  return always(mesh.scope.registryOnly ? 'closed' : `passthrough ${destination.address}:${destination.port}`);
}
