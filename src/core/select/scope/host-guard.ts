// Opt-in guard against ISTIO-SECURITY-2026-002 (PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS): a VirtualService that other
// namespaces see does not route, inside the mesh, for hosts of a namespace that is not its own. Such hosts are
// Kubernetes services of another namespace, hosts of ServiceEntries of which the oldest is of another namespace, and
// wildcards over either.
//
// The same for a TCPRoute or TLSRoute with a Service or ServiceEntry of another namespace as its parent. An HTTPRoute
// or GRPCRoute with such a parent applies to clients of its own namespace alone, and so does a VirtualService that is
// exported to its own namespace: neither takes anything from others. Gateways are not guarded: their owners bind them.

import { PARENTS, ROUTE_SEMANTICS } from '../../model/derived.ts';
import { exportsOf } from '../../model/exports.ts';
import { isWildcard, matches } from '../../model/hosts.ts';
import { byAge } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { translatedVirtualServices } from '../../translate/in-force.ts';
import type { ObjOf } from './specs.ts';
import { resolveNames } from './virtual-service-names.ts';

/** The first host that the guard refuses; undefined: none, or the guard is off. Names are resolved. */
export function guardedHost(
  reader: Reader,
  { namespace, spec, annotations }: ObjOf<'VirtualService'>,
): string | undefined {
  if (!reader.feature('PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS')) return undefined;
  const { gateways = [], hosts = [], http, exportTo } = spec;
  if (gateways.length > 0 && !gateways.includes('mesh')) return undefined;
  const isRoute = annotations[ROUTE_SEMANTICS] === 'gateway';
  if (isRoute && http !== undefined) return undefined;
  const { open, others } = exportsOf(exportTo, reader.mesh('defaultVirtualServiceExportTo'), namespace);
  if (!open && others.length === 0) return undefined;
  return hosts.find(host => isForeign(reader, namespace, host));
}

function isForeign(reader: Reader, namespace: string, host: string): boolean {
  const suffixes = [`.svc.${reader.setting('domainSuffix')}`, CLUSTER_SET];
  if (suffixes.some(suffix => isForeignService(namespace, host, suffix))) return true;
  return reader.get(entryOwners, host).some(other => other !== namespace);
}

const CLUSTER_SET = '.svc.clusterset.local';

/** `suffix`: of the names of services, `NAME.NAMESPACE` before it. */
function isForeignService(namespace: string, host: string, suffix: string): boolean {
  if (isWildcard(host) && suffix.endsWith(host.slice(1))) return true;
  if (!host.endsWith(suffix)) return false;
  const name = host.slice(0, -suffix.length);
  // A wildcard that cuts a label, `*nk`, is for several namespaces.
  return name.slice(name.lastIndexOf('.') + 1) !== namespace;
}

/** Host of ServiceEntries → the namespace of the oldest of them. */
const owners: Query<'', ReadonlyMap<string, string>> = {
  name: 'scope/hostOwners',
  run: reader => {
    const found = new Map<string, string>();
    for (const { namespace, spec } of [...reader.objects('ServiceEntry')].sort(byAge)) {
      for (const host of spec.hosts ?? []) if (!found.has(host)) found.set(host, namespace);
    }
    return found;
  },
};

const wildcardOwners: Query<'', readonly string[]> = {
  name: 'scope/wildcardHosts',
  run: reader => [...reader.get(owners, '').keys()].filter(isWildcard),
};

/** Argument: a host. The owners of the hosts of ServiceEntries that it overlaps, sorted. */
const entryOwners: Query<string, readonly string[]> = {
  name: 'scope/entryOwners',
  run: (reader, host) => {
    const all = reader.get(owners, '');
    const known = isWildcard(host) ? [...all.keys()] : [host, ...reader.get(wildcardOwners, '')];
    const met = known.flatMap(other => (matches(host, other) ? (all.get(other) ?? []) : []));
    return [...new Set(met)].sort();
  },
};

export interface GuardedVirtualService {
  readonly kind: 'VirtualService' | 'TCPRoute' | 'TLSRoute';
  /** `namespace/name` */
  readonly key: string;
  readonly path: string;
  readonly host: string;
}

/** Argument ''. What the guard keeps from traffic inside the mesh. */
export const guardedVirtualServices: Query<'', readonly GuardedVirtualService[]> = {
  name: 'select/guardedVirtualServices',
  run: reader => {
    if (!reader.feature('PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS')) return [];
    const own = reader.objects('VirtualService').flatMap((obj): readonly GuardedVirtualService[] => {
      const spec = resolveNames(obj.spec, obj.namespace, reader.setting('domainSuffix'));
      const host = guardedHost(reader, { ...obj, spec });
      const key = `${obj.namespace}/${obj.name}`;
      return host === undefined ? [] : [{ kind: 'VirtualService', key, path: 'spec.hosts', host }];
    });
    const routes = reader.get(translatedVirtualServices, '').flatMap((obj): readonly GuardedVirtualService[] => {
      const host = guardedHost(reader, obj);
      const [, kind = '', name = '', namespace = ''] = PARENT.exec(obj.annotations[PARENTS] ?? '') ?? [];
      const isTcp = kind === 'TCPRoute';
      return host === undefined
        ? []
        : [{ kind: isTcp ? kind : 'TLSRoute', key: `${namespace}/${name}`, path: 'spec.parentRefs', host }];
    });
    return [...own, ...routes];
  },
};

/** `Kind/name.namespace`; a namespace has no dots. */
const PARENT = /^([^/,]+)\/([^,]+)\.([^.,]+)/;
