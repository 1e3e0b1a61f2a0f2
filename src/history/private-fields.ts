// Private keys never leave in the clear: generated resources contain those of gateways and the pull secrets of Wasm
// modules, and every output of a resource replaces them first.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';

/** base64 of `[redacted]`, as istiod shows a key. */
const REDACTED: JsonObject = { inlineBytes: 'W3JlZGFjdGVkXQ==' };
/**
 * Fields that hold, or refer inline to, something secret: of TlsCertificate, GenericSecret and TlsSessionTicketKeys.
 */
export const PRIVATE_FIELDS: ReadonlySet<string> = new Set([
  'privateKey',
  'password',
  'pkcs12',
  'genericSecret',
  'sessionTicketKeys',
]);

/** Variables of Wasm modules whose value is a secret for the agent. Empty ones are shown: the secret is missing. */
const PRIVATE_TEXTS: ReadonlySet<string> = new Set(['ISTIO_META_WASM_IMAGE_PULL_SECRET']);

/** The value, or a copy with every private key replaced, wherever it is: listeners and clusters may hold one inline. */
export function withoutPrivateKeys(value: Json): Json {
  if (Array.isArray(value)) {
    const shown = value.map(withoutPrivateKeys);
    return shown.some((one, i) => one !== value[i]) ? shown : value;
  }
  if (!isObject(value)) return value;
  let shown: Record<string, Json | undefined> | undefined;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const safe = safeMember(name, member);
    if (safe === member) continue;
    shown ??= { ...value };
    shown[name] = safe;
  }
  return shown ?? value;
}

function safeMember(name: string, member: Json): Json {
  if (PRIVATE_FIELDS.has(name) && typeof member === 'object') return REDACTED;
  if (PRIVATE_TEXTS.has(name) && typeof member === 'string' && member !== '') return '[redacted]';
  return withoutPrivateKeys(member);
}
