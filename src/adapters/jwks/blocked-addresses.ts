// Addresses that no key set is fetched from. The URI of a key set is chosen by any author of a RequestAuthentication,
// and the control plane would fetch it from inside the cluster (GHSA-fgw5-hp8f-xfhc), so the check is made on the
// address that is connected to, redirects included.
//
// Refused are loopback and link-local addresses (cloud metadata services live there) and the ranges of
// BLOCKED_CIDRS_IN_JWKS_URIS. Private ranges are not: issuers inside the cluster have such addresses.

import ipaddr from 'ipaddr.js';

const LOCAL: readonly string[] = ['loopback', 'linkLocal', 'unspecified'];

export interface AddressRules {
  /** Address ranges that are refused. */
  readonly blocked: readonly string[];
  /** Loopback and link-local addresses are allowed. */
  readonly allowLocal: boolean;
}

/** Undefined: it may be connected to. Else why not. */
export function whyBlocked(address: string, { blocked, allowLocal }: AddressRules): string | undefined {
  const ip = ipaddr.process(address);
  if (!allowLocal && LOCAL.includes(ip.range())) return `${address} is a local address`;
  const range = blocked.find(text => contains(text, ip));
  return range === undefined ? undefined : `${address} is in ${range}, which BLOCKED_CIDRS_IN_JWKS_URIS names`;
}

/** The ranges of a comma-separated list, and the parts of it that are none. */
export function rangesOf(list: string): { readonly ranges: readonly string[]; readonly bad: readonly string[] } {
  const parts = list
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '');
  return { ranges: parts.filter(ipaddr.isValidCIDR), bad: parts.filter(part => !ipaddr.isValidCIDR(part)) };
}

function contains(range: string, ip: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  const [network, length] = ipaddr.parseCIDR(range);
  return network.kind() === ip.kind() && ip.match(network, length);
}
