// Hosts as istioctl resolves them: a scope (a namespace, or `*` for all) and a full name. Services and ServiceEntries
// become one map from scoped hosts to ports.
//
// Source: Istio pkg/config/analysis/analyzers/util/hosts.go, service_lookup.go, exportto.go. The cluster domain is
// cluster.local there, whatever the mesh uses; here it is the mesh's own.

import type { JsonObject } from '../core/base/json.ts';
import type { Labels } from '../core/base/labels.ts';
import type { ServiceEntry } from '../core/schema/istio-types.gen.ts';
import { type AnalyzedObjects, type Item, type Named, objectsOf } from './objects.ts';

export const ALL_NAMESPACES = '*';
const OWN_NAMESPACE = '.';

/** What a destination host stands for. */
export interface HostEntry {
  readonly ports: readonly number[];
  /** Labels that a ServiceEntry selects its workloads by. */
  readonly selector: Labels;
}
/** `scope/host` → entry; a later declaration of the same replaces an earlier one. */
export type HostMap = ReadonlyMap<string, HostEntry>;

export function isExportedToAll(exportTo: readonly string[]): boolean {
  return exportTo.length === 0 || exportTo.includes(ALL_NAMESPACES);
}

export function fullHost(namespace: string, host: string, domain: string): string {
  return host.startsWith('*') || host.includes('.') ? host : `${host}.${namespace}.svc.${domain}`;
}

/** The service that a host names, by its name in a namespace: `reviews` and `reviews.ns.svc.cluster.local` are one. */
export function serviceOfHost(namespace: string, host: string, domain: string): Named {
  const suffix = `.svc.${domain}`;
  if (host.endsWith(suffix)) {
    const [name, ns] = splitLast(host.slice(0, -suffix.length));
    if (name !== '' && ns !== '') return { namespace: ns, name };
  }
  return { namespace, name: host };
}

function splitLast(text: string): readonly [string, string] {
  const dot = text.lastIndexOf('.');
  return dot < 0 ? ['', ''] : [text.slice(0, dot), text.slice(dot + 1)];
}

/** Every host that a route may go to, by the scopes that see it. */
export function hostsOf(objects: AnalyzedObjects): HostMap {
  const hosts = new Map<string, HostEntry>();
  for (const item of objects.all('ServiceEntry')) addServiceEntry(hosts, item, objects.domain);
  for (const item of objects.all('Service')) addService(hosts, item, objects.domain);
  return hosts;
}

function addServiceEntry(hosts: Map<string, HostEntry>, item: Item<'ServiceEntry'>, domain: string): void {
  const { hosts: names = [], exportTo = [] } = item.spec;
  const entry = entryOf(item.spec);
  const scopes = isExportedToAll(exportTo) ? [ALL_NAMESPACES] : exportTo.map(ns => scopeOf(ns, item.namespace));
  for (const name of names) {
    for (const scope of scopes) hosts.set(`${scope}/${fullHost(item.namespace, name, domain)}`, entry);
  }
}

function entryOf({ ports = [], workloadSelector }: ServiceEntry): HostEntry {
  return { ports: ports.map(({ number = 0 }) => number), selector: workloadSelector?.labels ?? {} };
}

const EXPORT_TO = 'networking.istio.io/exportTo';

function addService(hosts: Map<string, HostEntry>, item: Item<'Service'>, domain: string): void {
  const { namespace, name, annotations } = item;
  const exported = annotations[EXPORT_TO] ?? '';
  const scopes = exported === '' ? [ALL_NAMESPACES] : exported.split(',').map(ns => scopeOf(ns.trim(), namespace));
  const entry = { ports: portNumbers(item.spec), selector: {} };
  for (const scope of scopes) hosts.set(`${scope}/${fullHost(namespace, name, domain)}`, entry);
}

function portNumbers(spec: JsonObject): readonly number[] {
  return objectsOf(spec.ports).map(({ port }) => Number(port));
}

function scopeOf(exportTo: string, namespace: string): string {
  return exportTo === OWN_NAMESPACE ? namespace : exportTo;
}

/** The entry that a host of an object in `namespace` means; wildcard entries last. */
export function findHost(
  hosts: HostMap,
  from: { readonly namespace: string; readonly exportTo: readonly string[]; readonly domain: string },
  host: string,
): HostEntry | undefined {
  const { namespace, exportTo, domain } = from;
  const full = fullHost(namespace, host, domain);
  const everywhere = hosts.get(`${ALL_NAMESPACES}/${full}`);
  if (everywhere !== undefined) return everywhere;
  for (const scope of exportTo.length === 0 ? [namespace] : exportTo.map(ns => scopeOf(ns, namespace))) {
    const entry = hosts.get(`${scope}/${full}`);
    if (entry !== undefined) return entry;
  }
  return findWildcard(hosts, namespace, host);
}

function findWildcard(hosts: HostMap, namespace: string, host: string): HostEntry | undefined {
  const tail = host.startsWith('*') ? host.slice(1) : host;
  for (const [scoped, entry] of hosts) {
    const slash = scoped.indexOf('/');
    const scope = scoped.slice(0, slash);
    const name = scoped.slice(slash + 1);
    if (!name.startsWith('*') || (scope !== ALL_NAMESPACES && scope !== namespace)) continue;
    if (tail.endsWith(name.slice(1))) return entry;
  }
  return undefined;
}
