// The imports of an egress listener: `namespace/host` entries, and the services and VirtualServices that they select.
// Source: Istio pilot/pkg/model/sidecar.go (hostClassification, selectServices).

import { isWildcard, matches, subsetOf } from '../../model/hosts.ts';
import type { Service } from '../../model/service.ts';
import { hasGatewaySemantics, type ResolvedVirtualService } from './virtual-services.ts';

/** Namespace (or `*`) → host patterns. */
export type Imports = ReadonlyMap<string, HostSet>;

export interface HostSet {
  readonly exact: ReadonlySet<string>;
  readonly wildcards: readonly string[];
}

export const importEverything: readonly string[] = ['*/*'];

/** Entries without exactly one slash are skipped. `.` is the namespace of the proxy. */
export function importsOf(hosts: readonly string[], namespace: string): Imports {
  const sets = new Map<string, { readonly exact: Set<string>; readonly wildcards: string[] }>();
  for (const entry of hosts) {
    const slash = entry.indexOf('/');
    if (slash < 0 || slash < entry.lastIndexOf('/')) continue;
    const owner = entry.slice(0, slash);
    const host = entry.slice(slash + 1);
    const key = owner === '.' ? namespace : owner;
    const set = sets.get(key) ?? { exact: new Set(), wildcards: [] };
    sets.set(key, set);
    if (isWildcard(host)) set.wildcards.push(host);
    else set.exact.add(host);
  }
  return sets;
}

/** The host patterns that select the service: those of its own namespace, else those of all namespaces. */
export function importOf(service: Service, imports: Imports): HostSet | undefined {
  for (const key of [service.namespace, '*']) {
    const set = imports.get(key);
    if (set !== undefined && covers(set, service.hostname)) return set;
  }
  return undefined;
}

export function covers(set: HostSet, hostname: string): boolean {
  return set.exact.has(hostname) || set.wildcards.some(pattern => subsetOf(hostname, pattern));
}

export function importsVirtualService(vs: ResolvedVirtualService, imports: Imports): boolean {
  const strict = hasGatewaySemantics(vs.obj);
  for (const key of [vs.namespace, '*']) {
    const set = imports.get(key);
    if (set === undefined) continue;
    if (vs.hosts.some(host => (strict ? covers(set, host) : meets(set, host)))) return true;
  }
  return false;
}

/** Either side may be the wildcard. */
function meets(set: HostSet, host: string): boolean {
  if (set.exact.has(host) || set.wildcards.some(pattern => matches(host, pattern))) return true;
  return isWildcard(host) && [...set.exact].some(exact => matches(host, exact));
}
