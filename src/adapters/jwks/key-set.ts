// The text of a key set (RFC 7517) as it is recorded: JSON with a list `keys`, without the private halves that a
// careless issuer publishes.
//
// Two texts that say the same are one: the keys stand in every HTTP listener, and a changed byte would drain them all.

import { canonicalJson, isObject, type Json, type JsonObject } from '../../core/base/json.ts';

/** Members of RSA, EC and OKP keys that no verifier needs (RFC 7518 §6). */
const PRIVATE_MEMBERS: readonly string[] = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

export interface KeySet {
  readonly text: string;
  /** It has a symmetric key, which is as private as a password. */
  readonly symmetric: boolean;
}

/** The key set of an answer, or why it is none. */
export function keySetOf(body: string): KeySet | { readonly failed: string } {
  let json: Json;
  try {
    json = JSON.parse(body) as Json;
  } catch {
    return { failed: 'the answer is not JSON' };
  }
  if (!isObject(json) || !Array.isArray(json.keys)) return { failed: 'the answer has no list of keys' };
  const keys = json.keys as readonly Json[];
  const symmetric = keys.some(key => isObject(key) && key.kty === 'oct');
  if (!keys.some(hasPrivateHalf)) return { text: body, symmetric };
  return { text: JSON.stringify({ ...json, keys: keys.map(publicHalf) }), symmetric };
}

/** The URI that a discovery document names (OpenID Connect Discovery §3), or why it names none. */
export function jwksUriOf(body: string): { readonly uri: string } | { readonly failed: string } {
  try {
    const json = JSON.parse(body) as Json;
    const uri = isObject(json) ? json.jwks_uri : undefined;
    return typeof uri === 'string' && uri !== '' ? { uri } : { failed: 'the discovery document names no jwks_uri' };
  } catch {
    return { failed: 'the discovery document is not JSON' };
  }
}

/** True for texts with the same keys, in whichever order. */
export function sameKeys(a: string, b: string): boolean {
  return a === b || sortedKeys(a) === sortedKeys(b);
}

function sortedKeys(text: string): string {
  try {
    const { keys } = JSON.parse(text) as { readonly keys: readonly Json[] };
    return keys.map(canonicalJson).sort().join('\n');
  } catch {
    return text;
  }
}

function hasPrivateHalf(key: Json): boolean {
  return isObject(key) && key.kty !== 'oct' && PRIVATE_MEMBERS.some(name => key[name] !== undefined);
}

function publicHalf(key: Json): Json {
  if (!hasPrivateHalf(key)) return key;
  const entries = Object.entries(key as JsonObject).filter(([name]) => !PRIVATE_MEMBERS.includes(name));
  return Object.fromEntries(entries);
}
