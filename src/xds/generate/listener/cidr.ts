// Address ranges as Envoy writes them.

import { ipRange } from '../../../core/model/ip-range.ts';
import type { CidrRange } from '../../proto/types.gen.ts';

/**
 * `address/length`; an address alone is one host. Host bits are kept, and IPv6 has its short form. undefined for a text
 * that is neither an address nor a prefix. Source: Istio pilot/pkg/networking/util/util.go (AddrStrToCidrRange).
 */
export function addressRange(text: string): CidrRange | undefined {
  const range = ipRange(text);
  return range === undefined ? undefined : { addressPrefix: range.address, prefixLen: { value: range.length } };
}

/** Without the texts that are no range. */
export function addressRanges(texts: readonly string[]): readonly CidrRange[] {
  return texts.map(addressRange).filter(range => range !== undefined);
}
