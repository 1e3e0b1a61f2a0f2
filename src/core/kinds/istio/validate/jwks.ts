// Inline key sets (RFC 7517): readable, and each key with the members of its type. Whether the numbers are good keys is
// Envoy's to say. A single key may stand for a set, as the library of Istio (github.com/lestrrat-go/jwx) has it.

import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import { trimmedEnd } from '../../../base/trim.ts';
import { quoted } from '../../report.ts';

/** The required members of a key of the type, and those that are bytes in base64. A key with `d` is a private key. */
interface Members {
  readonly needed: readonly string[];
  readonly bytes: readonly string[];
  readonly privateBytes: readonly string[];
}

const MEMBERS: ReadonlyMap<string, Members> = new Map([
  ['RSA', { needed: ['n', 'e'], bytes: ['n', 'e'], privateBytes: ['d', 'p', 'q', 'dp', 'dq', 'qi'] }],
  ['EC', { needed: ['crv', 'x', 'y'], bytes: ['x', 'y'], privateBytes: ['d'] }],
  ['OKP', { needed: ['crv', 'x'], bytes: ['x'], privateBytes: ['d'] }],
  ['oct', { needed: ['k'], bytes: ['k'], privateBytes: [] }],
]);

/** Members of any key that are texts. */
const TEXTS: readonly string[] = ['alg', 'crv', 'kid', 'use', 'x5t', 'x5t#S256'];

/** A key set of an issuer has some thousands. More are not parsed: V8 takes 0.3 s for 1.4 million brackets. */
export const JWKS_CHARS_MAX = 256 * 1024;

/** The problem of the text of a key set, if any. */
export function jwksProblem(text: string): string | undefined {
  if (text.length > JWKS_CHARS_MAX) return `is longer than ${JWKS_CHARS_MAX} characters`;
  let json: Json;
  try {
    json = JSON.parse(firstObject(text)) as Json;
  } catch {
    return 'is not JSON';
  }
  if (!isObject(json)) return 'is not a key set: expected an object with keys';
  if (json.keys === undefined) return keyProblem(json, 'the key');
  if (json.keys === null) return undefined;
  if (!Array.isArray(json.keys)) return 'is not a key set: keys is not a list';
  for (const [i, key] of (json.keys as readonly Json[]).entries()) {
    const found = isObject(key) ? keyProblem(key, `key ${i}`) : `key ${i} is not an object`;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The keys of a text without a problem. */
export function keysIn(text: string): readonly JsonObject[] {
  const json = JSON.parse(firstObject(text)) as JsonObject;
  return json.keys === undefined ? [json] : ((json.keys ?? []) as readonly JsonObject[]);
}

/** Up to the end of its first object; as in that library, text after it is ignored. */
function firstObject(text: string): string {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|[{}]/g)) {
    if (token === '{') depth += 1;
    if (token !== '}') continue;
    depth -= 1;
    if (depth === 0) return text.slice(0, index + 1);
  }
  return text;
}

function keyProblem(key: JsonObject, which: string): string | undefined {
  const { kty } = key;
  const members = typeof kty === 'string' ? MEMBERS.get(kty) : undefined;
  if (members === undefined) {
    const found = typeof kty === 'string' ? quoted(kty) : 'none';
    return `${which}: expected kty ${[...MEMBERS.keys()].join(', ')}, found ${found}`;
  }
  const missing = members.needed.find(member => key[member] === undefined);
  if (missing !== undefined) return `${which}: ${missing} is missing`;
  const bytes = key.d === undefined ? members.bytes : [...members.bytes, ...members.privateBytes];
  const odd = (names: readonly string[], fits: (value: Json) => boolean) =>
    names.find(name => key[name] !== undefined && key[name] !== null && !fits(key[name]));
  const badText = odd(TEXTS, isText);
  if (badText !== undefined) return `${which}: ${badText} is not a string`;
  const badBytes = odd(bytes, isBase64);
  if (badBytes !== undefined) return `${which}: ${badBytes} is not base64`;
  if (odd(['key_ops'], isListOf(isText))) return `${which}: key_ops is not a list of strings`;
  return odd(['x5c'], isListOf(isBase64)) ? `${which}: x5c is not a list of base64` : undefined;
}

function isText(value: Json): boolean {
  return typeof value === 'string';
}

function isListOf(fits: (item: Json) => boolean): (value: Json) => boolean {
  return value => Array.isArray(value) && (value as readonly Json[]).every(fits);
}

/** Of either alphabet, padded or not, as that library has it; line breaks within do not count. */
function isBase64(value: Json): boolean {
  if (typeof value !== 'string') return false;
  const text = value.replace(/[\r\n]/g, '');
  const { length } = trimmedEnd(text, '=');
  const padding = text.length - length;
  const alphabet = /[+/]/.test(text) ? /^[A-Za-z0-9+/]*$/ : /^[A-Za-z0-9_-]*$/;
  if (!alphabet.test(text.slice(0, length)) || length % 4 === 1) return false;
  return padding === 0 || padding === (4 - (length % 4)) % 4;
}
