// The CORS policy of a VirtualService rule, as the per-route configuration of Envoy's CORS filter.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateCORSPolicy).

import type { CorsPolicy } from '../../../core/schema/istio-types.gen.ts';
import { any } from '../../proto/any.ts';
import type { AnyMessage, StringMatcher } from '../../proto/types.gen.ts';
import { perHundred } from './percent.ts';
import { stringMatcher } from './string-match.ts';

export const CORS_FILTER = 'envoy.filters.http.cors';

export function corsConfig(policy: CorsPolicy): AnyMessage {
  const origins = allowedOrigins(policy);
  return any('envoy.extensions.filters.http.cors.v3.CorsPolicy', {
    ...(origins.length === 0 ? {} : { allowOriginStringMatch: origins }),
    ...joined('allowMethods', policy.allowMethods),
    ...joined('allowHeaders', policy.allowHeaders),
    ...joined('exposeHeaders', policy.exposeHeaders),
    ...(policy.maxAge === undefined ? {} : { maxAge: String(policy.maxAge.seconds) }),
    ...(policy.allowCredentials === undefined ? {} : { allowCredentials: { value: policy.allowCredentials } }),
    filterEnabled: { defaultValue: perHundred(100) },
    forwardNotMatchingPreflights: { value: policy.unmatchedPreflights !== 'IGNORE' },
  });
}

/** The deprecated `allowOrigin` is a list of exact names, `*` among them. */
function allowedOrigins(policy: CorsPolicy): readonly StringMatcher[] {
  const origins = policy.allowOrigins ?? [];
  if (origins.length > 0) return origins.map(stringMatcher).filter(matcher => matcher !== undefined);
  return (policy.allowOrigin ?? []).map(exact => ({ exact }));
}

function joined(field: string, values: readonly string[] | undefined): Readonly<Record<string, string>> {
  return values === undefined || values.length === 0 ? {} : { [field]: values.join(',') };
}
