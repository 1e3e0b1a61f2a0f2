// What the Istio API says of a connection to a gateway: its port and, in TLS, the server name choose the servers of the
// Gateways; the VirtualServices bound to these Gateways whose hosts meet the servers' decide, all of those for a host
// together, in their order.

import type { JsonObject } from '../../../src/core/base/json.ts';
import type { HttpRequest } from '../../../src/oracle/question.ts';
import { hostsOf, virtualServices } from './http-model.ts';
import {
  type Applicable,
  type Asked,
  always,
  applies,
  followed,
  gatewaysIn,
  type Mesh,
  rulesOf,
  type Shares,
} from './http-route.ts';
import { covers, includes, inOrder, listIn, nameOf, namespaceOf, objectIn, specOf, textIn, textsIn } from './read.ts';
import { type Client, hiddenHosts, visibleServices } from './services.ts';
import { routed as routedPlain } from './tcp-model.ts';
import type { World } from './world.ts';

export interface GatewayQuestion extends Asked {
  /** The client speaks TLS; '' without a server name. Absent: plain text. */
  readonly sni?: string;
  readonly request: HttpRequest;
}

type Kind = 'http' | 'https' | 'passthrough' | 'tls' | 'tcp';

interface Server {
  /** namespace/name. */
  readonly gateway: string;
  readonly kind: Kind;
  readonly redirects: boolean;
  /** The server has TLS settings, be it only `httpsRedirect`. */
  readonly hasTls: boolean;
  /** With a namespace, for VirtualServices of that one only. */
  readonly hosts: readonly string[];
}

/** The whole mesh as a gateway sees it; its servers come with each question. */
export function gatewayMesh(world: World, client: Client): Mesh {
  const known = visibleServices(world, client);
  const scope = { imports: undefined, registryOnly: false };
  const hidden = hiddenHosts(world, client);
  return { world, client, services: known, known, scope, hidden, rules: [], gateway: '', scheme: 'http' };
}

/** The servers on a port that this gateway serves, the oldest Gateway's first. */
function serversOn({ world, client }: Mesh, port: number): readonly Server[] {
  const gateways = inOrder(world.objects.filter(({ kind }) => kind === 'Gateway'));
  return gateways
    .filter(one => includes(client.labels, objectIn(specOf(one).selector)))
    .flatMap(one =>
      listIn(specOf(one).servers)
        .filter(server => objectIn(server.port).number === port)
        .map(server => ({
          gateway: `${namespaceOf(one)}/${nameOf(one)}`,
          kind: kindOf(server),
          redirects: objectIn(server.tls).httpsRedirect === true,
          hasTls: server.tls !== undefined,
          hosts: textsIn(server.hosts).map(host =>
            host.startsWith('./') ? `${namespaceOf(one)}${host.slice(1)}` : host.replace(/^\*\//, ''),
          ),
        })),
    );
}

function kindOf(server: JsonObject): Kind {
  const protocol = textIn(objectIn(server.port).protocol);
  const { mode } = objectIn(server.tls);
  if (mode === 'PASSTHROUGH') return 'passthrough';
  if (protocol === 'HTTPS') return 'https';
  if (protocol === 'TLS') return 'tls';
  return protocol === 'TCP' ? 'tcp' : 'http';
}

const bare = (host: string): string => host.slice(host.indexOf('/') + 1);

/** Undefined: the API does not say, or this model does not. */
export function expectAtGateway(mesh: Mesh, question: GatewayQuestion): Shares | undefined {
  const servers = serversOn(mesh, question.destination.port);
  if (servers.length === 0) return always('closed');
  const kinds = new Set(servers.map(({ kind }) => kind));
  const secured = servers.filter(({ kind, redirects }) => (kind !== 'http' && kind !== 'tcp') || redirects);
  const hosts = secured.flatMap(one => one.hosts.map(bare));
  // Which of two servers for one host gets it is Istio's affair.
  if (new Set(hosts).size < hosts.length) return undefined;
  if (kinds.has('http')) {
    if (kinds.size > 1 || question.sni !== undefined) return undefined;
    return overHttp({ ...mesh, scheme: 'http' }, question, servers);
  }
  if (kinds.has('tcp')) {
    if (servers.length > 1 || question.sni !== undefined) return undefined;
    const way = plain(mesh, question, servers[0]!);
    return way === undefined ? always('closed') : way.go();
  }
  return question.sni === undefined ? always('closed') : overTls(mesh, question, servers);
}

/** The VirtualServices bound to the server's Gateway of which a host meets one of the server's, in their order. */
function boundTo(mesh: Mesh, { gateway, hosts }: Server): readonly { rule: JsonObject; hosts: readonly string[] }[] {
  return virtualServices(mesh.world, mesh.client, gateway).flatMap(rule => {
    const usable = hosts.filter(host => !host.includes('/') || host.startsWith(`${namespaceOf(rule)}/`)).map(bare);
    const met = usable.flatMap(host => hostsOf(rule).flatMap(one => meeting(host, one)));
    return met.length === 0 ? [] : [{ rule, hosts: [...new Set(met)] }];
  });
}

/** What two hosts have in common: the narrower of them. */
function meeting(a: string, b: string): readonly string[] {
  if (a === b || covers(a, b)) return [b];
  return covers(b, a) ? [a] : [];
}

interface Route {
  readonly mesh: Mesh;
  readonly rule: JsonObject;
  readonly applicable: Applicable;
}

function overHttp(mesh: Mesh, question: GatewayQuestion, servers: readonly Server[]): Shares | undefined {
  const routes = new Map<string, Route[]>();
  const redirected = new Set<string>();
  // Of a Gateway and a VirtualService, istiod builds routes for the first server that joins them, and uses them for
  // all.
  const firstOf = new Map<string, Server>();
  for (const server of servers) {
    // A host with a namespace is a domain that no request has, as with Istio (docs/deviations.md); its VirtualServices
    // redirect all the same.
    for (const host of server.redirects ? server.hosts.filter(one => !one.includes('/')) : []) redirected.add(host);
    for (const { rule, hosts } of boundTo(mesh, server)) {
      const key = `${server.gateway} ${namespaceOf(rule)}/${nameOf(rule)}`;
      const first = firstOf.get(key) ?? server;
      firstOf.set(key, first);
      const here: Mesh = { ...mesh, gateway: server.gateway, unwrittenPortOf: first.hasTls ? 'https' : 'http' };
      const found = ended(rulesOf(here, rule, question.destination.port));
      if (found.length === 0) continue;
      for (const host of hosts) {
        if (server.redirects) redirected.add(host);
        const own = found.map(applicable => ({ mesh: here, rule, applicable }));
        routes.set(host, [...(routes.get(host) ?? []), ...own]);
      }
    }
  }
  const asked = question.request.authority.replace(/:\d+$/, '').toLowerCase();
  const host = mostSpecific([...routes.keys(), ...redirected], asked);
  if (host === undefined) return always('404');
  const { authority, path = '/' } = question.request;
  if (redirected.has(host)) return always(`301 https://${authority}${path}`);
  const all = routes.get(host) ?? [];
  // What takes everything comes last, so that of several VirtualServices for a host none hides the others.
  const inTurn = [...all.filter(one => !takesAll(one.applicable)), ...all.filter(one => takesAll(one.applicable))];
  const found = inTurn.find(one => applies(one.mesh, one.applicable, question));
  return found === undefined ? always('404') : followed(found.mesh, question, found.rule, found.applicable);
}

/** Up to the first that takes every request: nothing comes after it. */
function ended(rules: readonly Applicable[]): readonly Applicable[] {
  const last = rules.findIndex(takesAll);
  return last < 0 ? rules : rules.slice(0, last + 1);
}

function takesAll({ match }: Applicable): boolean {
  if (match === undefined) return true;
  const { prefix, regex } = objectIn(match.uri);
  if (match.uri !== undefined && prefix !== '/' && regex !== '.*') return false;
  const conditions = ['scheme', 'method', 'authority', 'headers', 'withoutHeaders', 'queryParams'];
  return conditions.every(field => match[field] === undefined);
}

/** The name itself, else the longest wildcard for it. */
function mostSpecific(hosts: readonly string[], host: string): string | undefined {
  const fitting = hosts.filter(one => one === host || covers(one, host));
  return fitting.includes(host) ? host : [...fitting].sort((a, b) => b.length - a.length)[0];
}

/** A way in by server name; '*' takes every one, and none. */
interface Chain {
  readonly names: readonly string[];
  readonly go: () => Shares | undefined;
}

function overTls(mesh: Mesh, question: GatewayQuestion, servers: readonly Server[]): Shares | undefined {
  const used = new Set<string>();
  const chains = servers.flatMap((server): readonly Chain[] => {
    if (server.kind === 'passthrough') return passedThrough(mesh, question, server, used);
    if (server.kind === 'https') {
      return [{ names: allOrNames(server), go: () => overHttp({ ...mesh, scheme: 'https' }, question, [server]) }];
    }
    const way = plain(mesh, question, server);
    return way === undefined ? [] : [way];
  });
  const names = chains.flatMap(chain => chain.names);
  if (new Set(names).size < names.length) return undefined;
  const name = mostSpecific(names, question.sni ?? '');
  const chosen = chains.find(chain => name !== undefined && chain.names.includes(name));
  return chosen === undefined ? always('closed') : chosen.go();
}

/** One way for each TLS match: the first for a server name has it. */
function passedThrough(mesh: Mesh, question: GatewayQuestion, server: Server, used: Set<string>): readonly Chain[] {
  return boundTo(mesh, server).flatMap(({ rule }) =>
    listIn(specOf(rule).tls).flatMap(route =>
      listIn(route.match)
        .filter(match => isFor(match, rule, server, question))
        .flatMap((match): readonly Chain[] => {
          const names = textsIn(match.sniHosts);
          if (names.some(name => used.has(name))) return [];
          for (const name of names) used.add(name);
          return [{ names, go: () => routedPlain({ ...mesh, gateway: server.gateway }, question, rule, route) }];
        }),
    ),
  );
}

/** The first TCP rule of those bound; undefined if there is none, so that no chain takes the connection. */
function plain(mesh: Mesh, question: GatewayQuestion, server: Server): Chain | undefined {
  for (const { rule } of boundTo(mesh, server)) {
    for (const route of listIn(specOf(rule).tcp)) {
      const fits = route.match === undefined || listIn(route.match).some(match => isFor(match, rule, server, question));
      if (!fits) continue;
      const go = (): Shares | undefined => routedPlain({ ...mesh, gateway: server.gateway }, question, rule, route);
      return { names: allOrNames(server), go };
    }
  }
  return undefined;
}

function allOrNames({ hosts }: Server): readonly string[] {
  const names = hosts.map(bare);
  return names.includes('*') ? ['*'] : names;
}

function isFor(match: JsonObject, rule: JsonObject, { gateway }: Server, { destination }: Asked): boolean {
  if (match.port !== undefined && match.port !== destination.port) return false;
  const gateways = gatewaysIn(match.gateways, namespaceOf(rule));
  return gateways.length === 0 || gateways.includes(gateway);
}
