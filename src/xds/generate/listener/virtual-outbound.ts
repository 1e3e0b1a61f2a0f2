// virtualOutbound: where intercepted outbound connections arrive; it hands each to the listener of its destination, and
// the rest to its catch-all.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildVirtualOutboundListener).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { VirtualOutboundChoice } from '../../../core/select/listener/virtual-outbound.ts';
import { type AccessLog, type Filter, type Listener, TrafficDirection } from '../../proto/types.gen.ts';
import { additionalAddresses, listenerAddress, socketFields } from './listener-parts.ts';
import { blackHole } from './tcp-proxy.ts';

const NAME = 'virtualOutbound';

export interface VirtualOutboundInputs extends VirtualOutboundChoice {
  readonly metricsFilters: readonly Filter[];
  /** For connections that match no service. */
  readonly fallthrough: readonly Filter[];
  readonly accessLog: readonly AccessLog[] | undefined;
}

export const virtualOutboundListener: Generator<VirtualOutboundInputs, Resource<Listener>> = {
  name: 'listener/virtualOutbound',
  run: inputs => {
    const message: Listener = {
      name: NAME,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      useOriginalDst: { value: true },
      transparent: inputs.transparent ? { value: true } : undefined,
      accessLog: inputs.accessLog,
      filterChains: [
        {
          // Connections to the listener's own port would loop forever.
          name: `${NAME}-blackhole`,
          filterChainMatch: { destinationPort: { value: inputs.port } },
          filters: [...inputs.metricsFilters, blackHole],
        },
        { name: `${NAME}-catchall-tcp`, filters: inputs.fallthrough },
      ],
      ...socketFields(inputs),
    };
    return { name: NAME, message, problems: [] };
  },
};
