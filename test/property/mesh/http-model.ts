// What the Istio API says of an HTTP request that leaves a workload: the host and port choose a service, the first VirtualService that has the host
// and applies to the client decides, its first rule that matches, then the destination, its subset and its endpoints. Written from the
// descriptions of VirtualService, DestinationRule, ServiceEntry and Service, not from the generators.

import type { Json, JsonObject } from '../../../src/core/json.ts';
import type { HttpRequest } from '../../../src/oracle/question.ts';
import { withDelegates } from './delegates.ts';
import {
  covers,
  fullHost,
  includes,
  inOrder,
  listIn,
  namespaceOf,
  objectIn,
  SHARE_DIGITS,
  seconds,
  specOf,
  textIn,
  textsIn,
} from './read.ts';
import { destinationsOf, importedRules, importedServices, type Scope, scopeOf } from './scope.ts';
import { type Client, hiddenHosts, isExported, type Service, subsetLabels, visibleServices } from './services.ts';
import type { World } from './world.ts';

/** What every question says. */
export interface Asked {
  readonly destination: { readonly address: string; readonly port: number };
}

export interface Question extends Asked {
  readonly request: HttpRequest;
}

/** Text of what happens → share of the requests. */
export type Shares = ReadonlyMap<string, number>;

export interface Mesh {
  readonly world: World;
  readonly client: Client;
  /** Those that the client can call. */
  readonly services: readonly Service[];
  /** Those that requests can be sent to. */
  readonly known: readonly Service[];
  readonly scope: Scope;
  /** Hosts of whose reachability this model says nothing. */
  readonly hidden: readonly string[];
  /** Those that sidecars of the client's namespace follow, in the order in which they are asked. */
  readonly rules: readonly JsonObject[];
}

export function meshOf(world: World, client: Client): Mesh {
  const scope = scopeOf(world, client);
  const visible = visibleServices(world, client);
  const services = importedServices(scope, visible);
  const rules = importedRules(scope, virtualServices(world, client));
  const destinations = new Set(rules.flatMap(destinationsOf));
  const known = visible.filter(one => services.includes(one) || destinations.has(one.host));
  return { world, client, services, known, scope, hidden: hiddenHosts(world, client), rules };
}

/** Private ones of the client's namespace first, then those exported to it by name, then public ones. */
function virtualServices(world: World, { namespace }: Client): readonly JsonObject[] {
  const { objects, mesh } = world;
  const all = inOrder(objects.filter(({ kind }) => kind === 'VirtualService'))
    .filter(one => textsIn(specOf(one).hosts).length > 0 && toMesh(textsIn(specOf(one).gateways)))
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

const toMesh = (gateways: readonly string[]): boolean => gateways.length === 0 || gateways.includes('mesh');

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
  // A TCP rule for subnets takes the connection before anybody sees that it is HTTP: the API does not say so, Istio does it.
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

/** A service can be called by its full name, by shorter ones as DNS in the client's namespace would allow, and by its address. */
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

/** The VirtualService for a host: the first that names it; else, for services, the one with the longest wildcard for it. */
function ruleFor(mesh: Mesh, onPort: readonly Service[], host: string, port: number): JsonObject | undefined {
  const isService = onPort.some(one => one.host === host);
  // A service that is itself a wildcard goes by the wildcards of VirtualServices, of which only the first of each counts.
  const exact = mesh.rules.filter(rule => !(isService && host.startsWith('*')) && hostsOf(rule).includes(host));
  const applies = (rule: JsonObject): boolean => rulesOf(mesh, rule, port).length > 0;
  const usable = (rule: JsonObject): boolean => isService || plainHosts(mesh, rule, onPort, port).includes(host);
  if (exact.length > 0) return exact.find(rule => applies(rule) && usable(rule));
  const [longest] = wildcardsIn(mesh.rules.flatMap(hostsOf), host);
  if (longest === undefined || !isService) return undefined;
  const winner = mesh.rules.find(rule => hostsOf(rule).includes(longest))!;
  return applies(winner) ? winner : undefined;
}

interface Applicable {
  readonly rule: JsonObject;
  /** Undefined: the rule has no conditions. */
  readonly match: JsonObject | undefined;
}

/** The rules that can apply to requests of this client on this port, one entry for each alternative condition. */
function rulesOf({ client }: Mesh, virtualService: JsonObject, port: number): readonly Applicable[] {
  return listIn(specOf(virtualService).http).flatMap((rule): readonly Applicable[] => {
    if (rule.match === undefined) return [{ rule, match: undefined }];
    return listIn(rule.match)
      .filter(match => {
        if (match.port !== undefined && match.port !== port) return false;
        const gateways = textsIn(match.gateways);
        // Conditions on the source are for sidecars alone; a rule for named gateways has none.
        if (gateways.length > 0) return gateways.includes('mesh');
        if (!includes(client.labels, objectIn(match.sourceLabels))) return false;
        return match.sourceNamespace === undefined || match.sourceNamespace === client.namespace;
      })
      .map(match => ({ rule, match }));
  });
}

function routed(mesh: Mesh, question: Question, virtualService: JsonObject): Shares | undefined {
  const { port } = question.destination;
  const found = rulesOf(mesh, virtualService, port).find(
    ({ match }) => match === undefined || isMatched(match, question.request),
  );
  if (found === undefined) return always('404');
  const { rule, match } = found;
  // Istio looks at the source where it collects destinations, and not where a rule for named gateways is matched.
  const elsewhere = match?.sourceNamespace !== undefined && match.sourceNamespace !== mesh.client.namespace;
  if (mesh.scope.imports !== undefined && elsewhere) return undefined;
  const after = afterFaults(mesh, question, virtualService, rule, match ?? {});
  if (after === undefined) return undefined;
  const abort = objectIn(objectIn(rule.fault).abort);
  const aborted = Number(objectIn(abort.percentage).value ?? 0) / 100;
  if (aborted === 0) return after;
  const status = abort.httpStatus === undefined ? '200' : String(abort.httpStatus);
  return sum([
    [aborted, always(status)],
    [1 - aborted, after],
  ]);
}

function afterFaults(
  mesh: Mesh,
  question: Question,
  virtualService: JsonObject,
  rule: JsonObject,
  match: JsonObject,
): Shares | undefined {
  if (rule.redirect !== undefined) return always(redirection(objectIn(rule.redirect), question));
  if (rule.directResponse !== undefined) return always(String(objectIn(rule.directResponse).status));
  const destinations = listIn(rule.route).map(one => ({
    weight: Number(one.weight ?? 0),
    to: destinationIn(objectIn(one.destination), virtualService, question),
  }));
  const request = rewritten(question.request, objectIn(rule.rewrite), match);
  if (destinations.length === 1) return destinedTo(mesh, question, request, destinations[0]!.to, rule, virtualService);
  const total = destinations.reduce((all, { weight }) => all + weight, 0);
  const parts: [number, Shares][] = [];
  for (const { weight, to } of destinations) {
    const shares = destinedTo(mesh, question, request, to, rule, virtualService);
    if (shares === undefined) return undefined;
    if (weight > 0) parts.push([weight / total, shares]);
  }
  return sum(parts);
}

export interface Destination {
  readonly host: string;
  readonly port: number;
  readonly subset: string;
}

export function destinationIn(given: JsonObject, virtualService: JsonObject, question: Asked): Destination {
  return {
    host: fullHost(textIn(given.host), namespaceOf(virtualService)),
    port: Number(objectIn(given.port).number ?? question.destination.port),
    subset: textIn(given.subset),
  };
}

function destinedTo(
  mesh: Mesh,
  question: Question,
  request: HttpRequest,
  to: Destination,
  rule: JsonObject,
  virtualService: JsonObject = {},
): Shares | undefined {
  if (mesh.hidden.includes(to.host)) return undefined;
  const endpoints = endpointsOf(mesh, to, question);
  if (endpoints === undefined || endpoints.length === 0) return always('503');
  const timeout = rule.timeout === undefined ? 0 : seconds(textIn(rule.timeout));
  const retries = rule.retries === undefined ? 2 : Number(objectIn(rule.retries).attempts);
  const mirror = rule.mirror === undefined ? '' : mirrored(rule, virtualService, question);
  return always(
    `${to.host}:${to.port}/${to.subset} [${endpoints.join()}] ${request.authority} ${request.path ?? '/'} timeout ${timeout} retries ${retries}${mirror}`,
  );
}

function mirrored(rule: JsonObject, virtualService: JsonObject, question: Question): string {
  const { host, port, subset } = destinationIn(objectIn(rule.mirror), virtualService, question);
  const share = Number(objectIn(rule.mirrorPercentage).value ?? 100) / 100;
  return share === 0 ? '' : ` mirror ${host}:${port}/${subset} ${share.toFixed(SHARE_DIGITS)}`;
}

/** `address:port` of all that serve a destination; undefined if the client knows no such service, port or subset. */
export function endpointsOf(mesh: Mesh, to: Destination, question: Asked): readonly string[] | undefined {
  const service = mesh.known.find(({ host }) => host === to.host);
  const port = service?.ports.find(({ number }) => number === to.port);
  if (service === undefined || port === undefined) return undefined;
  const labels = subsetLabels(mesh.world, mesh.client, service, to.subset);
  if (labels === undefined) return undefined;
  if (service.passthrough) return [`${question.destination.address}:${question.destination.port}`];
  return service.endpoints(port, labels);
}

function unknownHost(mesh: Mesh, { destination }: Question): Shares {
  return always(mesh.scope.registryOnly ? '502' : `passthrough ${destination.address}:${destination.port}`);
}

export function unknownConnection(mesh: Mesh, { destination }: Asked): Shares {
  return always(mesh.scope.registryOnly ? 'closed' : `passthrough ${destination.address}:${destination.port}`);
}

function isMatched(match: JsonObject, request: HttpRequest): boolean {
  const [path, query] = splitQuery(request.path ?? '/');
  const header = (name: string): string | undefined => request.headers?.[name];
  const ignoreCase = match.ignoreUriCase === true;
  const parameters = new URLSearchParams(query);
  return (
    fits(match.uri, path, ignoreCase) &&
    fits(match.scheme, 'http') &&
    fits(match.method, request.method ?? 'GET') &&
    fits(match.authority, request.authority) &&
    Object.entries(objectIn(match.headers)).every(([name, value]) => fitsIfThere(value, header(name))) &&
    !Object.entries(objectIn(match.withoutHeaders)).some(([name, value]) => isUnwanted(value, header(name))) &&
    Object.entries(objectIn(match.queryParams)).every(([name, value]) =>
      fitsIfThere(value, parameters.get(name) ?? undefined),
    )
  );
}

export function splitQuery(full: string): readonly [path: string, query: string] {
  const [path = '', ...rest] = full.split('?');
  return [path, rest.join('?')];
}

/** What is not there fits nothing; a condition without a value asks for presence. */
function fitsIfThere(condition: Json | undefined, value: string | undefined): boolean {
  return value !== undefined && fits(condition, value);
}

/** A header that is not there counts as empty, so a pattern for the empty text wants it to be there with another value: Istio's reading. */
function isUnwanted(condition: Json | undefined, value: string | undefined): boolean {
  const asksForPresence = Object.keys(objectIn(condition)).length === 0;
  return asksForPresence ? value !== undefined : fits(condition, value ?? '');
}

function fits(condition: Json | undefined, value: string, ignoreCase = false): boolean {
  const { exact, prefix, regex } = objectIn(condition);
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (typeof exact === 'string') return fold(value) === fold(exact);
  if (typeof prefix === 'string') return fold(value).startsWith(fold(prefix));
  return typeof regex === 'string' ? new RegExp(`^(?:${regex})$`).test(value) : true;
}

/** A prefix that was matched is replaced, anything else that was matched is replaced as a whole. */
function rewritten(request: HttpRequest, rewrite: JsonObject, match: JsonObject): HttpRequest {
  const authority = textIn(rewrite.authority) || request.authority;
  const [path, query] = splitQuery(request.path ?? '/');
  const rest = query === '' ? '' : `?${query}`;
  const regex = objectIn(rewrite.uriRegexRewrite);
  if (rewrite.uriRegexRewrite !== undefined) {
    const replacement = textIn(regex.rewrite).replace(/\\(\d)/g, '$$$1');
    return { ...request, authority, path: `${path.replace(new RegExp(textIn(regex.match), 'g'), replacement)}${rest}` };
  }
  if (rewrite.uri === undefined) return { ...request, authority };
  const uri = objectIn(match.uri);
  const matched = match.uri === undefined ? '/' : typeof uri.prefix === 'string' ? uri.prefix : path;
  return { ...request, authority, path: `${textIn(rewrite.uri)}${path.slice(matched.length)}${rest}` };
}

function redirection(redirect: JsonObject, { request, destination }: Question): string {
  const scheme = textIn(redirect.scheme) || 'http';
  const [path, query] = splitQuery(request.path ?? '/');
  const derived = redirect.derivePort === 'FROM_REQUEST_PORT' ? destination.port : undefined;
  const wanted = redirect.port === undefined ? derived : Number(redirect.port);
  const port = wanted === (scheme === 'https' ? 443 : 80) ? undefined : wanted;
  const authority = textIn(redirect.authority) || withPort(request.authority, port, scheme);
  const shownPort = redirect.authority !== undefined && port !== undefined ? `:${port}` : '';
  const to = `${scheme}://${authority}${shownPort}${textIn(redirect.uri) || path}${query === '' ? '' : `?${query}`}`;
  return `${String(redirect.redirectCode ?? 301)} ${to}`;
}

/** The client's own authority, with another port if the rule asks for one. */
function withPort(authority: string, port: number | undefined, scheme: string): string {
  if (port !== undefined) return `${authority.replace(/:\d+$/, '')}:${port}`;
  return scheme === 'https' ? authority.replace(/:80$/, '') : authority;
}

export const always = (what: string): Shares => new Map([[what, 1]]);

export function sum(parts: readonly (readonly [share: number, of: Shares])[]): Shares {
  const out = new Map<string, number>();
  for (const [share, of] of parts) for (const [what, one] of of) out.set(what, (out.get(what) ?? 0) + share * one);
  return out;
}
