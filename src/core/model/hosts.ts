// Host names as Istio compares them: wildcards, the most specific match, short names.
// A wildcard is a name whose first character is `*`; label boundaries do not count (`*foo.com` covers `xfoo.com`).
// Source: Istio pkg/config/host/name.go, pilot/pkg/model/config.go (ResolveShortnameToFQDN, MostSpecificHostMatch).

import { isIp } from '../base/ip.ts';
import { compareText } from './object.ts';

export function isWildcard(host: string): boolean {
  return host.startsWith('*');
}

/** True if one of the two covers the other, whichever is the wildcard. */
export function matches(a: string, b: string): boolean {
  const wildA = isWildcard(a);
  const wildB = isWildcard(b);
  if (wildA && wildB) {
    const tailA = a.slice(1);
    const tailB = b.slice(1);
    return a.length < b.length ? tailB.endsWith(tailA) : tailA.endsWith(tailB);
  }
  if (wildA) return b.endsWith(a.slice(1));
  if (wildB) return a.endsWith(b.slice(1));
  return a === b;
}

/** True if every name that `a` stands for is also one of `b`. */
export function subsetOf(a: string, b: string): boolean {
  if (!isWildcard(b)) return a === b;
  const tail = b.slice(1);
  if (isWildcard(a)) return a.length >= b.length && a.slice(1).endsWith(tail);
  return a.endsWith(tail);
}

/** The order of specificity: exact names before wildcards, longer wildcards before shorter, then alphabetical. */
export function bySpecificity(a: string, b: string): number {
  const wildA = isWildcard(a);
  const wildB = isWildcard(b);
  if (wildA !== wildB) return wildA ? 1 : -1;
  if (wildA && a.length !== b.length) return b.length - a.length;
  return compareText(a, b);
}

/**
 * The most specific of `patterns` that covers `host`: the name itself, else the longest wildcard. A wildcard `host` is
 * covered by itself or by a broader wildcard only.
 */
export function mostSpecific(host: string, patterns: Iterable<string>): string | undefined {
  let best: string | undefined;
  for (const pattern of patterns) {
    if (pattern === host) return host;
    if (!isWildcard(pattern) || !subsetOf(host, pattern)) continue;
    if (best === undefined || bySpecificity(pattern, best) < 0) best = pattern;
  }
  return best;
}

/** A host as written in an object of `namespace`: a plain name means the service of that name beside the object. */
export function resolveShortName(host: string, namespace: string, domainSuffix: string): string {
  if (host === '' || host === '*' || host.includes('.') || isIp(host)) return host;
  return `${host}.${namespace}.svc.${domainSuffix}`;
}

/** A gateway as written in a VirtualService of `namespace`: `mesh` or `namespace/name`. */
export function resolveGatewayName(gateway: string, namespace: string): string {
  if (gateway === '' || gateway === 'mesh') return gateway;
  const slash = gateway.indexOf('/');
  if (slash >= 0) return gateway.slice(0, slash) === '.' ? `${namespace}${gateway.slice(slash)}` : gateway;
  const [name, owner] = gateway.split('.', 3);
  return owner === undefined ? `${namespace}/${gateway}` : `${owner}/${name}`;
}

/** The host of a Kubernetes Service. */
export function kubernetesHost(name: string, namespace: string, domainSuffix: string): string {
  return `${name}.${namespace}.svc.${domainSuffix}`;
}

/** The Service that a host names, if it has the form of a Kubernetes Service's host. */
export function kubernetesServiceOf(
  host: string,
  domainSuffix: string,
): { readonly name: string; readonly namespace: string } | undefined {
  const tail = `.svc.${domainSuffix}`;
  if (!host.endsWith(tail)) return undefined;
  const parts = host.slice(0, -tail.length).split('.');
  const [name, namespace] = parts;
  return parts.length === 2 && name && namespace ? { name, namespace } : undefined;
}
