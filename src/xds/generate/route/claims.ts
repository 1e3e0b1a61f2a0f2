// Matching on the claims of a validated JWT: header keys such as `@request.auth.claims.sub` or
// `@request.auth.claims[a][b]` match dynamic metadata of the jwt_authn filter instead of a header.
// Source: Istio pkg/jwt (ToRoutingClaim), pilot/pkg/networking/core/route/route.go.

import type { StringMatch } from '../../../core/schema/istio-types.gen.ts';
import type { MetadataMatcher } from '../../proto/types.gen.ts';
import { JWT_FILTER, JWT_PAYLOAD } from '../common/jwt.ts';
import { stringMatcher } from './string-match.ts';

const CLAIM_PREFIX = '@request.auth.claims';

/** The path of the claim, or undefined if the key names an ordinary header (a malformed path makes one, too). */
export function claimPath(key: string): readonly string[] | undefined {
  if (!key.startsWith('@') || !key.toLowerCase().startsWith(CLAIM_PREFIX)) return undefined;
  const rest = key.slice(CLAIM_PREFIX.length);
  if (rest.startsWith('.') && rest.length > 1) return rest.slice(1).split('.');
  if (/^\[.+\]$/s.test(rest)) return rest.slice(1, -1).split('][');
  return undefined;
}

/** A claim may be a list, one element of which has to match, or a single value. */
export function claimMatcher(path: readonly string[], match: StringMatch, invert: boolean): MetadataMatcher {
  const matcher = stringMatcher(match);
  const value = matcher === undefined ? { presentMatch: true } : { stringMatch: matcher };
  return {
    filter: JWT_FILTER,
    path: [JWT_PAYLOAD, ...path].map(key => ({ key })),
    value: { orMatch: { valueMatchers: [{ listMatch: { oneOf: value } }, value] } },
    ...(invert ? { invert: true } : {}),
  };
}
