// The CORS policy of a VirtualService rule, as the per-route configuration of Envoy's CORS filter.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateCORSPolicy).

import type { CorsPolicy } from '../../../core/schema/istio-types.gen.ts';
import { any } from '../../proto/any.ts';
import type { AnyMessage, StringMatcher } from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';
import { perHundred } from './percent.ts';
import { stringMatcher } from './string-match.ts';

export const CORS_FILTER = 'envoy.filters.http.cors';

export function corsConfig(policy: CorsPolicy): AnyMessage {
  return any('envoy.extensions.filters.http.cors.v3.CorsPolicy', {
    allowOriginStringMatch: orNone(allowedOrigins(policy)),
    allowMethods: joined(policy.allowMethods),
    allowHeaders: joined(policy.allowHeaders),
    exposeHeaders: joined(policy.exposeHeaders),
    maxAge: policy.maxAge === undefined ? undefined : String(policy.maxAge.seconds),
    allowCredentials: policy.allowCredentials === undefined ? undefined : { value: policy.allowCredentials },
    filterEnabled: { defaultValue: perHundred(100) },
    forwardNotMatchingPreflights: { value: policy.unmatchedPreflights !== 'IGNORE' },
  });
}

/** The deprecated `allowOrigin` is a list of exact names, `*` among them. */
function allowedOrigins(policy: CorsPolicy): readonly StringMatcher[] {
  const { allowOrigins = [], allowOrigin = [] } = policy;
  if (allowOrigins.length === 0) return allowOrigin.map(exact => ({ exact }));
  return allowOrigins.map(stringMatcher).filter(matcher => matcher !== undefined);
}

function joined(values: readonly string[] | undefined): string | undefined {
  return values?.join(',') || undefined;
}
