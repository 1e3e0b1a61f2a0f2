// Replaces endpoints of other networks by the gateways that lead there, with the sum of their weights.
// Source: Istio pilot/pkg/xds/endpoints/ep_filters.go (EndpointsByNetworkFilter).

import { groupsOf } from '../../../core/base/groups.ts';
import { isIpv4, isIpv6 } from '../../../core/base/ip.ts';
import { compareText } from '../../../core/model/object.ts';
import type { NetworkInputs } from '../../../core/select/endpoint/assignment.ts';
import type { NetworkGateway } from '../../../core/select/endpoint/network-gateway.ts';
import type { LbEndpoint } from '../../proto/types.gen.ts';
import { type Group, type Member, WEIGHT_MAX, weightOfMembers } from './group.ts';
import { gatewayEndpoint } from './lb-endpoint.ts';

export function applyNetworks(groups: readonly Group[], inputs: NetworkInputs, describes: boolean): readonly Group[] {
  if (inputs.gateways.length === 0) return groups;
  const ways = waysOf(inputs);
  return groups.map(group => filterGroup(group, inputs, ways, describes));
}

function filterGroup(group: Group, { proxyNetwork }: NetworkInputs, ways: Ways, describes: boolean): Group {
  const members: Member[] = [];
  /** What each gateway of a way is given. */
  const shares = new Map<Way, number>();
  for (const member of group.members) {
    const weight = Math.min(member.weight * ways.scale, WEIGHT_MAX);
    const way = ways.to(member);
    if (isDirect(member, proxyNetwork, way)) {
      if (!hasAddress(member.lb)) continue;
      members.push({ ...member, weight, lb: { ...member.lb, loadBalancingWeight: { value: weight } } });
      continue;
    }
    if (way.usable.length === 0 || !member.mtls) continue;
    shares.set(way, (shares.get(way) ?? 0) + Math.trunc(weight / way.usable.length));
  }
  const behind = new Map<NetworkGateway, number>();
  for (const [{ usable }, share] of shares) {
    for (const gateway of usable) behind.set(gateway, Math.min((behind.get(gateway) ?? 0) + share, WEIGHT_MAX));
  }
  const gateways = [...behind].sort(([a], [b]) => compareText(a.address, b.address) || a.port - b.port);
  for (const [gateway, accumulated] of gateways) {
    const weight = Math.max(1, accumulated);
    const labels = { 'topology.istio.io/cluster': gateway.cluster, 'topology.istio.io/network': gateway.network };
    const { network, cluster } = gateway;
    members.push({ lb: gatewayEndpoint(gateway, weight, describes), weight, mtls: true, labels, network, cluster });
  }
  return { ...group, members, weight: weightOfMembers(members) };
}

/** Of a tunnel the address that it leads to. */
function hasAddress({ endpoint }: LbEndpoint): boolean {
  const { socketAddress, envoyInternalAddress } = endpoint?.address ?? {};
  return (socketAddress?.address ?? envoyInternalAddress?.endpointId ?? '') !== '';
}

/** The gateways to the endpoints of one network and cluster. */
interface Way {
  readonly isOpen: boolean;
  /** Those that the proxy can use. */
  readonly usable: readonly NetworkGateway[];
}

interface Ways {
  /** What weights are multiplied by. */
  readonly scale: number;
  readonly to: (member: Pick<Member, 'network' | 'cluster'>) => Way;
}

/** One for each list of gateways and kind of proxy, since all clusters of all proxies ask. */
const known = new WeakMap<readonly NetworkGateway[], Map<string, Ways>>();

function waysOf(inputs: NetworkInputs): Ways {
  const { gateways, router, proxyFamilies } = inputs;
  const ofList = known.get(gateways) ?? new Map<string, Ways>();
  known.set(gateways, ofList);
  const key = `${router}/${proxyFamilies}`;
  const made = ofList.get(key) ?? makeWays(inputs);
  ofList.set(key, made);
  return made;
}

/**
 * The way to an endpoint leads through the gateways of its network in its own cluster, else through all of its network.
 * A sidecar knows none that takes HBONE alone.
 */
function makeWays(inputs: NetworkInputs): Ways {
  const byNetwork = groupsOf(inputs.gateways, ({ network }) => network);
  const byCluster = groupsOf(inputs.gateways, ({ network, cluster }) => `${network}|${cluster}`);
  const ways = new Map<readonly NetworkGateway[], Way>();
  const wayThrough = (all: readonly NetworkGateway[]): Way => {
    const found = inputs.router ? all : all.filter(gateway => gateway.port !== 0);
    return { isOpen: found.length > 0, usable: found.filter(gateway => reachable(gateway, inputs)) };
  };
  return {
    scale: leastCommonMultiple([...byNetwork.values(), ...byCluster.values()].map(({ length }) => length)),
    to: ({ network, cluster }) => {
      const all = byCluster.get(`${network}|${cluster}`) ?? byNetwork.get(network) ?? none;
      const way = ways.get(all) ?? wayThrough(all);
      ways.set(all, way);
      return way;
    },
  };
}

const none: readonly NetworkGateway[] = [];

function isDirect(member: Member, proxyNetwork: string, { isOpen }: Way): boolean {
  const near = proxyNetwork === member.network || proxyNetwork === '' || member.network === '' || !isOpen;
  return near && !(proxyNetwork === '' && member.network !== '' && isOpen);
}

/**
 * A gateway with an address family of the proxy; the family of a host name is unknown and accepted. A gateway without a
 * port is unusable.
 */
function reachable(gateway: NetworkGateway, inputs: NetworkInputs): boolean {
  if (gateway.port === 0) return false;
  if (inputs.proxyFamilies === 'ipv4') return isIpv4(gateway.address);
  return inputs.proxyFamilies === 'dual' || isIpv6(gateway.address);
}

/** At most WEIGHT_MAX. Of the numbers of gateways, so that shares are whole numbers. */
function leastCommonMultiple(counts: readonly number[]): number {
  let multiple = 1;
  for (const count of counts) multiple = Math.min((multiple * count) / greatestDivisor(multiple, count), WEIGHT_MAX);
  return multiple;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
