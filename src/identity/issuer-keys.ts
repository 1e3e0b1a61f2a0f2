// Keys that tokens are verified with, as the state has them (objects of kind TokenIssuer): parsed once, and as long as
// the object stays.

import { isObject, type Json } from '../core/base/json.ts';
import type { Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import type { KeySet } from './authenticate/jwt.ts';

const parsed = new WeakMap<Obj, KeySet>();

/** `name`: a cluster, or what its source calls an issuer. Undefined: nothing is known of it. */
export function issuerKeys(state: State, name: string): KeySet | undefined {
  const object = state.objects.TokenIssuer.get(`${state.settings.clusterId}/${issuerName(name)}`) as
    | Obj<'TokenIssuer'>
    | undefined;
  if (object === undefined) return undefined;
  const known = parsed.get(object);
  if (known !== undefined) return known;
  const keys = jsonOf(object.spec.jwks);
  if (!isObject(keys)) return undefined;
  const made = { issuer: object.spec.issuer, keys };
  parsed.set(object, made);
  return made;
}

/** Names of objects are lower case. */
export function issuerName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9.-]/g, '-');
}

function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
