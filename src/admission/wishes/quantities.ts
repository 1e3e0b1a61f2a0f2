// Quantities as the API server stores them: `2000m` is `2`, `1024Mi` is `1Gi`. A wish has to be written that way, or it
// would never look fulfilled. Source: Kubernetes apimachinery pkg/api/resource/quantity.go (CanonicalizeBytes).

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';

const QUANTITY = /^([0-9]+)(?:\.([0-9]{1,3}))?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const DECIMAL: readonly string[] = ['m', '', 'k', 'M', 'G', 'T'];
const BINARY: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti'];

/** What is not of a common form stays as it is. */
export function canonicalQuantity(text: string): string {
  const found = QUANTITY.exec(text);
  if (found === null) return text;
  const [, whole = '', fraction = '', suffix = ''] = found;
  const units = suffix.endsWith('i') ? BINARY : DECIMAL;
  const step = suffix.endsWith('i') ? 1_024n : 1_000n;
  let at = units.indexOf(suffix);
  let value = BigInt(whole);
  if (fraction !== '') {
    if (suffix.endsWith('i') || at === 0) return text;
    value = BigInt(whole + fraction.padEnd(3, '0'));
    at--;
  }
  while (value !== 0n && value % step === 0n && at + 1 < units.length) {
    value /= step;
    at++;
  }
  return value === 0n ? '0' : `${value}${units[at]}`;
}

/** `limits` and `requests` anywhere in the value. */
export function withCanonicalQuantities(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withCanonicalQuantities);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [
      name,
      isAmounts(name, member) ? canonical(member) : withCanonicalQuantities(member),
    ]),
  ) as JsonObject;
}

function isAmounts(name: string, value: Json): value is JsonObject {
  return (name === 'limits' || name === 'requests') && isObject(value);
}

function canonical(amounts: JsonObject): JsonObject {
  const texts = Object.entries(amounts).map(([name, amount]) => [name, canonicalQuantity(String(amount))] as const);
  return Object.fromEntries(texts) as JsonObject;
}
