// The endpoint assignments of a proxy, by cluster name: selects the inputs of each and makes it.
// A service in scope without such a port has an empty assignment, so that Envoy does not wait for one.
// Source: Istio pilot/pkg/xds/eds.go (EdsGenerator.Generate).

import type { Resource } from '../../../core/model/resource.ts';
import type { Query, Selection } from '../../../core/query/reader.ts';
import {
  type ClusterEndpoints,
  endpointsOfCluster,
  endpointsOfClusters,
  selectClusterEndpoints,
} from '../../../core/select/endpoint/cluster-endpoints.ts';
import { emptyAssignment, endpointMembers, loadAssignment, memberBlocks } from '../../generate/endpoint/assignment.ts';
import type { ClusterLoadAssignment } from '../../proto/types.gen.ts';
import type { Pieces } from '../source.ts';

type Assignment = Resource<ClusterLoadAssignment>;

/** Argument: the name of a cluster. Undefined for a service that is not in the proxy's scope. */
export const endpointsOf: Query<string, Assignment | undefined> = {
  name: 'endpoint/endpointsOf',
  run: (reader, clusterName) => {
    const of = endpointsOfCluster(reader, clusterName);
    return of === undefined ? undefined : reader.select(assignmentOf, of);
  },
};

const assignmentOf: Selection<ClusterEndpoints, Assignment> = {
  name: 'endpoint/assignmentOf',
  run: (reader, of) => {
    const inputs = selectClusterEndpoints(reader, of);
    if (inputs === undefined) return reader.make(emptyAssignment, { clusterName: of.clusterName });
    const members = memberBlocks(inputs)?.map(block => reader.make(endpointMembers, block));
    return reader.make(loadAssignment, members === undefined ? inputs : { ...inputs, members });
  },
};

/** The same assignments for the names of a whole subscription. */
export const endpointPieces: Pieces<ClusterEndpoints> = { list: endpointsOfClusters, each: assignmentOf };
