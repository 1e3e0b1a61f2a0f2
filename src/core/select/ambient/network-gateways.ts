// Gateways through which ztunnel reaches other networks: Gateways of class istio-remote with addresses in their status
// and a listener for HBONE. They are others than those that Envoys use (select/endpoint/network.ts).
// Source: Istio pilot/pkg/serviceregistry/ambient/networks.go (localK8sGatewayToNetworkGateways).

import { NETWORK_LABEL } from '../../base/labels.ts';
import type { Obj } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { SERVICE_ACCOUNT_OVERRIDE } from '../../translate/gateway-api/services.ts';

export interface GatewayTarget {
  readonly network: string;
  /** An IP address or a host name. */
  readonly address: string;
  readonly port: number;
  /** Namespace and name of the service account. */
  readonly namespace: string;
  readonly account: string;
}

const REMOTE_CLASS = 'istio-remote';

/** Argument ''. In the order of the Gateways and their addresses. */
export const ambientGateways: Query<'', readonly GatewayTarget[]> = {
  name: 'select/ambient/gateways',
  run: reader => reader.indexed('networkGateways', 'gateway').flatMap(targetsOf),
};

/** Argument: a network. The first of its gateways. */
export const gatewayOfNetwork: Query<string, GatewayTarget | undefined> = {
  name: 'select/ambient/gatewayOfNetwork',
  run: (reader, network) => reader.get(ambientGateways, '').find(gateway => gateway.network === network),
};

/** Of a Gateway with the label of a network. */
function targetsOf({ labels, annotations, namespace, name, spec }: Obj<'KubernetesGateway'>): readonly GatewayTarget[] {
  const port = spec.listeners.find(({ protocol }) => protocol === 'HBONE')?.port;
  if (spec.gatewayClassName !== REMOTE_CLASS || port === undefined) return [];
  const account = annotations[SERVICE_ACCOUNT_OVERRIDE] || `${name}-${REMOTE_CLASS}`;
  return (spec.status?.addresses ?? []).flatMap(({ type, value = '' }) =>
    type === 'IPAddress' || type === 'Hostname'
      ? [{ network: labels[NETWORK_LABEL]!, address: value, port, namespace, account }]
      : [],
  );
}
