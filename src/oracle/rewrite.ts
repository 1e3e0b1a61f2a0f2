// A route's changes of path and authority: rewrites, and the location of a redirect (Envoy's
// RouteEntryImplBase::finalizeRequestHeaders and RedirectEntryImplBase::newUri).

import type { RedirectAction, RouteAction, RouteMatch } from '../xds/proto/types.gen.ts';
import { splitAuthority } from './authority.ts';
import { splitPath } from './path.ts';
import type { HttpRequest } from './question.ts';
import { substitute } from './regex.ts';

export interface WeightedRewrite {
  readonly hostRewriteLiteral?: string;
}

/** The request as the upstream gets it. `hostname` is the endpoint's, for auto_host_rewrite. */
export function rewritten(
  request: HttpRequest,
  match: RouteMatch,
  action: RouteAction,
  weighted: WeightedRewrite,
  hostname: string,
): HttpRequest {
  const authority = rewrittenAuthority(request, action, weighted, hostname);
  if (request.path === undefined && request.method === 'CONNECT') return { ...request, authority };
  return { ...request, authority, path: rewrittenPath(request.path ?? '/', match, action) };
}

function rewrittenAuthority(
  request: HttpRequest,
  action: RouteAction,
  weighted: WeightedRewrite,
  hostname: string,
): string {
  if (weighted.hostRewriteLiteral) return weighted.hostRewriteLiteral;
  if (action.hostRewriteLiteral) return action.hostRewriteLiteral;
  if (action.hostRewriteHeader) {
    const wanted = action.hostRewriteHeader.toLowerCase();
    const found = Object.entries(request.headers ?? {}).find(([name]) => name.toLowerCase() === wanted);
    return found?.[1] ?? request.authority;
  }
  if (action.hostRewritePathRegex !== undefined) {
    return substitute(action.hostRewritePathRegex, splitPath(request.path ?? '/').path);
  }
  return action.autoHostRewrite?.value === true && hostname !== '' ? hostname : request.authority;
}

function rewrittenPath(full: string, match: RouteMatch, action: RouteAction): string {
  if (action.prefixRewrite) return replacePrefix(full, match, action.prefixRewrite);
  if (action.regexRewrite !== undefined) {
    const { path, query } = splitPath(full);
    return `${substitute(action.regexRewrite, path)}${query}`;
  }
  return full;
}

/** The matched part is replaced: the prefix, or the whole path. */
function replacePrefix(full: string, match: RouteMatch, replacement: string): string {
  const { path, query } = splitPath(full);
  const matched = match.prefix ?? match.pathSeparatedPrefix ?? path;
  return `${replacement}${path.slice(matched.length)}${query}`;
}

export function redirectTo(
  redirect: RedirectAction,
  request: HttpRequest,
  match: RouteMatch,
  scheme: 'http' | 'https',
): string {
  const newScheme = redirect.httpsRedirect === true ? 'https' : redirect.schemeRedirect || scheme;
  const { host, port } = splitAuthority(request.authority);
  const newHost = redirect.hostRedirect || host;
  const path = redirectPath(redirect, request.path ?? '/', match);
  return `${newScheme}://${newHost}${redirectPort(redirect, port, scheme, newScheme)}${path}`;
}

/** A port that is the default of the scheme that is left goes with it; a new host is taken as it is. */
function redirectPort(redirect: RedirectAction, port: string | undefined, from: string, to: string): string {
  if (redirect.portRedirect) return `:${redirect.portRedirect}`;
  if (redirect.hostRedirect || port === undefined) return '';
  const isDefault = (from === 'http' && port === '80') || (from === 'https' && port === '443');
  return from !== to && isDefault ? '' : `:${port}`;
}

function redirectPath(redirect: RedirectAction, full: string, match: RouteMatch): string {
  const { path, query } = splitPath(full);
  const kept = redirect.stripQuery === true ? '' : query;
  if (redirect.pathRedirect)
    return redirect.pathRedirect.includes('?') ? redirect.pathRedirect : `${redirect.pathRedirect}${kept}`;
  if (redirect.prefixRewrite) {
    const { path: replaced } = splitPath(replacePrefix(path, match, redirect.prefixRewrite));
    return `${replaced}${kept}`;
  }
  if (redirect.regexRewrite !== undefined) return `${substitute(redirect.regexRewrite, path)}${kept}`;
  return `${path}${kept}`;
}
