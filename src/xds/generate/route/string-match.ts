// Istio's StringMatch as Envoy's matchers. An empty match, or the regex `*`, matches presence.
// Source: Istio pilot/pkg/networking/util/util.go (ConvertToEnvoyMatch), pilot/pkg/networking/core/route/route.go.

import type { StringMatch } from '../../../core/schema/istio-types.gen.ts';
import type { StringMatcher } from '../../proto/types.gen.ts';

/** `.*` is a regex like any other; older configuration uses the lone `*` for presence. */
export function isPresence(match: StringMatch): boolean {
  return (match.exact === undefined && match.prefix === undefined && match.regex === undefined) || match.regex === '*';
}

/** undefined for a match without a pattern. An empty pattern counts, `exact: ''` too. */
export function stringMatcher(match: StringMatch): StringMatcher | undefined {
  if (match.exact !== undefined) return { exact: match.exact };
  if (match.prefix !== undefined) return { prefix: match.prefix };
  return match.regex === undefined ? undefined : { safeRegex: { regex: match.regex } };
}
