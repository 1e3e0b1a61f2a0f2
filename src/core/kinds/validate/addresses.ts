// Addresses in specs: IP addresses, prefixes and Unix sockets, with the message of what is wrong.

import { isCidr, isIp } from '../../base/ip.ts';
import { quoted, type Report } from '../report.ts';

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
