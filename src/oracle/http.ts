// What an HTTP connection manager does with a request: it cleans path and authority, runs its filters, looks up the
// route configuration and the virtual host, takes the first route that matches, and applies its action. A fault that
// the route injects may answer first.

import {
  type HttpConnectionManager,
  RedirectAction_RedirectResponseCode as RedirectCode,
  type Route,
  type RouteConfiguration,
  VirtualHost_TlsRequirementType as TlsRequirement,
  type VirtualHost,
} from '../xds/proto/types.gen.ts';
import { cleanAuthority } from './authority.ts';
import type { Exchange, KnownResources } from './exchange.ts';
import { faulty } from './fault.ts';
import { forward } from './forward.ts';
import { type Headers, headersOf } from './header-matcher.ts';
import { type Passing, passFilters } from './http-filters.ts';
import { cleanPath } from './path.ts';
import type { Branch } from './prediction.ts';
import type { AuthorizerAnswer, HttpRequest, TlsHello } from './question.ts';
import { redirectTo } from './rewrite.ts';
import { matchRoute } from './route-match.ts';
import { remoteOf, type Subject } from './subject.ts';
import { end, fork, step, type Trail, unmodelled } from './trail.ts';
import type { Hints } from './upstream.ts';
import { chooseVirtualHost } from './virtual-host.ts';

/** A request that has reached a connection manager. */
export interface Arrived {
  readonly request: HttpRequest;
  readonly authorizer: AuthorizerAnswer | undefined;
  /** The TLS that the filter chain ended, if it did. */
  readonly terminated: TlsHello | undefined;
  readonly subject: Subject;
}

export function serve(
  trail: Trail,
  known: KnownResources,
  hcm: HttpConnectionManager,
  { request: given, authorizer, terminated, subject }: Arrived,
  hints: Hints,
): readonly Branch[] {
  const cleaned = clean(hcm, given, subject.local.port);
  if ('status' in cleaned) return end(trail, { kind: 'answered', status: cleaned.status, why: 'the path is refused' });
  const scheme = schemeOf(hcm, given, terminated);
  const headers = headersOf(cleaned, scheme);
  const first: Passing = {
    trail: (hcm.originalIpDetectionExtensions ?? []).reduce((on, { name = '' }) => unmodelled(on, name), trail),
    subject: { ...subject, headers, remote: remoteOf(hcm, subject.direct, headers) },
    outcome: undefined,
    reroutedBy: undefined,
  };
  const { reroutedBy, outcome, ...passed } = passFilters(hcm, first, given.tokens ?? {}, authorizer);
  if (outcome !== undefined) return end(passed.trail, outcome);
  const exchange: Exchange = {
    known,
    hcm,
    request: passed.subject.headers === headers ? cleaned : withHeaders(cleaned, passed.subject.headers),
    headers: reroutedBy?.headers ?? headers,
    metadata: reroutedBy?.metadata ?? new Map(),
    scheme,
    tls: terminated,
    hints: { ...hints, named: cleaned.authority },
  };
  return routed(passed.trail, exchange);
}

/** The request with the headers that filters have left, pseudo headers apart. */
function withHeaders(request: HttpRequest, headers: Headers): HttpRequest {
  const left = [...headers].filter(([name]) => !name.startsWith(':') && name !== 'host');
  return { ...request, headers: Object.fromEntries(left) };
}

function clean(
  hcm: HttpConnectionManager,
  given: HttpRequest,
  port: number,
): HttpRequest | { readonly status: number } {
  const authority = cleanAuthority(hcm, given.authority, port);
  if (given.path === undefined && given.method === 'CONNECT') return { ...given, authority };
  const path = cleanPath(hcm, given.path ?? '/');
  return typeof path === 'string' ? { ...given, authority, path } : path;
}

/** x-forwarded-proto is trusted from a proxy in front; at the edge the connection decides. */
function schemeOf(hcm: HttpConnectionManager, request: HttpRequest, tls: TlsHello | undefined): 'http' | 'https' {
  const own = tls === undefined ? 'http' : 'https';
  if (hcm.useRemoteAddress?.value === true) return own;
  const [, forwarded] =
    Object.entries(request.headers ?? {}).find(([n]) => n.toLowerCase() === 'x-forwarded-proto') ?? [];
  return forwarded === 'https' || forwarded === 'http' ? forwarded : own;
}

function routed(trail: Trail, exchange: Exchange): readonly Branch[] {
  const { hcm, known, headers, request } = exchange;
  const name = hcm.rds?.routeConfigName ?? hcm.routeConfig?.name ?? '';
  const config = hcm.rds === undefined ? hcm.routeConfig : known.routes.get(name);
  if (config === undefined) {
    const why = hcm.rds === undefined ? 'scoped routes' : `route configuration ${name} was not given`;
    return end(trail, { kind: 'unknown', why });
  }
  const on = step(trail, 'route configuration', name, hcm.rds === undefined ? 'is inline' : 'comes by RDS');
  const chosen = chooseVirtualHost(config, headers);
  if (chosen === undefined) {
    const nowhere = step(on, 'virtual host', '', `no domain matches ${request.authority}`);
    return end(nowhere, { kind: 'answered', status: 404, why: `no virtual host for ${request.authority}` });
  }
  const { host, domain } = chosen;
  const there = step(on, 'virtual host', host.name ?? '', `its domain ${domain} matches ${request.authority}`);
  if (needsTls(host, exchange)) {
    // Other than a redirect of a route, it leaves the port in the host.
    const location = `https://${request.authority}${request.path ?? '/'}`;
    return end(there, { kind: 'answered', status: 301, why: 'the virtual host requires TLS', location });
  }
  return firstRoute(there, exchange, config, host);
}

/** A request from outside is one that does not say of itself that it is internal. */
function needsTls({ requireTls }: VirtualHost, { scheme, headers }: Exchange): boolean {
  if (scheme === 'https') return false;
  if (requireTls === TlsRequirement.ALL) return true;
  return requireTls === TlsRequirement.EXTERNAL_ONLY && headers.get('x-envoy-internal') !== 'true';
}

/** The first match wins; the rest of a fraction continues with the next route. */
function firstRoute(
  trail: Trail,
  exchange: Exchange,
  config: RouteConfiguration,
  host: VirtualHost,
): readonly Branch[] {
  const branches: Branch[] = [];
  const passedOver: string[] = [];
  let left = trail;
  for (const [i, route] of (host.routes ?? []).entries()) {
    const name = route.name || `#${i}`;
    const matched = matchRoute(route.match ?? {}, exchange.headers, exchange.tls, exchange.metadata);
    if ('unlike' in matched) {
      passedOver.push(`${name}: ${matched.unlike}`);
      continue;
    }
    const on = step(left, 'route', name, 'is the first that matches', [...passedOver]);
    if ('unmodelled' in matched) {
      return [...branches, ...end(on, { kind: 'unknown', why: `${matched.unmodelled} of route ${name}` })];
    }
    branches.push(...act(fork(on, matched.share), exchange, config, host, route));
    if (matched.share === 1) return branches;
    passedOver.push(`${name}: fraction`);
    left = fork(left, 1 - matched.share);
  }
  const nowhere = step(left, 'route', '', 'none matches', passedOver);
  const { request } = exchange;
  return [
    ...branches,
    ...end(nowhere, { kind: 'answered', status: 404, why: `no route for ${request.method ?? 'GET'} ${request.path}` }),
  ];
}

const STATUS_OF = {
  [RedirectCode.MOVED_PERMANENTLY]: 301,
  [RedirectCode.FOUND]: 302,
  [RedirectCode.SEE_OTHER]: 303,
  [RedirectCode.TEMPORARY_REDIRECT]: 307,
  [RedirectCode.PERMANENT_REDIRECT]: 308,
} as const;

function act(
  trail: Trail,
  exchange: Exchange,
  config: RouteConfiguration,
  host: VirtualHost,
  route: Route,
): readonly Branch[] {
  const { redirect, directResponse, route: action } = route;
  return faulty(trail, exchange, config, host, route, (on, delay) => {
    if (redirect !== undefined) {
      const location = redirectTo(redirect, exchange.request, route.match ?? {}, exchange.scheme);
      const status = STATUS_OF[redirect.responseCode ?? RedirectCode.MOVED_PERMANENTLY];
      return end(on, { kind: 'answered', status, why: 'the route redirects', location });
    }
    if (directResponse !== undefined) {
      return end(on, { kind: 'answered', status: directResponse.status ?? 0, why: 'the route answers itself' });
    }
    if (action !== undefined) return forward(on, exchange, config, host, route, action, delay);
    if (route.nonForwardingAction !== undefined) {
      return end(on, { kind: 'unknown', why: 'a route that is for servers without a proxy' });
    }
    return end(on, { kind: 'unknown', why: 'a route without an action that is modelled' });
  });
}
