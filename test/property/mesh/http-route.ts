// What a VirtualService's HTTP rules say of a request: the first that matches decides, then its faults, redirects and
// rewrites, then the destination, its subset and its endpoints. Written from the descriptions of VirtualService,
// DestinationRule and ServiceEntry, not from the generators.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { HttpRequest } from '../../../src/oracle/question.ts';
import {
  fullHost,
  includes,
  listIn,
  namespaceOf,
  objectIn,
  SHARE_DIGITS,
  seconds,
  specOf,
  textIn,
  textsIn,
} from './read.ts';
import type { Scope } from './scope.ts';
import { type Client, type Service, subsetLabels } from './services.ts';
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
  /** Hosts whose reachability this model does not decide. */
  readonly hidden: readonly string[];
  /** Those that the client follows, in the order in which they are asked. */
  readonly rules: readonly JsonObject[];
  /** Where the rules are asked: `mesh` for sidecars, namespace/name of a Gateway. */
  readonly gateway: string;
  /** In which requests come there. */
  readonly scheme: 'http' | 'https';
  /** The scheme whose port a redirect that names no scheme leaves out; where absent, `scheme`. */
  readonly unwrittenPortOf?: 'http' | 'https';
}

export interface Applicable {
  readonly rule: JsonObject;
  /** Undefined: the rule has no conditions. */
  readonly match: JsonObject | undefined;
}

/** The rules that can apply to requests of this client on this port, one entry for each alternative condition. */
export function rulesOf({ client, gateway }: Mesh, virtualService: JsonObject, port: number): readonly Applicable[] {
  return listIn(specOf(virtualService).http).flatMap((rule): readonly Applicable[] => {
    if (rule.match === undefined) return [{ rule, match: undefined }];
    return listIn(rule.match)
      .filter(match => {
        if (match.port !== undefined && match.port !== port) return false;
        const gateways = gatewaysIn(match.gateways, namespaceOf(virtualService));
        // A rule for named gateways has no conditions on the source.
        if (gateways.length > 0) return gateways.includes(gateway);
        if (!includes(client.labels, objectIn(match.sourceLabels))) return false;
        return match.sourceNamespace === undefined || match.sourceNamespace === client.namespace;
      })
      .map(match => ({ rule, match }));
  });
}

export function routed(mesh: Mesh, question: Question, virtualService: JsonObject): Shares | undefined {
  const { port } = question.destination;
  const found = rulesOf(mesh, virtualService, port).find(one => applies(mesh, one, question));
  return found === undefined ? always('404') : followed(mesh, question, virtualService, found);
}

export function applies({ scheme }: Mesh, { match }: Applicable, { request }: Question): boolean {
  return match === undefined || isMatched(match, request, scheme);
}

/** What a rule does with the request that it has matched. */
export function followed(
  mesh: Mesh,
  question: Question,
  virtualService: JsonObject,
  { rule, match }: Applicable,
): Shares | undefined {
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
  if (rule.redirect !== undefined) return always(redirection(objectIn(rule.redirect), question, mesh));
  if (rule.directResponse !== undefined) return always(String(objectIn(rule.directResponse).status));
  const destinations = listIn(rule.route).map(one => ({
    weight: Number(one.weight ?? 0),
    to: destinationOf(mesh, objectIn(one.destination), virtualService, question),
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

/** At a gateway, as with TCP, a destination without a port means the only port of the service, if it has just one. */
function destinationOf(mesh: Mesh, given: JsonObject, virtualService: JsonObject, question: Asked): Destination {
  const to = destinationIn(given, virtualService, question);
  return mesh.gateway === 'mesh' ? to : withOnlyPort(mesh, given, to);
}

export function withOnlyPort(mesh: Mesh, given: JsonObject, to: Destination): Destination {
  const [only, another] = mesh.known.find(({ host }) => host === to.host)?.ports ?? [];
  return given.port === undefined && only !== undefined && another === undefined ? { ...to, port: only.number } : to;
}

export function destinedTo(
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
  const mirror = rule.mirror === undefined ? '' : mirrored(mesh, rule, virtualService, question);
  return always(
    `${to.host}:${to.port}/${to.subset} [${endpoints.join()}] ${request.authority} ${request.path ?? '/'} timeout ${timeout} retries ${retries}${mirror}`,
  );
}

function mirrored(mesh: Mesh, rule: JsonObject, virtualService: JsonObject, question: Question): string {
  const { host, port, subset } = destinationOf(mesh, objectIn(rule.mirror), virtualService, question);
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
  // A gateway has no address that its clients meant, so it balances.
  if (service.passthrough && mesh.gateway === 'mesh')
    return [`${question.destination.address}:${question.destination.port}`];
  return service.endpoints(port, labels);
}

function isMatched(match: JsonObject, request: HttpRequest, scheme: string): boolean {
  const [path, query] = splitQuery(request.path ?? '/');
  const header = (name: string): string | undefined => request.headers?.[name];
  const ignoreCase = match.ignoreUriCase === true;
  const parameters = new URLSearchParams(query);
  return (
    fits(match.uri, path, ignoreCase) &&
    fits(match.scheme, scheme) &&
    fits(match.method, request.method ?? 'GET') &&
    fits(match.authority, request.authority) &&
    Object.entries(objectIn(match.headers)).every(([name, value]) => fitsIfThere(value, header(name))) &&
    !Object.entries(objectIn(match.withoutHeaders)).some(([name, value]) => isUnwanted(value, header(name))) &&
    Object.entries(objectIn(match.queryParams)).every(([name, value]) =>
      fitsIfThere(value, parameters.get(name) ?? undefined),
    )
  );
}

function splitQuery(full: string): readonly [path: string, query: string] {
  const [path = '', ...rest] = full.split('?');
  return [path, rest.join('?')];
}

/** What is not there fits nothing; a condition without a value asks for presence. */
function fitsIfThere(condition: Json | undefined, value: string | undefined): boolean {
  return value !== undefined && fits(condition, value);
}

/**
 * A header that is not there counts as empty, so a pattern for the empty text wants it to be there with another value:
 * Istio's reading.
 */
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

function redirection(redirect: JsonObject, { request, destination }: Question, mesh: Mesh): string {
  const scheme = textIn(redirect.scheme) || mesh.scheme;
  const unwritten = textIn(redirect.scheme) || (mesh.unwrittenPortOf ?? mesh.scheme);
  const [path, query] = splitQuery(request.path ?? '/');
  const derived = redirect.derivePort === 'FROM_REQUEST_PORT' ? destination.port : undefined;
  const wanted = redirect.port === undefined ? derived : Number(redirect.port);
  const port = wanted === (unwritten === 'https' ? 443 : 80) ? undefined : wanted;
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

/** Names of gateways in full: a name without a namespace is short for one of the object's own. */
export function gatewaysIn(value: Json | undefined, namespace: string): readonly string[] {
  return textsIn(value).map(one => (one === 'mesh' || one.includes('/') ? one : `${namespace}/${one}`));
}
