// Tokens of an OpenID provider that an operator names (JWT_RULE): verified with the provider's keys, which an adapter
// asked for and the state keeps.
// Source: Istio security/pkg/server/ca/authenticate/oidc.go (JwtAuthenticator).

import { isObject, type Json } from '../../core/base/json.ts';
import { spiffeId } from '../x509/names.ts';
import { type Authenticator, bearerToken } from './authenticator.ts';
import { type KeySet, verifiedClaims } from './jwt.ts';

export interface JwtRule {
  readonly issuer: string;
  /** '': by discovery at the issuer. */
  readonly jwksUri: string;
  readonly audiences: readonly string[];
}

/** Throws if the text is no JWTRule. */
export function jwtRuleOf(text: string): JwtRule {
  const rule = parsed(text);
  if (!isObject(rule) || typeof rule.issuer !== 'string' || rule.issuer === '') {
    throw new Error('JWT_RULE: expected a JSON object with an issuer');
  }
  const uri = rule.jwksUri ?? rule.jwks_uri;
  const audiences = Array.isArray(rule.audiences) ? rule.audiences.filter(item => typeof item === 'string') : [];
  return { issuer: rule.issuer, jwksUri: typeof uri === 'string' ? uri : '', audiences };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Error('JWT_RULE: not JSON');
  }
}

export interface OidcOptions {
  readonly rule: JwtRule;
  /** Undefined: the provider has not answered yet. */
  readonly keys: () => KeySet | undefined;
  readonly trustDomain: () => string;
  readonly now: () => number;
}

const SUBJECT = 'system:serviceaccount';

export function oidc({ rule, keys, trustDomain, now }: OidcOptions): Authenticator {
  const algorithms = rule.jwksUri === '' ? ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256'] : ['RS256'];
  return {
    name: 'OIDC token',
    authenticate: async peer => {
      const token = bearerToken(peer);
      if (token === undefined) return { kind: 'none', reason: 'no bearer token' };
      const known = keys();
      if (known === undefined) return { kind: 'unavailable', reason: `the keys of ${rule.issuer} are not known yet` };
      const options = { audiences: rule.audiences, algorithms, now: now(), audienceList: true };
      const verified = await verifiedClaims(token, { ...known, issuer: rule.issuer }, options);
      if ('why' in verified) return { kind: 'refused', reason: verified.why };
      const { sub } = verified.claims;
      const [, , namespace, account] = typeof sub === 'string' && sub.startsWith(SUBJECT) ? sub.split(':') : [];
      if (!namespace || !account) return { kind: 'refused', reason: 'the subject of the token is no service account' };
      const identities = [spiffeId(trustDomain(), namespace, account)];
      return { kind: 'proven', caller: { identities, proof: { how: 'oidc', issuer: rule.issuer } } };
    },
  };
}
