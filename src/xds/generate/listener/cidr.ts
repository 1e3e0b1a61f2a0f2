// Address ranges as Envoy writes them.

import type { CidrRange } from '../../proto/types.gen.ts';

/** `address/length`; an address alone is one host. */
export function cidrRange(text: string): CidrRange {
  const slash = text.indexOf('/');
  const addressPrefix = slash < 0 ? text : text.slice(0, slash);
  const hostBits = addressPrefix.includes(':') ? 128 : 32;
  return { addressPrefix, prefixLen: { value: slash < 0 ? hostBits : Number(text.slice(slash + 1)) } };
}
