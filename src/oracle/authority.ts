// The authority of HTTP requests: ports and trailing dots that the connection manager strips before routing.

import type { HttpConnectionManager } from '../xds/proto/types.gen.ts';

/** Host and port of an authority such as `a:80` or `[fd00::1]:80`; the port is undefined if there is none. */
export function splitAuthority(authority: string): { readonly host: string; readonly port: string | undefined } {
  const colon = authority.lastIndexOf(':');
  if (colon === -1 || colon < authority.lastIndexOf(']')) return { host: authority, port: undefined };
  return { host: authority.slice(0, colon), port: authority.slice(colon + 1) };
}

/**
 * As `strip_trailing_host_dot`, `strip_any_host_port` and `strip_matching_host_port` leave it. `port`: where the
 * connection goes to.
 */
export function cleanAuthority(hcm: HttpConnectionManager, authority: string, port: number): string {
  const split = splitAuthority(authority);
  const host = hcm.stripTrailingHostDot === true ? split.host.replace(/\.$/, '') : split.host;
  if (split.port === undefined) return host;
  const isNumber = /^\d+$/.test(split.port);
  const matching = hcm.stripMatchingHostPort === true && Number(split.port) === port;
  return isNumber && (hcm.stripAnyHostPort === true || matching) ? host : `${host}:${split.port}`;
}
