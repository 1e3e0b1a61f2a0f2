// IP addresses and prefixes. Strict as Go's netip: no leading zeros, no shortened IPv4, no IPv4 prefix without four
// parts.

import ipaddr from 'ipaddr.js';
import { quoted, type Report } from '../report.ts';

const PREFIX_LENGTH = /^(0|[1-9]\d{0,2})$/;

const IPV4_LENGTH_MAX = 15;
const DOT = 0x2e;
const ZERO = 0x30;

/** In one pass: addresses are what most events are made of. */
export function isIpv4(text: string): boolean {
  if (text.length > IPV4_LENGTH_MAX) return false;
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
    // After a leading zero there is no further digit.
    if (digit < 0 || digit > 9 || value === 0) return false;
    value = value < 0 ? digit : value * 10 + digit;
    if (value > 255) return false;
  }
  return parts === 4 && value >= 0;
}

/** A zone (`fe80::1%eth0`) is part of an IPv6 address for Go. */
export function isIpv6(text: string): boolean {
  return text.includes(':') && ipaddr.IPv6.isValid(text);
}

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** `address/length`. */
function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const address = text.slice(0, slash);
  const length = text.slice(slash + 1);
  if (!PREFIX_LENGTH.test(length) || address.includes('%')) return false;
  if (isIpv4(address)) return Number(length) <= 32;
  return isIpv6(address) && Number(length) <= 128;
}

export function checkIp(text: string, path: string, report: Report): void {
  if (!isIp(text)) report(path, `${quoted(text)} is not an IP address`);
}

/** An address, or a prefix where the text has a slash. */
export function checkIpOrCidr(text: string, path: string, report: Report): void {
  if (text.includes('/') ? !isCidr(text) : !isIp(text)) {
    report(path, `${quoted(text)} is neither an IP address nor a prefix such as 10.0.0.0/8`);
  }
}

const UNIX = 'unix://';

export function isUnixAddress(text: string): boolean {
  return text.startsWith(UNIX);
}

/** `unix:///absolute/path` or, abstract, `unix://@name`. */
export function checkUnixAddress(text: string, path: string, report: Report): void {
  const socket = text.slice(UNIX.length);
  if (socket === '' || (!socket.startsWith('/') && !socket.startsWith('@'))) {
    report(path, `${quoted(text)} is not the address of a socket: expected unix:///absolute/path or unix://@name`);
  }
  if (socket.endsWith('/')) report(path, `${quoted(text)} names a directory; expected a socket`);
}
