// envoy.type.matcher.v3.StringMatcher. A regular expression decides about case itself: ignore_case does not touch it.

import type { StringMatcher } from '../xds/proto/types.gen.ts';
import { matchesRegex } from './regex.ts';

/** A matcher without a pattern, or with a custom one, matches nothing. */
export function matchesString(matcher: StringMatcher, given: string): boolean {
  if (matcher.safeRegex !== undefined) return matchesRegex(matcher.safeRegex, given);
  const fold = (text: string): string => (matcher.ignoreCase === true ? text.toLowerCase() : text);
  const text = fold(given);
  if (matcher.exact !== undefined) return text === fold(matcher.exact);
  if (matcher.prefix !== undefined) return text.startsWith(fold(matcher.prefix));
  if (matcher.suffix !== undefined) return text.endsWith(fold(matcher.suffix));
  if (matcher.contains !== undefined) return text.includes(fold(matcher.contains));
  return false;
}
