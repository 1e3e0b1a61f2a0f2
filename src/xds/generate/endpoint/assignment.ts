// The endpoints of a cluster, grouped by locality: endpoints first, then what gateways of other networks stand for,
// then locality load balancing.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go (BuildClusterLoadAssignment).

import type { Problem } from '../../../core/base/problem.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Endpoint } from '../../../core/model/service.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { AssignmentInputs } from '../../../core/select/endpoint/assignment.ts';
import type { ClusterLoadAssignment } from '../../proto/types.gen.ts';
import { type Group, type Member, toLocalityEndpoints, weightOfMembers } from './group.ts';
import { type LbEndpointFacts, lbEndpoint, tunnelledEndpoint, weightOf } from './lb-endpoint.ts';
import { applyLocality } from './locality.ts';
import { applyNetworks } from './network.ts';

const noProblems: readonly Problem[] = [];

/** What an endpoint becomes depends on. Lists are of one length, or empty. */
export type MemberInputs = LbEndpointFacts &
  Pick<AssignmentInputs, 'endpoints' | 'mtls' | 'tunnels' | 'throughWaypoint' | 'vip'>;

export interface LoadAssignmentInputs extends AssignmentInputs {
  /** Of all endpoints, made by `endpointMembers` in blocks; undefined: they are few, so they are made here. */
  readonly members?: readonly (readonly LocalMember[])[];
}

/** A member with its locality. */
interface LocalMember {
  readonly locality: string;
  readonly member: Member;
}

/**
 * Localities sorted by their text, endpoints in the order given. Without endpoints the message holds the cluster's name
 * only.
 */
export const loadAssignment: Generator<LoadAssignmentInputs, Resource<ClusterLoadAssignment>> = {
  name: 'endpoint/loadAssignment',
  run: inputs => {
    const { clusterName } = inputs;
    const reached = applyNetworks(groupByLocality(inputs), inputs, inputs.describesWorkloads);
    const groups = applyLocality(inputs.onlyMtls ? reached.map(withoutPlaintext) : reached, inputs);
    const message: ClusterLoadAssignment =
      groups.length === 0 ? { clusterName } : { clusterName, endpoints: groups.map(toLocalityEndpoints) };
    return { name: clusterName, message, problems: noProblems };
  },
  work: (_, { endpoints, members }) =>
    members === undefined ? workOf(endpoints) : endpoints.length / GROUPED_PER_WORK_UNIT,
};

/** Of a block of endpoints. */
export const endpointMembers: Generator<MemberInputs, readonly LocalMember[]> = {
  name: 'endpoint/members',
  run: membersOf,
  work: (_, { endpoints }) => workOf(endpoints),
};

/** Fewer are made with their assignment. */
const ENDPOINTS_ALONE_MIN = 2_048;
const ENDPOINTS_TOGETHER = 512;

/** The inputs of `endpointMembers`, in order; undefined: the endpoints are few. */
export function memberBlocks(inputs: AssignmentInputs): readonly MemberInputs[] | undefined {
  const { endpoints, vip, drainingLabel, describesWorkloads, describedAs, dualStack } = inputs;
  if (endpoints.length < ENDPOINTS_ALONE_MIN) return undefined;
  return Array.from({ length: Math.ceil(endpoints.length / ENDPOINTS_TOGETHER) }, (_, i) => {
    const [from, to] = [i * ENDPOINTS_TOGETHER, (i + 1) * ENDPOINTS_TOGETHER];
    return {
      endpoints: endpoints.slice(from, to),
      mtls: inputs.mtls.slice(from, to),
      tunnels: inputs.tunnels.slice(from, to),
      throughWaypoint: inputs.throughWaypoint.slice(from, to),
      ...{ vip, drainingLabel, describesWorkloads, describedAs, dualStack },
    };
  });
}

function workOf(endpoints: readonly Endpoint[]): number {
  return Math.max(0, endpoints.length - ENDPOINTS_OF_ONE_RUN) / ENDPOINTS_PER_WORK_UNIT;
}

/** Endpoints that take no longer than one run of a query does. */
const ENDPOINTS_OF_ONE_RUN = 64;
/** Of more. */
const ENDPOINTS_PER_WORK_UNIT = 8;
/** Of those whose members are made. */
const GROUPED_PER_WORK_UNIT = 64;

/** Of a cluster that Envoy asks about but that has no endpoints over EDS. */
export const emptyAssignment: Generator<{ readonly clusterName: string }, Resource<ClusterLoadAssignment>> = {
  name: 'endpoint/empty',
  run: ({ clusterName }) => ({ name: clusterName, message: { clusterName }, problems: noProblems }),
};

function groupByLocality(inputs: LoadAssignmentInputs): readonly Group[] {
  const byLocality = new Map<string, Member[]>();
  for (const block of inputs.members ?? [membersOf(inputs)]) {
    for (const { locality, member } of block) {
      const members = byLocality.get(locality);
      if (members === undefined) byLocality.set(locality, [member]);
      else members.push(member);
    }
  }
  return [...byLocality]
    .sort((a, b) => compareText(a[0], b[0]))
    .map(([locality, members]) => ({ locality, members, weight: weightOfMembers(members), priority: 0 }));
}

function membersOf(inputs: MemberInputs): readonly LocalMember[] {
  return inputs.endpoints.map((endpoint, i) => {
    const through = inputs.throughWaypoint[i];
    const tunnel = inputs.tunnels[i] === true || through !== undefined;
    const mtls = inputs.mtls[i] === true && (!tunnel || inputs.vip);
    const { labels, network, cluster, locality } = endpoint;
    const plain = lbEndpoint(endpoint, mtls, inputs);
    const lb = tunnel ? tunnelledEndpoint(endpoint, plain, !inputs.vip, through) : plain;
    return { locality, member: { lb, weight: weightOf(endpoint), mtls, labels, network, cluster } };
  });
}

/** A locality that becomes empty is still sent. */
function withoutPlaintext(group: Group): Group {
  const members = group.members.filter(member => member.mtls);
  return { ...group, members, weight: weightOfMembers(members) };
}
