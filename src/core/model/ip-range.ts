// Ranges of IP addresses from text: an address, or an address and a prefix length, strict as Go's netip. Host bits are
// kept.

import ipaddr from 'ipaddr.js';
import { isIpv4, isIpv6 } from '../base/ip.ts';

export interface IpRange {
  /** In canonical form (RFC 5952), without a zone. */
  readonly address: string;
  readonly length: number;
}

const LENGTH = /^(0|[1-9]\d{0,2})$/;

/** undefined for a text that is neither an address nor a prefix; a prefix has no zone. */
export function ipRange(text: string): IpRange | undefined {
  const slash = text.indexOf('/');
  if (slash < 0) return rangeOf(text.includes('%') ? text.slice(0, text.indexOf('%')) : text, undefined);
  const length = text.slice(slash + 1);
  return LENGTH.test(length) ? rangeOf(text.slice(0, slash), Number(length)) : undefined;
}

function rangeOf(address: string, length: number | undefined): IpRange | undefined {
  const v4 = isIpv4(address);
  if (!v4 && (address.includes('%') || !isIpv6(address))) return undefined;
  const bits = v4 ? 32 : 128;
  if (length !== undefined && length > bits) return undefined;
  return { address: v4 ? address : canonicalIpv6(address), length: length ?? bits };
}

/** An IPv4 address that is mapped into IPv6 keeps its dots, as in Go. */
function canonicalIpv6(text: string): string {
  const address = ipaddr.IPv6.parse(text);
  return address.isIPv4MappedAddress() ? `::ffff:${address.toIPv4Address().toString()}` : address.toRFC5952String();
}

const BYTE_BITS = 8;

/** The first and the last address of a range; one if they are the same, none if the text is no range. */
export function endsOfRange(text: string): readonly string[] {
  const range = ipRange(text);
  if (range === undefined) return [];
  const bytes = ipaddr.parse(range.address).toByteArray();
  const end = (filler: number): string => {
    const filled = bytes.map((byte, i) => {
      const kept = Math.min(BYTE_BITS, Math.max(0, range.length - i * BYTE_BITS));
      const free = 2 ** (BYTE_BITS - kept) - 1;
      return byte - (byte & free) + (filler & free);
    });
    return ipaddr.fromByteArray(filled).toString();
  };
  return [...new Set([end(0), end(2 ** BYTE_BITS - 1)])];
}
