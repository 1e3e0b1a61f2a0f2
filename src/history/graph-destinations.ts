// What callers find at the other end of their routes: the destination of each cluster, with its endpoints, transport
// and problems. Callers that hold the same cluster and the same endpoints share one destination, so a mesh costs its
// distinct destinations and not its pairs of caller and destination.

import { transportOf } from '../oracle/transport.ts';
import { endpointsOf } from '../xds/generate/common/watched-names.ts';
import type { Cluster, ClusterLoadAssignment } from '../xds/proto/types.gen.ts';
import { CDS, EDS } from '../xds/session/types.ts';
import type { SendProblem, Split, Transport } from './answers.ts';
import type { GraphNodes } from './graph-nodes.ts';
import type { Holdings } from './holdings.ts';
import { problemsOf, splitOf } from './traffic.ts';

/** Endpoints of a cluster that are looked at for the transport to them. */
const ENDPOINTS_LOOKED_AT = 8;

export interface Destination {
  /** Id of a node. */
  readonly to: string;
  readonly split: Omit<Split, 'share'>;
  readonly problems: readonly SendProblem[];
  readonly transport: Transport;
  /** Workloads that are endpoints of the cluster. */
  readonly backers: readonly string[];
}

interface Known {
  readonly cluster: Cluster | undefined;
  readonly assignment: ClusterLoadAssignment | undefined;
  readonly destination: Destination;
}

export class GraphDestinations {
  readonly #nodes: GraphNodes;
  /** By name; few, as most callers hold the same. */
  readonly #known = new Map<string, Known[]>();

  constructor(nodes: GraphNodes) {
    this.#nodes = nodes;
  }

  of(holdings: Holdings, name: string): Destination {
    const cluster = holdings.get(CDS)?.get(name)?.message as Cluster | undefined;
    const assignment = cluster === undefined ? undefined : assignmentOf(holdings, cluster);
    let variants = this.#known.get(name);
    if (variants === undefined) {
      variants = [];
      this.#known.set(name, variants);
    }
    const before = variants.find(known => known.cluster === cluster && known.assignment === assignment);
    if (before !== undefined) return before.destination;
    const destination = this.#make(holdings, name, cluster, assignment);
    variants.push({ cluster, assignment, destination });
    return destination;
  }

  #make(
    holdings: Holdings,
    name: string,
    cluster: Cluster | undefined,
    assignment: ClusterLoadAssignment | undefined,
  ): Destination {
    const { share: _, ...split } = splitOf(holdings, name, 1);
    const to = this.#nodes.serviceOf(split.host) ?? this.#nodes.missing(name);
    return {
      to,
      split,
      problems: problemsOf(holdings, split),
      transport: cluster === undefined ? 'unknown' : transportTo(cluster, assignment),
      backers: this.#nodes.backersOf(to, addressesIn(assignment)),
    };
  }
}

/** Of its endpoints as the proxy knows them; of a cluster without any, by its own socket. */
function transportTo(cluster: Cluster, assignment: ClusterLoadAssignment | undefined): Transport {
  const hosts = (assignment?.endpoints ?? []).flatMap(({ lbEndpoints = [], metadata }) =>
    lbEndpoints.slice(0, ENDPOINTS_LOOKED_AT).map(endpoint => ({ endpoint, localityMetadata: metadata })),
  );
  const kinds = new Set(
    (hosts.length === 0 ? [undefined] : hosts.slice(0, ENDPOINTS_LOOKED_AT)).map(host => {
      const { kind, presents } = transportOf(cluster, host as Parameters<typeof transportOf>[1]);
      return kind === 'tls' && presents ? 'mtls' : kind;
    }),
  );
  return kinds.size === 1 ? [...kinds][0]! : 'mixed';
}

function assignmentOf(holdings: Holdings, cluster: Cluster): ClusterLoadAssignment | undefined {
  const [service] = endpointsOf(cluster);
  if (service === undefined) return cluster.loadAssignment;
  return holdings.get(EDS)?.get(service)?.message as ClusterLoadAssignment | undefined;
}

function* addressesIn(assignment: ClusterLoadAssignment | undefined): Iterable<string> {
  for (const { lbEndpoints = [] } of assignment?.endpoints ?? []) {
    for (const { endpoint } of lbEndpoints) {
      const address = endpoint?.address?.socketAddress?.address;
      if (address !== undefined) yield address;
    }
  }
}
