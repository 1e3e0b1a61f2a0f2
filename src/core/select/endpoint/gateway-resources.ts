// Gateways of the Gateway API as gateways of networks: an address of `spec.addresses` and a listener that passes mTLS
// on by SNI, or takes HBONE, make one. Those of the class `istio-remote` stand for gateways in places whose API server
// is out of reach, so they are written in the config cluster only. Addresses of the status do not count.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/network.go (handleGatewayResource),
// pilot/pkg/serviceregistry/kube/conversion.go (GatewaySA).

import { NETWORK_LABEL } from '../../base/labels.ts';
import type { Obj } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import { isAutoPassthrough } from '../../translate/gateway-api/listener-tls.ts';
import { SERVICE_ACCOUNT_OVERRIDE } from '../../translate/gateway-api/services.ts';
import type { NetworkGateway } from './network-gateway.ts';

const ELSEWHERE = 'istio-remote';
const ADDRESS_TYPES: readonly (string | undefined)[] = ['IPAddress', 'Hostname'];

type AnyGateway = Obj<'KubernetesGateway'> | Obj<'RemoteGateway'>;

export function gatewaysOfResources(reader: Reader): readonly NetworkGateway[] {
  if (!reader.feature('PILOT_MULTI_NETWORK_DISCOVER_GATEWAY_API')) return [];
  const config = reader.setting('clusterId');
  const remote = reader
    .indexed('remoteNetworkGateways', 'gateway')
    .filter(({ spec }) => spec.gatewayClassName !== ELSEWHERE);
  return [
    ...reader.indexed('networkGateways', 'gateway').flatMap(gateway => gatewaysOf(gateway, config)),
    ...remote.flatMap(gateway => gatewaysOf(gateway, gateway.cluster)),
  ];
}

function gatewaysOf(gateway: AnyGateway, cluster: string): readonly NetworkGateway[] {
  const { labels, namespace, spec } = gateway;
  const network = labels[NETWORK_LABEL] ?? '';
  const serviceAccount = `${namespace}/${accountOf(gateway)}`;
  const found: NetworkGateway[] = [];
  for (const { type, value: address = '' } of spec.addresses ?? []) {
    if (!ADDRESS_TYPES.includes(type)) continue;
    for (const { port, protocol, tls } of spec.listeners) {
      const one = { network, cluster, address, port, serviceAccount };
      if (tls !== undefined && isAutoPassthrough(labels, port, tls.options)) found.push({ ...one, hbonePort: 0 });
      if (protocol === 'HBONE') found.push({ ...one, hbonePort: port });
    }
  }
  return found;
}

function accountOf({ annotations, name, spec }: AnyGateway): string {
  const named = annotations[SERVICE_ACCOUNT_OVERRIDE] ?? '';
  if (named !== '') return named;
  return spec.gatewayClassName === ELSEWHERE ? `${name}-${spec.gatewayClassName}` : name;
}
