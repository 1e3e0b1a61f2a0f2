// The match of a route: path, then headers, query parameters and JWT claims.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateRouteMatch).
//
// Istio takes query parameters and claims in random order; here both, and headers of one name, are in the order of
// their keys.

import { compareText } from '../../../core/model/object.ts';
import type { HTTPMatchRequest, StringMatch } from '../../../core/schema/istio-types.gen.ts';
import type { HeaderMatcher, MetadataMatcher, QueryParameterMatcher, RouteMatch } from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';
import { sortedKeys } from '../common/sorted-keys.ts';
import { claimMatcher, claimPath } from './claims.ts';
import { isPresence, stringMatcher } from './string-match.ts';

/** `pathPrefix`: prefixes end at path separators, as in Ingress and Gateway API. */
export function routeMatch(match: HTTPMatchRequest | undefined, pathPrefix: boolean): RouteMatch {
  if (match === undefined) return { prefix: '/' };
  const { path, prefix, pathSeparatedPrefix, safeRegex } = pathMatch(match.uri, pathPrefix);
  const { headers, claims } = isAboutHeaders(match) ? headerMatchers(match) : noHeaders;
  const { queryParams } = match;
  const queryParameters = sortedKeys(queryParams).map(name => queryMatcher(name, queryParams![name]!));
  return {
    path,
    prefix,
    pathSeparatedPrefix,
    safeRegex,
    caseSensitive: match.ignoreUriCase === true ? caseInsensitive : caseSensitive,
    headers: orNone(headers),
    queryParameters: orNone(queryParameters),
    dynamicMetadata: orNone(claims),
  };
}

const caseSensitive = { value: true };
const caseInsensitive = { value: false };

/** Matches every request, so that nothing behind it is reached. */
export function isCatchAll(match: RouteMatch): boolean {
  const everyPath = match.prefix === '/' || match.pathSeparatedPrefix === '/' || match.safeRegex?.regex === '.*';
  return everyPath && !hasSome(match.headers) && !hasSome(match.queryParameters) && !hasSome(match.dynamicMetadata);
}

function hasSome(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

type PathMatch = Pick<RouteMatch, 'path' | 'prefix' | 'pathSeparatedPrefix' | 'safeRegex'>;

function pathMatch(uri: StringMatch | undefined, pathPrefix: boolean): PathMatch {
  if (uri?.exact !== undefined) return { path: uri.exact };
  if (uri?.prefix !== undefined) {
    if (!pathPrefix || uri.prefix === '/') return { prefix: uri.prefix };
    return { pathSeparatedPrefix: uri.prefix.endsWith('/') ? uri.prefix.slice(0, -1) : uri.prefix };
  }
  return uri?.regex === undefined ? { prefix: '/' } : { safeRegex: { regex: uri.regex } };
}

function isAboutHeaders({ headers, withoutHeaders, method, authority, scheme }: HTTPMatchRequest): boolean {
  if (headers !== undefined || withoutHeaders !== undefined) return true;
  return method !== undefined || authority !== undefined || scheme !== undefined;
}

interface HeaderMatchers {
  readonly headers: readonly HeaderMatcher[];
  readonly claims: readonly MetadataMatcher[];
}

const noHeaders: HeaderMatchers = { headers: [], claims: [] };

function headerMatchers(match: HTTPMatchRequest): HeaderMatchers {
  const { headers, withoutHeaders } = match;
  const named: HeaderMatcher[] = [];
  const claims: MetadataMatcher[] = [];
  for (const name of sortedKeys(headers)) {
    const path = claimPath(name);
    if (path === undefined) named.push(headerMatcher(name, headers![name]!));
    else claims.push(claimMatcher(path, headers![name]!, false));
  }
  const count = named.length;
  for (const name of sortedKeys(withoutHeaders)) {
    const path = claimPath(name);
    if (path === undefined) named.push(withoutHeader(name, withoutHeaders![name]!));
    else claims.push(claimMatcher(path, withoutHeaders![name]!, true));
  }
  if (count > 0 && count < named.length) named.sort((a, b) => compareText(a.name ?? '', b.name ?? ''));
  if (match.method !== undefined) named.push(headerMatcher(':method', match.method));
  if (match.authority !== undefined) named.push(headerMatcher(':authority', match.authority));
  if (match.scheme !== undefined) named.push(headerMatcher(':scheme', match.scheme));
  return { headers: named, claims };
}

function headerMatcher(name: string, match: StringMatch): HeaderMatcher {
  const matcher = isPresence(match) ? undefined : stringMatcher(match);
  return matcher === undefined ? { name, presentMatch: true } : { name, stringMatch: matcher };
}

function withoutHeader(name: string, match: StringMatch): HeaderMatcher {
  if (isPresence(match)) return { name, presentMatch: true, invertMatch: true };
  return { name, stringMatch: stringMatcher(match)!, invertMatch: true, treatMissingHeaderAsEmpty: true };
}

function queryMatcher(name: string, match: StringMatch): QueryParameterMatcher {
  const matcher = isPresence(match) ? undefined : stringMatcher(match);
  return matcher === undefined ? { name, presentMatch: true } : { name, stringMatch: matcher };
}
