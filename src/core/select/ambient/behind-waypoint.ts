// The services and workloads behind a waypoint proxy: those that name, by their labels or those of their namespace, a
// waypoint whose address is one of the proxy's own service.
// Source: Istio pilot/pkg/networking/core/waypoint.go (findWaypointResources), pilot/pkg/model/service.go
// (WaypointKeyForProxy), pilot/pkg/serviceregistry/ambient/ambientindex.go (ServicesForWaypoint, WorkloadsForWaypoint).

import type { Labels } from '../../base/labels.ts';
import { compareText } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { Derivation, Query, Reader } from '../../query/reader.ts';
import { allServices } from '../../registry/services.ts';
import { serviceTargets } from '../../registry/workload.ts';
import { isOfWaypoint, type WaypointAddress, waypointOf, waypoints } from './waypoints.ts';
import type { AmbientWorkload } from './workload.ts';
import { workloadNamespaces, workloadsIn } from './workloads.ts';

/** The addresses of the proxy's own services, as `addressKey` writes them. */
const ownAddresses: Derivation<readonly string[]> = {
  name: 'select/ambient/ownAddresses',
  run: reader => {
    const namespace = reader.facet('namespace');
    const network = reader.facet('network');
    const keys = new Set<string>();
    for (const { service } of reader.get(serviceTargets, '')) {
      keys.add(addressKey({ namespace, hostname: service.hostname }));
      // A Kubernetes service has addresses in each cluster, a service of a ServiceEntry has allocated ones.
      const { autoAllocatedV4, autoAllocatedV6, clusterVips } = service;
      for (const ip of [autoAllocatedV4, autoAllocatedV6, ...(clusterVips[reader.facet('clusterId')] ?? [])]) {
        if (ip !== undefined) keys.add(addressKey({ network, ip }));
      }
    }
    return [...keys];
  },
};

function addressKey(address: WaypointAddress): string {
  return 'hostname' in address
    ? `host ${address.namespace}/${address.hostname}`
    : `address ${address.network}/${address.ip}`;
}

/** The services behind the proxy, by creation time, name, namespace; one a hostname. */
export const servicesBehind: Query<'', readonly Service[]> = {
  name: 'select/ambient/servicesBehind',
  run: reader => {
    const byWaypoint = reader.get(servicesByWaypoint, '');
    const found = reader.derived(ownAddresses).flatMap(key => byWaypoint.get(key) ?? []);
    const hosts = new Set<string>();
    return found.sort(byAge).filter(({ hostname }) => !hosts.has(hostname) && hosts.add(hostname));
  },
};

/** Argument: a hostname. The service of that host if it is behind the proxy. */
export const serviceBehind: Query<string, Service | undefined> = {
  name: 'select/ambient/serviceBehind',
  run: (reader, hostname) => reader.get(servicesByHost, '').get(hostname),
};

const servicesByHost: Query<'', ReadonlyMap<string, Service>> = {
  name: 'select/ambient/servicesByHost',
  run: reader => new Map(reader.get(servicesBehind, '').map(service => [service.hostname, service])),
};

/** The workloads behind the proxy, by creation time. One that is known by a name has no addresses. */
export const workloadsBehind: Query<'', readonly AmbientWorkload[]> = {
  name: 'select/ambient/workloadsBehind',
  run: reader => {
    if (!reader.get(waypoints, '').some(({ trafficType }) => trafficType !== 'service')) return [];
    const own = reader.derived(ownAddresses);
    const found = reader.get(workloadNamespaces, '').flatMap(namespace => {
      const byWaypoint = reader.get(workloadsByWaypoint, namespace);
      return own.flatMap(key => byWaypoint.get(key) ?? []);
    });
    return found.sort((a, b) => a.creationTime - b.creationTime || compareText(a.uid, b.uid));
  },
};

/** Of the mesh. Of several services with one host and namespace that of Kubernetes counts, else the oldest. */
const servicesByWaypoint: Query<'', ReadonlyMap<string, readonly Service[]>> = {
  name: 'select/ambient/servicesByWaypoint',
  run: reader => {
    const found = new Map<string, Service[]>();
    const known = new Map<string, Service>();
    for (const service of reader.get(allServices, '')) {
      const key = `${service.namespace}/${service.hostname}`;
      if (!known.has(key) || service.registry === 'Kubernetes') known.set(key, service);
    }
    for (const service of known.values()) {
      const labels = isServed(service) ? boundLabels(reader, service) : undefined;
      if (labels === undefined) continue;
      const { waypoint } = waypointOf(reader, { namespace: service.namespace, labels }, 'service');
      addTo(found, waypoint?.address, service);
    }
    return found;
  },
};

function byAge(a: Service, b: Service): number {
  return a.creationTime - b.creationTime || compareText(a.name, b.name) || compareText(a.namespace, b.namespace);
}

/**
 * A service that selects waypoints is behind none, as in Istio whatever its own labels; a name inside of the mesh is
 * not resolved on demand.
 */
function isServed(service: Service): boolean {
  if (service.resolution === 'Alias' || isOfWaypoint(service.selector)) return false;
  return service.resolution !== 'DynamicDNS' || service.meshExternal;
}

/** Labels of the service's object in the config cluster; undefined: there is none. */
export function boundLabels(reader: Reader, { registry, namespace, objectName }: Service): Labels | undefined {
  const key = `${namespace}/${objectName}`;
  const object =
    registry === 'External'
      ? reader.object('ServiceEntry', key)
      : reader.object('Service', `${reader.setting('clusterId')}/${key}`);
  return object?.labels;
}

/** Argument: a namespace. */
const workloadsByWaypoint: Query<string, ReadonlyMap<string, readonly AmbientWorkload[]>> = {
  name: 'select/ambient/workloadsByWaypoint',
  run: (reader, namespace) => {
    const found = new Map<string, AmbientWorkload[]>();
    for (const workload of reader.get(workloadsIn, namespace)) {
      if (!workload.ofWaypoint) addTo(found, workload.waypoint, workload);
    }
    return found;
  },
};

function addTo<T>(found: Map<string, T[]>, address: WaypointAddress | undefined, one: T): void {
  if (address === undefined) return;
  const key = addressKey(address);
  const list = found.get(key);
  if (list === undefined) found.set(key, [one]);
  else list.push(one);
}
