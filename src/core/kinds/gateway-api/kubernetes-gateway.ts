// The Gateway of the Gateway API: listeners to which routes attach. `Gateway` is Istio's.

import { NETWORK_LABEL } from '../../base/labels.ts';
import type { Obj } from '../../model/object.ts';
import type { KubernetesGatewaySpec } from '../../schema/gateway-api-types.gen.ts';
import { each, type Reference } from '../references.ts';
import { statusList } from '../status.ts';
import { GATEWAY_API, gatewayKind } from './gateway-kind.ts';
import { certificates } from './references.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly KubernetesGateway: {
      readonly spec: KubernetesGatewaySpec & { readonly status?: GatewayAddresses };
      readonly indexes: 'networkGateways';
      readonly push: 'own';
    };
  }
}

/** Where the Gateway is reached, in the order given: a Gateway with addresses may be a waypoint. */
export interface GatewayAddresses {
  readonly addresses: readonly { readonly type?: string; readonly value?: string }[];
}

export const kubernetesGateway = gatewayKind({
  kind: 'KubernetesGateway',
  objectKind: 'Gateway',
  group: GATEWAY_API,
  versions: ['v1', 'v1beta1'],
  push: 'own',
  references: kubernetesGatewayReferences,
  status: statusList('addresses', ['type', 'value']),
  indexes: {
    /** `gateway`: those of a network. */
    networkGateways: ({ labels }) => (isNetworkGateway(labels) ? ['gateway'] : []),
  },
  // What is deployed for a Gateway carries its annotations and is owned by it.
  keepMeta: ['annotations', 'uid'],
});

/** True if other networks reach the labelled one through the gateway. */
export function isNetworkGateway(labels: Readonly<Record<string, string>>): boolean {
  return (labels[NETWORK_LABEL] ?? '') !== '';
}

function kubernetesGatewayReferences({ namespace, spec }: Obj<'KubernetesGateway'>): readonly Reference[] {
  return [...classOf(spec.gatewayClassName), ...each('spec.listeners', spec.listeners, certificates(namespace))];
}

/** Classes that need no object: they are known without one, and created where there is none. */
const BUILT_IN: readonly string[] = ['istio', 'istio-remote', 'istio-waypoint', 'istio-east-west'];

function classOf(name: string): readonly Reference[] {
  if (BUILT_IN.includes(name)) return [];
  return [{ path: 'spec.gatewayClassName', kind: 'GatewayClass', namespace: '', name }];
}
