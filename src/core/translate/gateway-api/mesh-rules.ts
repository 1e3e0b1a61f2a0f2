// Rules of a route as they are for one parent: with the port that the parent reference names, or with the names of TLS
// clients that the parent's host leaves.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (augmentPortMatch, augmentTLSPortMatch,
// compatibleRoutesForHost, constrainTLSRoutesToListenerHost), pkg/config/host/names.go (Intersection).

import { isWildcard, matches, subsetOf } from '../../model/hosts.ts';
import type { TLSRoute } from '../../schema/istio-types.gen.ts';

interface Matching {
  readonly match?: readonly { readonly port?: number }[];
}

/** A rule without a match gets one. */
export function withPort<R extends Matching>(rules: readonly R[], port: number): readonly R[] {
  return rules.map(rule => {
    const match = rule.match === undefined || rule.match.length === 0 ? [{ port }] : rule.match;
    return { ...rule, match: match.map(one => ({ ...one, port })) };
  });
}

/** In the mesh a route without host names is for the names of its parent. */
export function withSniHosts(
  rules: readonly TLSRoute[],
  parentHosts: readonly string[],
  port: number | undefined,
): readonly TLSRoute[] {
  return rules.map(rule => {
    const [first] = rule.match ?? [];
    if (first === undefined) return rule;
    const isAny = first.sniHosts?.length === 1 && first.sniHosts[0] === '*';
    const sniHosts = isAny ? parentHosts : (first.sniHosts ?? []);
    return { ...rule, match: [{ ...first, sniHosts, ...(port === undefined ? {} : { port }) }] };
  });
}

/** Of several names those that the host covers. */
export function forHost(rules: readonly TLSRoute[], host: string): readonly TLSRoute[] {
  return rules.map(rule => {
    const [first] = rule.match ?? [];
    const names = first?.sniHosts ?? [];
    if (first === undefined || names.length < 2) return rule;
    return { ...rule, match: [{ ...first, sniHosts: names.filter(name => matches(host, name)) }] };
  });
}

/** Names within the listener's; a rule that has none left is left out. */
export function constrained(rules: readonly TLSRoute[], listenerHost: string): readonly TLSRoute[] {
  return rules.flatMap(rule => {
    const [first] = rule.match ?? [];
    if (first === undefined) return [rule];
    const sniHosts = intersection(first.sniHosts ?? [], listenerHost);
    return sniHosts.length === 0 ? [] : [{ ...rule, match: [{ ...first, sniHosts }] }];
  });
}

/** Of each pair the more specific name, each once. */
export function intersection(names: readonly string[], other: string): readonly string[] {
  const met = names.flatMap(name => {
    if (subsetOf(name, other)) return [name];
    return isWildcard(name) && subsetOf(other, name) ? [other] : [];
  });
  return [...new Set(met)];
}
