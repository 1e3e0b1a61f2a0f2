// Gateways of other networks as workloads, so that ztunnel knows whom it talks to there.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (convertGateway).

import { isIp } from '../../base/ip.ts';
import type { Query } from '../../query/reader.ts';
import { ambientGateways } from './network-gateways.ts';
import { type AmbientWorkload, trustDomainOf, unknownWorkload } from './workload.ts';

/** Argument ''. By network. */
export const gatewayWorkloads: Query<'', readonly AmbientWorkload[]> = {
  name: 'select/ambient/gatewayWorkloads',
  run: reader =>
    reader.get(ambientGateways, '').map(({ network, address, port, namespace, account }) => {
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
    }),
};
