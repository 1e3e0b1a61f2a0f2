// IP addresses as text, with the verdicts of Go's net/netip (ParseAddr, ParsePrefix), which Istio uses wherever it asks
// whether a text is an address: pkg/util/net/ip.go (IsValidIPAddress, IsIPv6Address), pkg/config/validation/agent
// (ValidateIPAddress, ValidateIPSubnet).
//
// No leading zeros, no shortened IPv4, "::" stands for at least one group. The one vocabulary of the project: nothing
// else decides what an address is.

import ipaddr from 'ipaddr.js';

const ADDRESS_V4_MAX = 15;
const DOT = 0x2e;
const ZERO = 0x30;
const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** One pass without allocation: most events consist of addresses, and most texts that are asked about are names. */
export function isIpv4(text: string): boolean {
  if (text.length > ADDRESS_V4_MAX) return false;
  let parts = 1;
  let value = -1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (value < 0) return false;
      parts++;
      value = -1;
      continue;
    }
    const digit = code - ZERO;
    // A leading zero is allowed only as the whole part.
    if (digit < 0 || digit > 9 || value === 0) return false;
    value = value < 0 ? digit : value * 10 + digit;
    if (value > 255) return false;
  }
  return parts === 4 && value >= 0;
}

/** A zone (`fe80::1%eth0`) is part of an IPv6 address, and is not empty. */
export function isIpv6(text: string): boolean {
  if (!text.includes(':')) return false;
  const percent = text.indexOf('%');
  if (percent >= 0) return percent < text.length - 1 && isPlainIpv6(text.slice(0, percent));
  return isPlainIpv6(text);
}

function isPlainIpv6(text: string): boolean {
  const halves = text.split('::');
  if (halves.length > 2) return false;
  const groups = halves.flatMap(half => (half === '' ? [] : half.split(':')));
  const last = groups.at(-1);
  const embedded = last?.includes('.') === true;
  // Dots at the end only: "1.2.3.4::" has none after its last group.
  if (embedded && (!isIpv4(last) || !text.endsWith(last))) return false;
  const plain = embedded ? groups.slice(0, -1) : groups;
  const width = plain.length + (embedded ? 2 : 0);
  return plain.every(group => GROUP.test(group)) && (halves.length === 2 ? width < 8 : width === 8);
}

/** `address/length`; a prefix has no zone. */
export function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!PREFIX_LENGTH.test(length) || address.includes('%')) return false;
  if (isIpv4(address)) return Number(length) <= 32;
  return isIpv6(address) && Number(length) <= 128;
}

/** The 4 or 16 bytes of an address; without its zone. */
export function ipBytes(address: string): Uint8Array {
  if (isIpv4(address)) return ipv4Bytes(address);
  return Uint8Array.from(ipaddr.IPv6.parse(groupsOf(withoutZone(address))).toByteArray());
}

/** The library's parser takes five times as long. */
function ipv4Bytes(address: string): Uint8Array {
  const bytes = new Uint8Array(4);
  let part = 0;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    if (code === DOT) part++;
    else bytes[part] = bytes[part]! * 10 + code - ZERO;
  }
  return bytes;
}

/**
 * An address as Go writes it: IPv6 in its shortest form, lower case, an IPv4 address that is mapped into it with dots.
 * Source: Go's net/netip (Addr.String). Must be an IP address.
 */
export function shortestAddress(text: string): string {
  if (isIpv4(text)) return text;
  const unzoned = withoutZone(text);
  const address = ipaddr.IPv6.parse(groupsOf(unzoned));
  const plain = address.isIPv4MappedAddress() ? `::ffff:${address.toIPv4Address()}` : address.toRFC5952String();
  return plain + text.slice(unzoned.length);
}

/** A zone may have any letters, of which the library knows some. */
function withoutZone(text: string): string {
  const zone = text.indexOf('%');
  return zone < 0 ? text : text.slice(0, zone);
}

/** Dots at the end in hexadecimal: the library takes `::1.2.3.4` for a mapped address, which it is not. */
function groupsOf(text: string): string {
  return text.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map(group => group.toString(16)).join(':'),
  );
}
