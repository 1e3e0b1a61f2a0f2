// envoy.type.matcher.v3.MetadataMatcher and ValueMatcher, over values as JSON has them. A missing value is a special
// value that matches nothing, so only an inverted matcher matches it.

import type { MetadataMatcher, ValueMatcher } from '../xds/proto/types.gen.ts';
import { matchesString } from './string-matcher.ts';
import type { DynamicMetadata } from './subject.ts';

export function matchesMetadata(matcher: MetadataMatcher, metadata: DynamicMetadata): boolean {
  let value: unknown = metadata.get(matcher.filter ?? '');
  for (const { key = '' } of matcher.path ?? []) value = memberOf(value, key);
  return matchesValue(matcher.value ?? {}, value) !== (matcher.invert === true);
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined;
}

function matchesValue(matcher: ValueMatcher, value: unknown): boolean {
  if (value === undefined) return false;
  if (matcher.stringMatch !== undefined) return typeof value === 'string' && matchesString(matcher.stringMatch, value);
  if (matcher.listMatch !== undefined) {
    const { oneOf = {} } = matcher.listMatch;
    return Array.isArray(value) && value.some(element => matchesValue(oneOf, element));
  }
  if (matcher.orMatch !== undefined) {
    return (matcher.orMatch.valueMatchers ?? []).some(one => matchesValue(one, value));
  }
  if (matcher.boolMatch !== undefined) return value === matcher.boolMatch;
  if (matcher.presentMatch !== undefined) return matcher.presentMatch;
  if (matcher.nullMatch !== undefined) return value === null;
  if (matcher.doubleMatch !== undefined && typeof value === 'number') {
    const { exact, range } = matcher.doubleMatch;
    if (exact !== undefined) return value === exact;
    return value >= (range?.start ?? 0) && value < (range?.end ?? 0);
  }
  return false;
}
