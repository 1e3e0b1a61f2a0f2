// Inline key sets (RFC 7517): readable, and each key with the members of its type. Whether the numbers are good keys is Envoy's to say.
// A single key may stand for a set, as the library of Istio (github.com/lestrrat-go/jwx) has it.

import { isObject, type Json, type JsonObject } from '../../json.ts';
import { quoted } from '../report.ts';

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['RSA', ['n', 'e']],
  ['EC', ['crv', 'x', 'y']],
  ['OKP', ['crv', 'x']],
  ['oct', ['k']],
]);

/** What is wrong with the text of a key set, if anything. */
export function jwksProblem(text: string): string | undefined {
  let json: Json;
  try {
    json = JSON.parse(firstObject(text)) as Json;
  } catch {
    return 'is not JSON';
  }
  if (!isObject(json)) return 'is not a key set: expected an object with keys';
  if (json.keys === undefined) return keyProblem(json, 'the key');
  if (!Array.isArray(json.keys)) return 'is not a key set: keys is not a list';
  for (const [i, key] of (json.keys as readonly Json[]).entries()) {
    const found = isObject(key) ? keyProblem(key, `key ${i}`) : `key ${i} is not an object`;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Up to where its first object ends: what follows is not looked at, as in that library. */
function firstObject(text: string): string {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}]/g)) {
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
  const missing = members.find(member => typeof key[member] !== 'string' || key[member] === '');
  return missing === undefined ? undefined : `${which}: ${missing} is missing`;
}
