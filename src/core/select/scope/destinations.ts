// The destinations of a VirtualService: the hosts that its rules send requests to, with the ports that they name. They
// are kept apart from the rules: a change of anything else in a rule leaves the services of a scope as they are.
// Source: Istio pilot/pkg/model/push_context.go (virtualServiceDestinations,
// virtualServiceDestinationsFilteredBySourceNamespace).

import type { Destination, HTTPRoute, VirtualService } from '../../schema/istio-types.gen.ts';

export interface DestinationHost {
  readonly host: string;
  /** In the order in which they are met; undefined if a destination names no port and so means all. */
  readonly ports: readonly number[] | undefined;
}

export interface Destinations {
  /** Of all rules, in their order; one for each host. */
  readonly all: readonly DestinationHost[];
  /** True if some rules apply to clients of certain namespaces only: `destinationsFor` then reads the rules. */
  readonly dependOnClient: boolean;
}

export function destinationsIn(spec: VirtualService): Destinations {
  return { all: hostsOf(spec, spec.http ?? []), dependOnClient: spec.http?.some(isRestricted) ?? false };
}

/** Without those of rules that apply only to clients of other namespaces. Without `namespace` all rules count. */
export function destinationsFor(
  { spec, destinations }: { readonly spec: VirtualService; readonly destinations: Destinations },
  namespace: string | undefined,
): readonly DestinationHost[] {
  if (namespace === undefined || !destinations.dependOnClient) return destinations.all;
  return hostsOf(
    spec,
    (spec.http ?? []).filter(route => !isRestricted(route) || appliesIn(route, namespace)),
  );
}

function hostsOf({ tcp = [], tls = [] }: VirtualService, http: readonly HTTPRoute[]): readonly DestinationHost[] {
  const found = new Map<string, readonly number[] | undefined>();
  const add = (to: Destination | undefined): void => {
    if (to?.host === undefined) return;
    const port = to.port?.number;
    if (!port) found.set(to.host, undefined);
    else if (!found.has(to.host)) found.set(to.host, [port]);
    else {
      const ports = found.get(to.host);
      if (ports !== undefined && !ports.includes(port)) found.set(to.host, [...ports, port]);
    }
  };
  for (const route of http) {
    for (const to of route.route ?? []) add(to.destination);
    add(route.mirror);
    for (const mirror of route.mirrors ?? []) add(mirror.destination);
  }
  for (const route of tcp) for (const to of route.route ?? []) add(to.destination);
  for (const route of tls) for (const to of route.route ?? []) add(to.destination);
  return Array.from(found, ([host, ports]) => ({ host, ports }));
}

function isRestricted({ match = [] }: HTTPRoute): boolean {
  return match.length > 0 && match.every(({ sourceNamespace }) => !!sourceNamespace);
}

function appliesIn({ match = [] }: HTTPRoute, namespace: string): boolean {
  return match.some(({ sourceNamespace }) => sourceNamespace === namespace);
}
