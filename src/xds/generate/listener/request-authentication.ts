// The `jwt_authn` filter: one provider for each token rule. A request without a token passes, one with a bad token is
// refused; AuthorizationPolicies require a token: they read the filter's dynamic metadata.
//
// A rule with unknown keys gets a key that no token matches, so its tokens are refused until the keys are fetched.
// Source: Istio pilot/pkg/security/authn/policy_applier.go (convertToEnvoyJwtConfig).

import type { Generator } from '../../../core/query/memo.ts';
import type { JWTRule } from '../../../core/schema/istio-types.gen.ts';
import type { TokenKeys, TokenRule } from '../../../core/select/policy/request-authentication.ts';
import { any } from '../../proto/any.ts';
import type { HttpFilter, JwtProvider, JwtRequirement } from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';
import { JWT_FILTER, JWT_PAYLOAD } from '../common/jwt.ts';
import { orNone } from '../common/or-none.ts';

const REMOTE_TIMEOUT = { seconds: 5, nanos: 0 };
const REMOTE_CACHE = { seconds: 300, nanos: 0 };
/** Claims that are always split at spaces (RFC 8693, RFC 6749). */
const SPACE_DELIMITED = ['permission', 'scope'];

/**
 * An RSA public key whose private half has never been kept: no token is signed with it (Istio
 * pilot/pkg/model/jwks_resolver.go, FakeJwks).
 */
const NO_TOKEN_MATCHES = `{
  "keys": [
    {
      "kty": "RSA",
      "e": "AQAB",
      "n": "0xObjM0UvS_oaazjpEYlAbwctEJ4L8pH3OuTb7qth7gUwqet-EzQB4dgFdvSdMgrLnSncQGRjpEYz3F3viIbH-3EN3TxSlPNviHxeOdyiBVfumN8dMxbLvVJUpfNOnvmMxJcl-8NNjAwcOjk4otSALaYgYYyOPyvKtgVdrQr-FoubWX4yrjxW-MJ2-7OBeepUUNOsVwGV23YX03sVkkyvY3otRflkBcY3_HKpBxJl9wk2GyOShN4_PNUF9-vwfnvOXMbCDX-w4PTef4geeb_GiT40YCKHTKMSPVanGRn5GExIWmki-mmqh94-mPTJyBR74ShspL3BxPZitDL574T1w"
    }
  ]
}`;

export const jwtFilters: Generator<
  { readonly rules: readonly TokenRule[]; readonly sidecar: boolean },
  readonly HttpFilter[]
> = {
  name: 'listener/requestAuthentication',
  run: ({ rules, sidecar }) => {
    const names = rules.map((_, i) => `origins-${i}`);
    const providers = Object.fromEntries(rules.map((rule, i) => [names[i]!, providerOf(rule, sidecar)]));
    const typedConfig = any('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication', {
      providers,
      rules: [{ match: { prefix: '/' }, requires: requirementOf(names) }],
      bypassCorsPreflight: true,
    });
    return [{ name: JWT_FILTER, typedConfig }];
  },
};

/** No token, or a good one of any provider; with several, also no bad one of any. */
function requirementOf(names: readonly string[]): JwtRequirement {
  const each = names.map(optional);
  if (each.length === 1) return each[0]!;
  const requirements: JwtRequirement[] = names.map(providerName => ({ providerName }));
  return { requiresAny: { requirements: [...requirements, { requiresAll: { requirements: each } }] } };
}

function optional(providerName: string): JwtRequirement {
  return { requiresAny: { requirements: [{ providerName }, { allowMissing: {} }] } };
}

function providerOf({ rule, keys }: TokenRule, sidecar: boolean): JwtProvider {
  return {
    issuer: rule.issuer,
    audiences: orNone(rule.audiences ?? []),
    forward: rule.forwardOriginalToken === true ? true : undefined,
    forwardPayloadHeader: rule.outputPayloadToHeader,
    claimToHeaders: orNone(
      (rule.outputClaimToHeaders ?? []).map(({ header, claim }) => ({ headerName: header, claimName: claim })),
    ),
    fromHeaders: orNone((rule.fromHeaders ?? []).map(({ name, prefix }) => ({ name, valuePrefix: prefix }))),
    fromParams: orNone(rule.fromParams ?? []),
    fromCookies: orNone(rule.fromCookies ?? []),
    payloadInMetadata: JWT_PAYLOAD,
    normalizePayloadInMetadata: {
      spaceDelimitedClaims: [...new Set([...SPACE_DELIMITED, ...(rule.spaceDelimitedClaims ?? [])])].sort(),
    },
    // Claims may decide the route, which a sidecar has already.
    clearRouteCache: sidecar ? undefined : true,
    ...keysOf(keys, rule),
  };
}

function keysOf(keys: TokenKeys, rule: JWTRule): Pick<JwtProvider, 'localJwks' | 'remoteJwks'> {
  if (keys.kind !== 'remote') return { localJwks: { inlineString: keys.text ?? NO_TOKEN_MATCHES } };
  const timeout = durationOf(rule.timeout) ?? REMOTE_TIMEOUT;
  return { remoteJwks: { httpUri: { uri: keys.uri, cluster: keys.cluster, timeout }, cacheDuration: REMOTE_CACHE } };
}
