// Replaces endpoints of other networks by the gateways that lead there, with the sum of their weights.
// Source: Istio pilot/pkg/xds/endpoints/ep_filters.go (EndpointsByNetworkFilter).

import { isIpv4, isIpv6 } from '../../../core/base/ip.ts';
import { compareText } from '../../../core/model/object.ts';
import type { NetworkInputs } from '../../../core/select/endpoint/assignment.ts';
import type { NetworkGateway } from '../../../core/select/endpoint/network-gateway.ts';
import type { LbEndpoint } from '../../proto/types.gen.ts';
import { type Group, type Member, WEIGHT_MAX, weightOfMembers } from './group.ts';
import { gatewayEndpoint } from './lb-endpoint.ts';

export function applyNetworks(groups: readonly Group[], inputs: NetworkInputs, describes: boolean): readonly Group[] {
  if (inputs.gateways.length === 0) return groups;
  const scale = weightScale(inputs.gateways);
  return groups.map(group => filterGroup(group, inputs, scale, describes));
}

function filterGroup(group: Group, inputs: NetworkInputs, scale: number, describes: boolean): Group {
  const members: Member[] = [];
  const behind = new Map<NetworkGateway, number>();
  for (const member of group.members) {
    const weight = Math.min(member.weight * scale, WEIGHT_MAX);
    const all = gatewaysTo(member, inputs);
    if (isDirect(member, inputs.proxyNetwork, all)) {
      if (!hasAddress(member.lb)) continue;
      members.push({ ...member, weight, lb: { ...member.lb, loadBalancingWeight: { value: weight } } });
      continue;
    }
    const usable = all.filter(gateway => reachable(gateway, inputs));
    if (usable.length === 0 || !member.mtls) continue;
    const share = Math.trunc(weight / usable.length);
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

/**
 * Those of the endpoint's network in its own cluster, else all of its network. A sidecar knows none that takes HBONE
 * alone.
 */
function gatewaysTo(member: Member, { gateways, router }: NetworkInputs): readonly NetworkGateway[] {
  const inNetwork = gateways.filter(gateway => gateway.network === member.network);
  const inCluster = inNetwork.filter(gateway => gateway.cluster === member.cluster);
  const found = inCluster.length > 0 ? inCluster : inNetwork;
  return router ? found : found.filter(gateway => gateway.port !== 0);
}

function isDirect(member: Member, proxyNetwork: string, gateways: readonly NetworkGateway[]): boolean {
  const near = proxyNetwork === member.network || proxyNetwork === '' || member.network === '' || gateways.length === 0;
  return near && !(proxyNetwork === '' && member.network !== '' && gateways.length > 0);
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

/** The least common multiple of the numbers of gateways, so that shares are whole numbers. */
function weightScale(gateways: readonly NetworkGateway[]): number {
  const counts = new Map<string, number>();
  for (const { network, cluster } of gateways) {
    for (const key of [network, `${network}|${cluster}`]) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  let scale = 1;
  for (const count of counts.values()) scale = Math.min((scale * count) / greatestDivisor(scale, count), WEIGHT_MAX);
  return scale;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
