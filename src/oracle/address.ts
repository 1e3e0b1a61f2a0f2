// IP addresses and CIDR ranges as Envoy compares them: by value, regardless of the spelling.

import ipaddr from 'ipaddr.js';
import type { Address, CidrRange } from '../xds/proto/types.gen.ts';

/** An end of a connection. */
export interface Socket {
  /** An IP address. */
  readonly address: string;
  readonly port: number;
}

export const showSocket = ({ address, port }: Socket): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

/** One spelling for each address; undefined if it is none. */
export function canonical(address: string): string | undefined {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : undefined;
}

export function sameAddress(a: string, b: string): boolean {
  const one = canonical(a);
  return one !== undefined && one === canonical(b);
}

export function isIpv6(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).kind() === 'ipv6';
}

export function isLoopback(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'loopback';
}

/**
 * The length of the longest of `ranges` that holds `address`; no ranges at all hold every address. Undefined: none
 * holds it.
 */
export function longestPrefix(ranges: readonly CidrRange[] | undefined, address: string): number | undefined {
  if (ranges === undefined || ranges.length === 0) return 0;
  let longest: number | undefined;
  for (const range of ranges) {
    const length = prefixIn(range, address);
    if (length !== undefined && (longest === undefined || length > longest)) longest = length;
  }
  return longest;
}

function prefixIn({ addressPrefix = '', prefixLen }: CidrRange, address: string): number | undefined {
  if (!ipaddr.isValid(addressPrefix) || !ipaddr.isValid(address)) return undefined;
  const prefix = ipaddr.parse(addressPrefix);
  const ip = ipaddr.parse(address);
  const length = prefixLen?.value ?? 0;
  if (prefix.kind() !== ip.kind()) return undefined;
  return ip.match(prefix, length) ? length : undefined;
}

/** The socket that an Envoy address names; undefined for pipes and listeners within Envoy. */
export function socketOf(address: Address | undefined): Socket | undefined {
  const socket = address?.socketAddress;
  if (socket === undefined) return undefined;
  return { address: socket.address ?? '', port: socket.portValue ?? 0 };
}
