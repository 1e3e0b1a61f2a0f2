// The services and workloads behind a waypoint proxy: those that name, by their labels or those of their namespace, a
// waypoint whose address is one of the proxy's own service.
// Source: Istio pilot/pkg/networking/core/waypoint.go (findWaypointResources), pilot/pkg/model/service.go
// (WaypointKeyForProxy), pilot/pkg/serviceregistry/ambient/ambientindex.go (ServicesForWaypoint, WorkloadsForWaypoint).

import { isIp } from '../../base/ip.ts';
import type { Labels } from '../../base/labels.ts';
import { compareText } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { Derivation, Query, Reader } from '../../query/reader.ts';
import { hasEnded } from '../../registry/pods.ts';
import { allServices } from '../../registry/services.ts';
import { serviceTargets } from '../../registry/workload.ts';
import {
  type BoundKind,
  isOfWaypoint,
  type WaypointAddress,
  waypointOf,
  waypointOfInstance,
  waypoints,
} from './waypoints.ts';

/** The addresses of the proxy's own services, as `addressKey` writes them. */
const ownAddresses: Derivation<readonly string[]> = {
  name: 'select/ambient/ownAddresses',
  run: reader => {
    const namespace = reader.facet('namespace');
    const network = reader.facet('network');
    const keys = new Set<string>();
    for (const { service } of reader.get(serviceTargets, '')) {
      keys.add(addressKey({ namespace, hostname: service.hostname }));
      const { autoAllocatedV4, autoAllocatedV6 } = service;
      const allocated = [autoAllocatedV4, autoAllocatedV6].filter(address => address !== undefined);
      const addresses = allocated.length > 0 ? allocated : (service.clusterVips[reader.facet('clusterId')] ?? []);
      for (const ip of addresses) keys.add(addressKey({ network, ip }));
    }
    return [...keys].sort();
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
    const found = behindOwn(reader.derived(ownAddresses), reader.get(servicesByWaypoint, ''));
    const hosts = new Set<string>();
    return found.filter(({ hostname }) => !hosts.has(hostname) && hosts.add(hostname));
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

/** The addresses of each workload behind the proxy, by creation time; none for one that is known by a name. */
export const workloadsBehind: Query<'', readonly WorkloadBehind[]> = {
  name: 'select/ambient/workloadsBehind',
  run: reader => behindOwn(reader.derived(ownAddresses), reader.get(workloadsByWaypoint, '')),
};

export interface WorkloadBehind {
  readonly uid: string;
  readonly creationTime: number;
  readonly addresses: readonly string[];
}

function behindOwn<T>(own: readonly string[], all: ReadonlyMap<string, readonly T[]>): readonly T[] {
  const lists = own.flatMap(key => all.get(key) ?? []);
  return [...new Set(lists)];
}

/** Of the mesh. Of several services with one host and namespace that of Kubernetes counts, else the oldest. */
const servicesByWaypoint: Query<'', ReadonlyMap<string, readonly Service[]>> = {
  name: 'select/ambient/servicesByWaypoint',
  run: reader => {
    const found = new Map<string, Service[]>();
    if (reader.get(waypoints, '').length === 0) return found;
    const known = new Map<string, Service>();
    for (const service of reader.get(allServices, '')) {
      const key = `${service.namespace}/${service.hostname}`;
      const other = known.get(key);
      if (other === undefined || (other.registry === 'External' && service.registry === 'Kubernetes')) {
        known.set(key, service);
      }
    }
    for (const service of [...known.values()].sort(byAge)) {
      const labels = isServed(service) ? boundLabels(reader, service) : undefined;
      if (labels !== undefined) addTo(reader, found, service, labels, service.namespace, 'service');
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
  if (registry === 'External') return reader.object('ServiceEntry', key)?.labels;
  return reader.object('Service', `${reader.setting('clusterId')}/${key}`)?.labels;
}

const workloadsByWaypoint: Query<'', ReadonlyMap<string, readonly WorkloadBehind[]>> = {
  name: 'select/ambient/workloadsByWaypoint',
  run: reader => {
    const found = new Map<string, WorkloadBehind[]>();
    const takesWorkloads = reader.get(waypoints, '').some(({ trafficType }) => trafficType !== 'service');
    if (!takesWorkloads) return found;
    for (const { workload, labels, namespace } of workloads(reader)) {
      if (isOfWaypoint(labels) || waypointOfInstance(reader, { namespace, labels }) !== undefined) continue;
      addTo(reader, found, workload, labels, namespace, 'workload');
    }
    for (const list of found.values()) {
      list.sort((a, b) => a.creationTime - b.creationTime || compareText(a.uid, b.uid));
    }
    return found;
  },
};

interface LabelledWorkload {
  readonly workload: WorkloadBehind;
  readonly labels: Labels;
  readonly namespace: string;
}

function workloads(reader: Reader): readonly LabelledWorkload[] {
  const cluster = reader.setting('clusterId');
  const found: LabelledWorkload[] = [];
  for (const pod of reader.objects('Pod', `${cluster}/`)) {
    const { namespace, name, labels, creationTime, spec } = pod;
    if (hasEnded(pod) || spec.podIPs.length === 0) continue;
    const uid = `${cluster}//Pod/${namespace}/${name}`;
    found.push({ workload: { uid, creationTime, addresses: spec.podIPs }, labels, namespace });
  }
  for (const { namespace, name, labels, creationTime, spec } of reader.objects('WorkloadEntry')) {
    const uid = `${cluster}/networking.istio.io/WorkloadEntry/${namespace}/${name}`;
    const workload = { uid, creationTime, addresses: ipOf(spec.address) };
    found.push({ workload, labels: { ...spec.labels, ...labels }, namespace });
  }
  for (const { namespace, name, creationTime, spec } of reader.objects('ServiceEntry')) {
    for (const { address = '', labels = {} } of spec.endpoints ?? []) {
      const uid = `${cluster}/networking.istio.io/ServiceEntry/${namespace}/${name}/${address}`;
      found.push({ workload: { uid, creationTime, addresses: ipOf(address) }, labels, namespace });
    }
  }
  return found;
}

function ipOf(address = ''): readonly string[] {
  return isIp(address) ? [address] : [];
}

function addTo<T>(
  reader: Reader,
  found: Map<string, T[]>,
  one: T,
  labels: Labels,
  namespace: string,
  kind: BoundKind,
): void {
  const address = waypointOf(reader, { namespace, labels }, kind).waypoint?.address;
  if (address === undefined) return;
  const key = addressKey(address);
  const list = found.get(key);
  if (list === undefined) found.set(key, [one]);
  else list.push(one);
}
