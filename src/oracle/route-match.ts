// Whether a route matches a request (Envoy's RouteEntryImplBase::matchRoute and the classes for each way to match a
// path). All conditions of a match must hold; with a runtime fraction it holds for a share of the requests.

import {
  type CookieMatcher,
  FractionalPercent_DenominatorType as Denominator,
  type FractionalPercent,
  type QueryParameterMatcher,
  type RouteMatch,
} from '../xds/proto/types.gen.ts';
import { type Headers, matchesHeader } from './header-matcher.ts';
import { queryParameter, type SplitPath, splitPath } from './path.ts';
import type { TlsHello } from './question.ts';
import { matchesRegex } from './regex.ts';
import { matchesString } from './string-matcher.ts';
import type { DynamicMetadata } from './subject.ts';
import { matchesMetadata } from './value-matcher.ts';

export type Matched =
  /** For this share of the requests, above 0. */
  { readonly share: number } | { readonly unlike: string } | { readonly unmodelled: string };

export function matchRoute(
  match: RouteMatch,
  headers: Headers,
  tls: TlsHello | undefined,
  metadata: DynamicMetadata = new Map(),
): Matched {
  const unknown = notModelled(match);
  if (unknown !== undefined) return { unmodelled: unknown };
  const unlike = firstDifference(match, headers, tls) ?? metadataDifference(match, metadata);
  if (unlike !== undefined) return { unlike };
  const share = match.runtimeFraction === undefined ? 1 : shareOf(match.runtimeFraction.defaultValue);
  return share === 0 ? { unlike: 'fraction' } : { share };
}

/** 0 … 1. */
export function shareOf(percent: FractionalPercent | undefined): number {
  const whole =
    percent?.denominator === Denominator.MILLION
      ? 1_000_000
      : percent?.denominator === Denominator.TEN_THOUSAND
        ? 10_000
        : 100;
  return Math.min(1, (percent?.numerator ?? 0) / whole);
}

function notModelled(match: RouteMatch): string | undefined {
  if (match.pathMatchPolicy !== undefined) return 'path_match_policy';
  if ((match.filterState ?? []).length > 0) return 'filter_state';
  return undefined;
}

function firstDifference(match: RouteMatch, headers: Headers, tls: TlsHello | undefined): string | undefined {
  const full = headers.get(':path');
  const isConnect = headers.get(':method') === 'CONNECT';
  if (match.connectMatcher !== undefined) {
    if (!isConnect) return 'not CONNECT';
  } else {
    if (full === undefined) return 'no path';
    if (!matchesPath(match, splitPath(full))) return 'path';
  }
  if (match.grpc !== undefined && !/^application\/grpc(\+|$)/.test(headers.get('content-type') ?? ''))
    return 'not gRPC';
  const header = (match.headers ?? []).find(matcher => !matchesHeader(matcher, headers));
  if (header !== undefined) return `header ${header.name}`;
  const { query } = splitPath(full ?? '');
  const parameter = (match.queryParameters ?? []).find(matcher => !matchesParameter(matcher, query));
  if (parameter !== undefined) return `query parameter ${parameter.name}`;
  const cookie = (match.cookies ?? []).find(matcher => !matchesCookie(matcher, headers.get('cookie') ?? ''));
  if (cookie !== undefined) return `cookie ${cookie.name}`;
  return tlsDifference(match, tls);
}

function metadataDifference(match: RouteMatch, metadata: DynamicMetadata): string | undefined {
  const matches = (match.dynamicMetadata ?? []).every(matcher => matchesMetadata(matcher, metadata));
  return matches ? undefined : 'dynamic metadata';
}

function matchesPath(match: RouteMatch, { path }: SplitPath): boolean {
  const fold = (text: string): string => (match.caseSensitive?.value === false ? text.toLowerCase() : text);
  if (match.prefix !== undefined) return fold(path).startsWith(fold(match.prefix));
  if (match.path !== undefined) return fold(path) === fold(match.path);
  if (match.safeRegex !== undefined) return matchesRegex(match.safeRegex, path);
  if (match.pathSeparatedPrefix !== undefined) {
    const prefix = fold(match.pathSeparatedPrefix);
    return fold(path).startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
  }
  return false;
}

function matchesParameter(matcher: QueryParameterMatcher, query: string): boolean {
  const value = queryParameter(query, matcher.name ?? '');
  if (matcher.stringMatch !== undefined) return value !== undefined && matchesString(matcher.stringMatch, value);
  return (value !== undefined) === (matcher.presentMatch ?? true);
}

function matchesCookie(matcher: CookieMatcher, cookies: string): boolean {
  const found = cookies.split(/;\s*/).find(cookie => cookie.startsWith(`${matcher.name}=`));
  const value = found?.slice((matcher.name ?? '').length + 1);
  const matched = value !== undefined && matchesString(matcher.stringMatch ?? {}, value);
  return matched !== (matcher.invertMatch === true);
}

function tlsDifference({ tlsContext }: RouteMatch, tls: TlsHello | undefined): string | undefined {
  const presents = tls?.certificate !== undefined;
  const wants = [tlsContext?.presented?.value, tlsContext?.validated?.value];
  return wants.some(want => want !== undefined && want !== presents) ? 'client certificate' : undefined;
}
