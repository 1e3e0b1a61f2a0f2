// Filters of routes that change headers.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (createHeadersFilter).

import type { HeaderModifier, HeaderValue } from '../../schema/gateway-api-types.gen.ts';
import type { Headers, Headers_HeaderOperations } from '../../schema/istio-types.gen.ts';
import { type ConfigError, configError, INVALID_FILTER, quoted } from './config-error.ts';

interface HeaderFilter {
  readonly type: string;
  readonly requestHeaderModifier?: HeaderModifier;
  readonly responseHeaderModifier?: HeaderModifier;
}

export interface HeaderResult {
  readonly headers: Headers | undefined;
  readonly error: ConfigError | undefined;
}

/** True for the two types that `withHeaderFilter` knows. */
export function isHeaderFilter({ type }: HeaderFilter): boolean {
  return type === 'RequestHeaderModifier' || type === 'ResponseHeaderModifier';
}

/** A second filter of a type takes the place of the first. */
export function withHeaderFilter(headers: Headers | undefined, filter: HeaderFilter): HeaderResult {
  const isRequest = filter.type === 'RequestHeaderModifier';
  const modifier = isRequest ? filter.requestHeaderModifier : filter.responseHeaderModifier;
  if (modifier === undefined) return { headers, error: undefined };
  const bad = [...(modifier.set ?? []), ...(modifier.add ?? [])].find(({ value }) => !isValue(value));
  if (bad !== undefined) {
    const message = `header ${quoted(bad.name)} value contains invalid characters`;
    return { headers, error: configError(INVALID_FILTER, message) };
  }
  const operations: Headers_HeaderOperations = {
    ...(modifier.set === undefined ? {} : { set: firstByName(modifier.set) }),
    ...(modifier.add === undefined ? {} : { add: firstByName(modifier.add) }),
    ...(modifier.remove === undefined ? {} : { remove: modifier.remove }),
  };
  const changed = isRequest ? { request: operations } : { response: operations };
  return { headers: { ...headers, ...changed }, error: undefined };
}

function firstByName(values: readonly HeaderValue[]): Readonly<Record<string, string>> {
  const found = new Map<string, string>();
  for (const { name, value } of values) {
    const lower = name.toLowerCase();
    if (!found.has(lower)) found.set(lower, value);
  }
  return Object.fromEntries(found);
}

/** Tabs and printable characters (RFC 9110, section 5.5). */
function isValue(text: string): boolean {
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (code !== 0x09 && (code < 0x20 || code === 0x7f)) return false;
  }
  return true;
}
