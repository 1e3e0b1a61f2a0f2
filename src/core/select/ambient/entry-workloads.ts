// Endpoints written in ServiceEntries as ztunnel knows them: labels and annotations are those of the ServiceEntry, but
// for the waypoint. A name that is resolved is an endpoint without being written.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (serviceEntryWorkloadBuilder).

import type { Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { WorkloadEntry } from '../../schema/istio-types.gen.ts';
import { placeOf, portsOfEndpoint } from './machine-workload.ts';
import { localNetwork } from './network.ts';
import type { AmbientService } from './service.ts';
import { servicesOwnedBy } from './services.ts';
import { tunnelOf } from './tunnel.ts';
import { isOfWaypoint } from './waypoints.ts';
import {
  type AmbientWorkload,
  canonicalOf,
  policiesOf,
  unknownWorkload,
  type WaypointParts,
  waypointKeysOf,
  waypointPartsOf,
  workloadService,
} from './workload.ts';

const RESOLVED: readonly (string | undefined)[] = ['DNS', 'DNS_ROUND_ROBIN', 'DYNAMIC_DNS'];

interface EndpointOf {
  readonly spec: WorkloadEntry;
  readonly network: string;
  readonly services: readonly AmbientService[];
  /** It stands for a host, and is not written. */
  readonly implicit: boolean;
}

/** Argument `namespace/name` of a ServiceEntry. In the order written; of one address the last, as in istiod. */
export const endpointWorkloads: Query<string, readonly AmbientWorkload[]> = {
  name: 'select/ambient/endpointWorkloads',
  run: (reader, key) => {
    const entry = reader.object('ServiceEntry', key);
    if (entry === undefined) return [];
    const found = new Map<string, AmbientWorkload>();
    for (const endpoint of endpointsOf(reader, entry)) {
      const workload = workloadOf(reader, entry, endpoint);
      found.set(workload.uid, workload);
    }
    return [...found.values()];
  },
};

function endpointsOf(reader: Reader, entry: Obj<'ServiceEntry'>): readonly EndpointOf[] {
  const { endpoints = [], resolution, workloadSelector } = entry.spec;
  if (endpoints.length > 0) return writtenEndpoints(reader, entry, endpoints);
  if (!RESOLVED.includes(resolution) || workloadSelector !== undefined) return [];
  const network = reader.get(localNetwork, '');
  return servicesOwnedBy(reader, entry).map(service => ({
    spec: { address: service.hostname },
    network,
    services: [service],
    implicit: true,
  }));
}

/** An endpoint without a network is in that of the endpoint before it, as in istiod. */
function writtenEndpoints(
  reader: Reader,
  entry: Obj<'ServiceEntry'>,
  endpoints: readonly WorkloadEntry[],
): readonly EndpointOf[] {
  const services = servicesOwnedBy(reader, entry);
  if (services.length === 0) return [];
  let network = reader.get(localNetwork, '');
  return endpoints.map(spec => {
    network = spec.network || network;
    return { spec, network, services, implicit: false };
  });
}

function workloadOf(
  reader: Reader,
  { namespace, name, labels, annotations, creationTime }: Obj<'ServiceEntry'>,
  { spec, network, services, implicit }: EndpointOf,
): AmbientWorkload {
  const cluster = reader.setting('clusterId');
  const bound: Partial<WaypointParts> = implicit
    ? {}
    : waypointPartsOf(reader, { namespace, labels: spec.labels ?? {} });
  return {
    ...unknownWorkload,
    uid: `${cluster}/networking.istio.io/ServiceEntry/${namespace}/${name}/${spec.address ?? ''}`,
    name,
    namespace,
    creationTime,
    ...placeOf(reader, spec, network),
    tunnel: tunnelOf(labels, annotations),
    waypoint: bound.waypoint?.address,
    ofWaypoint: isOfWaypoint(labels),
    applicationTunnel: bound.applicationTunnel,
    workloadType: 'POD',
    ...canonicalOf(labels, name),
    services: services.map(service => reader.make(workloadService, portsOfEndpoint(spec, service))),
    authorizationPolicies: policiesOf(reader, { namespace, labels }, bound.waypoint, waypointKeysOf(services)),
    cluster,
  };
}
