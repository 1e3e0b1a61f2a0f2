// The imports of an egress listener: `namespace/host` entries, and the services and VirtualServices that they select.
// Source: Istio pilot/pkg/model/sidecar.go (hostClassification, selectServices).

import { hostIndexOf } from '../../model/host-index.ts';
import type { Service } from '../../model/service.ts';
import { hasGatewaySemantics, type ResolvedVirtualService } from './virtual-services.ts';

/** Namespace (or `*`) → host patterns. */
export type Imports = ReadonlyMap<string, HostPatterns>;

export type HostPatterns = readonly string[];

export const importEverything: readonly string[] = ['*/*'];

/** Entries without exactly one slash are skipped. `.` is the namespace of the proxy. */
export function importsOf(hosts: readonly string[], namespace: string): Imports {
  const patterns = new Map<string, string[]>();
  for (const entry of hosts) {
    const slash = entry.indexOf('/');
    if (slash < 0 || slash < entry.lastIndexOf('/')) continue;
    const owner = entry.slice(0, slash);
    const key = owner === '.' ? namespace : owner;
    const known = patterns.get(key);
    if (known === undefined) patterns.set(key, [entry.slice(slash + 1)]);
    else known.push(entry.slice(slash + 1));
  }
  return patterns;
}

/** The host patterns that select the service: those of its own namespace, else those of all namespaces. */
export function importOf(service: Service, imports: Imports): HostPatterns | undefined {
  for (const key of [service.namespace, '*']) {
    const patterns = imports.get(key);
    if (patterns !== undefined && covers(patterns, service.hostname)) return patterns;
  }
  return undefined;
}

export function covers(patterns: HostPatterns, hostname: string): boolean {
  return hostIndexOf(patterns).covers(hostname);
}

/** Either side may be the wildcard, but not for a route of the Gateway API. */
export function importsVirtualService(vs: ResolvedVirtualService, imports: Imports): boolean {
  const strict = hasGatewaySemantics(vs.obj);
  for (const key of [vs.namespace, '*']) {
    const patterns = imports.get(key);
    if (patterns === undefined) continue;
    const index = hostIndexOf(patterns);
    if (vs.hosts.some(host => (strict ? index.covers(host) : index.meets(host)))) return true;
  }
  return false;
}
