// The two halves of a proxy's holdings, each a tracked query of its own: outbound (what it sends with) and inbound
// (what guards its workload). The outbound half mostly follows from the namespace: its sidecars share one value, and
// the graph of a mesh costs what differs.
//
// Invariant: whatever a route or listener of the sending half leads to is in that half, if the proxy has it at all.

import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { ProxyReader, Query, Selection } from '../core/query/reader.ts';
import type { Tracker } from '../core/query/tracker.ts';
import { type ServiceClusters, servicesOfClusters } from '../core/select/cluster/service-clusters.ts';
import { addedClusters, clusterPatches } from '../core/select/patch/proxy-patches.ts';
import type { State } from '../core/state.ts';
import { clusterPieces, outwardClusters, ownClusters } from '../xds/assemble/cluster/resources.ts';
import { endpointPieces } from '../xds/assemble/endpoint/resources.ts';
import { inwardListeners, outwardListeners } from '../xds/assemble/listener/resources.ts';
import { routeNamed } from '../xds/assemble/route/resources.ts';
import { endpointNames, routeNames } from '../xds/generate/common/watched-names.ts';
import type { Cluster, ClusterLoadAssignment } from '../xds/proto/types.gen.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import { byName, type HeldOfType, type Holdings, holdingsOf } from './holdings.ts';

const TYPES: readonly string[] = [CDS, EDS, LDS, RDS];

/** Identical for proxies that send with the same. */
export function sendingOf(tracker: Tracker, state: State, proxy: ProxyRecord): Holdings {
  return isSidecar(proxy) ? tracker.get(state, proxy, sending, '') : holdingsOf(tracker, state, proxy, TYPES);
}

/** Of a sidecar its inbound listeners and clusters; of others everything. */
export function guardingOf(tracker: Tracker, state: State, proxy: ProxyRecord): Holdings {
  return isSidecar(proxy) ? tracker.get(state, proxy, guarding, '') : holdingsOf(tracker, state, proxy, TYPES);
}

/** Clients that name a generator have resources of another shape. */
function isSidecar({ facets, metadata }: ProxyRecord): boolean {
  return facets.type === 'sidecar' && (metadata.GENERATOR === undefined || metadata.GENERATOR === '');
}

const sending: Query<'', Holdings> = {
  name: 'history/sending',
  run: reader => {
    const { clusters, assignments } = isPatched(reader) ? patchedDestinations(reader) : destinations(reader);
    const listeners = reader.get(outwardListeners, '');
    const routes = routeNames(listeners.map(({ message }) => message)).flatMap(
      name => reader.get(routeNamed, name) ?? [],
    );
    return new Map<string, HeldOfType>([
      [CDS, byName(clusters)],
      [EDS, byName(assignments)],
      [LDS, byName(listeners)],
      [RDS, byName(routes)],
    ]);
  },
};

interface Destinations {
  readonly clusters: readonly Resource<Cluster>[];
  readonly assignments: readonly Resource<ClusterLoadAssignment>[];
}

function isPatched(reader: ProxyReader): boolean {
  const context = 'SIDECAR_OUTBOUND';
  return reader.get(clusterPatches, context) !== undefined || reader.get(addedClusters, context).length > 0;
}

function destinations(reader: ProxyReader): Destinations {
  const found = servicesOfClusters(reader).map(of => reader.select(destinationsOfService, of));
  return {
    clusters: found.flatMap(({ clusters }) => clusters),
    assignments: found.flatMap(({ assignments }) => assignments),
  };
}

/** Clusters and endpoints of a service together: namespaces that see the same of it take one look at it. */
const destinationsOfService: Selection<ServiceClusters, Destinations> = {
  name: 'history/destinationsOfService',
  run: (reader, of) => {
    const clusters = reader.select(clusterPieces.each, of) as Destinations['clusters'];
    const { service, rule } = of;
    const assignments = endpointNames(clusters.map(({ message }) => message)).map(clusterName =>
      reader.select(endpointPieces.each, { clusterName, service, rule }),
    );
    return { clusters, assignments: assignments as Destinations['assignments'] };
  },
};

/** A patch may call a cluster and its endpoints what it likes. */
function patchedDestinations(reader: ProxyReader): Destinations {
  const clusters = reader.get(outwardClusters, '');
  const wanted = endpointPieces.list(reader, endpointNames(clusters.map(({ message }) => message)));
  const assignments = wanted.map(of => reader.select(endpointPieces.each, of));
  return { clusters, assignments: assignments as Destinations['assignments'] };
}

const guarding: Query<'', Holdings> = {
  name: 'history/guarding',
  run: reader =>
    new Map<string, HeldOfType>([
      [CDS, byName(reader.get(ownClusters, ''))],
      [LDS, byName(reader.get(inwardListeners, ''))],
    ]),
};
