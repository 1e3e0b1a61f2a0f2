// Gateways of other networks as workloads, so that ztunnel knows whom it talks to there.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (convertGateway).

import { isIp } from '../../base/ip.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { ambientGateways, type GatewayTarget } from './network-gateways.ts';
import { type AmbientWorkload, trustDomainOf, unknownWorkload } from './workload.ts';

/** Argument ''. None where ambient mode is off. */
export const gatewayWorkloads: Query<'', readonly AmbientWorkload[]> = {
  name: 'select/ambient/gatewayWorkloads',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return [];
    return reader.get(ambientGateways, '').map(gateway => workloadOf(reader, gateway));
  },
};

function workloadOf(reader: Reader, { network, address, port, namespace, account }: GatewayTarget): AmbientWorkload {
  const uid = `NetworkGateway/${network}/${address}/${port}`;
  const place = isIp(address) ? { addresses: [address] } : { hostname: address };
  return {
    ...unknownWorkload,
    ...place,
    uid,
    name: uid,
    namespace,
    creationTime: 0,
    network,
    serviceAccount: account,
    trustDomain: trustDomainOf(reader),
  };
}
