// JSON web tokens against a set of keys that lies here: no request leaves. Issuer, audience, expiry and algorithm are
// always demanded.
//
// Invariant: no error repeats the token or any claim of it.

import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';

export interface KeySet {
  readonly issuer: string;
  /** RFC 7517 */
  readonly keys: Json;
}

export interface ClaimOptions {
  /** One of these must be in `aud`. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
  readonly now: number;
  /** `aud` must be a list, as some issuers' is not. */
  readonly audienceList?: boolean;
}

type Verified = { readonly claims: JsonObject } | { readonly why: string };
type Resolver = ReturnType<typeof createLocalJWKSet>;

/** Clocks may differ by so much. */
const TOLERANCE_S = 0;
/** Longer tokens are refused unread; a projected token has 1.2 KB. */
const TOKEN_CHARS_MAX = 16_384;

/** Importing keys costs more than verifying with them. */
const resolvers = new WeakMap<object, Resolver>();

/** Never rejects. */
export async function verifiedClaims(token: string, keySet: KeySet, options: ClaimOptions): Promise<Verified> {
  if (token.length > TOKEN_CHARS_MAX) return { why: `the token is longer than ${TOKEN_CHARS_MAX} characters` };
  const keys = resolverOf(keySet.keys);
  if (keys === undefined) return { why: 'there are no keys to verify tokens with' };
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: keySet.issuer,
      audience: [...options.audiences],
      algorithms: [...options.algorithms],
      requiredClaims: ['exp'],
      clockTolerance: TOLERANCE_S,
      currentDate: new Date(options.now),
    });
    if (options.audienceList === true && !Array.isArray(payload.aud))
      return { why: 'the audience of the token is no list' };
    return { claims: claimsOf(payload) };
  } catch (error) {
    return { why: whyOf(error) };
  }
}

function resolverOf(keys: Json): Resolver | undefined {
  if (!isObject(keys) || !Array.isArray(keys.keys)) return undefined;
  const known = resolvers.get(keys);
  if (known !== undefined) return known;
  try {
    const made = createLocalJWKSet(keys as unknown as JSONWebKeySet);
    resolvers.set(keys, made);
    return made;
  } catch {
    return undefined;
  }
}

function claimsOf(payload: JWTPayload): JsonObject {
  return payload as JsonObject;
}

function whyOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `the claim ${error.claim} of the token is not as it must be`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'the signature of the token is not good';
  if (error instanceof errors.JWKSNoMatchingKey) return 'the token is signed by a key that the issuer does not publish';
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the algorithm of the token is not allowed';
  return 'the token is no JSON web token that can be verified';
}
