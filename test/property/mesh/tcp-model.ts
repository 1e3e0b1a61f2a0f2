// What the Istio API says of connections that are not HTTP: the address chooses the service, or for TLS without an
// address of its own the server name does; the first VirtualService rule for TCP or TLS that applies decides, else the
// connection goes to the service.

import type { JsonObject } from '../../../src/core/base/json.ts';
import { hostsOf, unknownConnection } from './http-model.ts';
import {
  type Asked,
  always,
  type Destination,
  destinationIn,
  endpointsOf,
  type Mesh,
  type Shares,
  sum,
  withOnlyPort,
} from './http-route.ts';
import { covers, includes, listIn, objectIn, specOf, textsIn } from './read.ts';
import type { Service, ServicePort } from './services.ts';

export interface TcpQuestion extends Asked {
  /** Absent: bytes that are neither TLS nor HTTP. */
  readonly sni?: string;
}

/** Undefined: the API does not say, or this model does not. */
export function expectTcp(mesh: Mesh, question: TcpQuestion): Shares | undefined {
  const { address, port } = question.destination;
  const onPort = mesh.services.flatMap(service => {
    const found = service.ports.find(({ number }) => number === port);
    return found === undefined ? [] : [{ service, found }];
  });
  if (onPort.some(({ found }) => found.protocol === 'http')) return undefined;
  const addressed = onPort.find(({ service }) => service.addresses.includes(address));
  if (addressed !== undefined) return served(mesh, question, addressed.service, addressed.found);
  const isEndpoint = onPort.some(
    ({ service, found }) =>
      service.passthrough && service.endpoints(found, {}).some(one => one.startsWith(`${address}:`)),
  );
  if (isEndpoint) return undefined;
  const everywhere = onPort.filter(({ service }) => service.addresses.length === 0 && !service.kubernetes);
  // Without an address only the server name tells services apart, so there must be one.
  if (everywhere.some(({ found }) => found.protocol !== 'tls')) return undefined;
  return byServerName(mesh, question, everywhere);
}

function served(mesh: Mesh, question: TcpQuestion, service: Service, port: ServicePort): Shares | undefined {
  const own = { host: service.host, port: port.number, subset: '' };
  if (port.protocol === 'tls') {
    if (asksForSubnets(mesh, service)) return undefined;
    const named = namedRoutes(mesh, service, port.number);
    if (named.length === 0) return destinedTo(mesh, question, own);
    const found = mostSpecific(named, question.sni ?? '');
    return found === undefined ? unknownConnection(mesh, question) : routed(mesh, question, found.rule, found.route);
  }
  for (const rule of followed(mesh, service)) {
    for (const route of listIn(specOf(rule).tcp)) {
      if (applies(mesh, route, question)) return routed(mesh, question, rule, route);
    }
  }
  return destinedTo(mesh, question, own);
}

/** The VirtualServices for a service, its host or a wildcard for it, in their order. */
function followed(mesh: Mesh, { host }: Service): readonly JsonObject[] {
  return mesh.rules.filter(rule => hostsOf(rule).some(one => one === host || covers(one, host) || covers(host, one)));
}

function applies(mesh: Mesh, route: JsonObject, question: TcpQuestion): boolean {
  if (route.match === undefined) return true;
  return listIn(route.match).some(match => {
    if (!comesFromHere(mesh, match, question.destination.port)) return false;
    const subnets = textsIn(match.destinationSubnets);
    return subnets.length === 0 || subnets.some(subnet => holds(subnet, question.destination.address));
  });
}

/** The conditions of a TCP or TLS match on port, gateways and the client. */
function comesFromHere({ client }: Mesh, match: JsonObject, port: number): boolean {
  if (match.port !== undefined && match.port !== port) return false;
  const gateways = textsIn(match.gateways);
  if (gateways.length > 0 && !gateways.includes('mesh')) return false;
  if (!includes(client.labels, objectIn(match.sourceLabels))) return false;
  return match.sourceNamespace === undefined || match.sourceNamespace === client.namespace;
}

/** IPv4 in whole octets is all that the worlds have. */
function holds(subnet: string, address: string): boolean {
  const [prefix = '', length = '32'] = subnet.split('/');
  const octets = Number(length) / 8;
  return prefix.split('.').slice(0, octets).join('.') === address.split('.').slice(0, octets).join('.');
}

interface Named {
  readonly sni: string;
  readonly rule: JsonObject;
  readonly route: JsonObject;
}

/** TLS rules that ask for an address beside the name: this model leaves them out. */
function asksForSubnets(mesh: Mesh, service: Service): boolean {
  return followed(mesh, service).some(rule =>
    listIn(specOf(rule).tls).some(route => listIn(route.match).some(match => match.destinationSubnets !== undefined)),
  );
}

/** TLS routes of a service, one entry for each server name. */
function namedRoutes(mesh: Mesh, service: Service, port: number): readonly Named[] {
  return followed(mesh, service).flatMap(rule =>
    listIn(specOf(rule).tls).flatMap(route =>
      listIn(route.match)
        .filter(match => comesFromHere(mesh, match, port))
        .flatMap(match => textsIn(match.sniHosts).map(sni => ({ sni, rule, route }))),
    ),
  );
}

/** The exact name, else the longest wildcard; of equal ones the first. */
function mostSpecific<T extends { readonly sni: string }>(named: readonly T[], sni: string): T | undefined {
  const exact = named.find(one => one.sni === sni);
  if (exact !== undefined) return exact;
  const wildcards = named.filter(one => sni.length > one.sni.length - 1 && covers(one.sni, sni));
  return wildcards.reduce<T | undefined>(
    (best, one) => (best === undefined || one.sni.length > best.sni.length ? one : best),
    undefined,
  );
}

interface Choice {
  readonly sni: string;
  readonly go: Destination | Pick<Named, 'rule' | 'route'>;
}

function byServerName(
  mesh: Mesh,
  question: TcpQuestion,
  services: readonly { readonly service: Service; readonly found: ServicePort }[],
): Shares | undefined {
  if (services.length > 0 && question.sni === undefined) return unknownConnection(mesh, question);
  if (services.some(({ service }) => asksForSubnets(mesh, service))) return undefined;
  const named = services.flatMap(({ service, found }): readonly Choice[] => {
    const routes = namedRoutes(mesh, service, found.number);
    if (routes.length === 0) return [{ sni: service.host, go: { host: service.host, port: found.number, subset: '' } }];
    return routes.map(({ sni, rule, route }) => ({ sni, go: { rule, route } }));
  });
  const found = mostSpecific(named, question.sni ?? '');
  if (found === undefined) return unknownConnection(mesh, question);
  const { go } = found;
  return 'host' in go ? destinedTo(mesh, question, go) : routed(mesh, question, go.rule, go.route);
}

export function routed(mesh: Mesh, question: TcpQuestion, rule: JsonObject, route: JsonObject): Shares | undefined {
  const destinations = listIn(route.route).map(one => ({
    weight: Number(one.weight ?? 0),
    to: withOnlyPort(mesh, objectIn(one.destination), destinationIn(objectIn(one.destination), rule, question)),
  }));
  if (destinations.length === 1) return destinedTo(mesh, question, destinations[0]!.to);
  const total = destinations.reduce((all, { weight }) => all + weight, 0);
  const parts: [number, Shares][] = [];
  for (const { weight, to } of destinations) {
    const shares = destinedTo(mesh, question, to);
    if (shares === undefined) return undefined;
    if (weight > 0) parts.push([weight / total, shares]);
  }
  return sum(parts);
}

function destinedTo(mesh: Mesh, question: TcpQuestion, to: Destination): Shares | undefined {
  if (mesh.hidden.includes(to.host)) return undefined;
  const endpoints = endpointsOf(mesh, to, question);
  if (endpoints === undefined || endpoints.length === 0) return always('closed');
  return always(`${to.host}:${to.port}/${to.subset} [${endpoints.join()}]`);
}
