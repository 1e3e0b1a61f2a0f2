// envoy.config.route.v3.HeaderMatcher (Envoy's HeaderUtility::matchHeaders). A header that is missing matches neither a
// value nor, inverted, the absence of it, unless it is to be treated as empty; only `present` asks for presence itself.

import type { HeaderMatcher } from '../xds/proto/types.gen.ts';
import type { HttpRequest } from './question.ts';
import { matchesRegex } from './regex.ts';
import { matchesString } from './string-matcher.ts';

/** Headers and pseudo headers by their names in lower case. */
export type Headers = ReadonlyMap<string, string>;

export function headersOf(request: HttpRequest, scheme: string): Headers {
  const headers = new Map<string, string>();
  for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name.toLowerCase(), value);
  headers.set(':method', request.method ?? 'GET');
  headers.set(':authority', request.authority);
  headers.set('host', request.authority);
  headers.set(':scheme', scheme);
  if (request.path !== undefined || request.method !== 'CONNECT') headers.set(':path', request.path ?? '/');
  return headers;
}

export function matchesHeader(matcher: HeaderMatcher, headers: Headers): boolean {
  const given = headers.get((matcher.name ?? '').toLowerCase());
  const invert = matcher.invertMatch === true;
  if (given === undefined && matcher.treatMissingHeaderAsEmpty !== true) {
    const wantsPresence = presence(matcher);
    return wantsPresence !== undefined && wantsPresence === invert;
  }
  return matchesValue(matcher, given ?? '') !== invert;
}

/**
 * Whether the matcher requires presence or absence; undefined if it matches a value. A matcher without a specifier asks
 * for presence.
 */
function presence(matcher: HeaderMatcher): boolean | undefined {
  if (matcher.presentMatch !== undefined) return matcher.presentMatch;
  return asksForValue(matcher) ? undefined : true;
}

function asksForValue(matcher: HeaderMatcher): boolean {
  const { exactMatch, prefixMatch, suffixMatch, containsMatch, safeRegexMatch, rangeMatch, stringMatch } = matcher;
  return [exactMatch, prefixMatch, suffixMatch, containsMatch, safeRegexMatch, rangeMatch, stringMatch].some(
    specifier => specifier !== undefined,
  );
}

function matchesValue(matcher: HeaderMatcher, value: string): boolean {
  if (matcher.stringMatch !== undefined) return matchesString(matcher.stringMatch, value);
  if (matcher.safeRegexMatch !== undefined) return matchesRegex(matcher.safeRegexMatch, value);
  if (matcher.exactMatch !== undefined) return matcher.exactMatch === '' || value === matcher.exactMatch;
  if (matcher.prefixMatch !== undefined) return value.startsWith(matcher.prefixMatch);
  if (matcher.suffixMatch !== undefined) return value.endsWith(matcher.suffixMatch);
  if (matcher.containsMatch !== undefined) return value.includes(matcher.containsMatch);
  if (matcher.rangeMatch !== undefined) {
    if (!/^[+-]?\d+$/.test(value)) return false;
    return Number(value) >= (matcher.rangeMatch.start ?? 0) && Number(value) < (matcher.rangeMatch.end ?? 0);
  }
  return matcher.presentMatch ?? true;
}
