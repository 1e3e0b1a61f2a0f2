// A UDP listener for HTTP/3 over QUIC. There is no inspection before the handshake, so it has no listener filters.
// Source: Istio pilot/pkg/networking/core/gateway.go, pilot/pkg/networking/core/listener.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { SocketSettings } from '../../../core/select/listener/listener-settings.ts';
import { type AccessLog, type FilterChain, type Listener, TrafficDirection } from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';
import { socketFields, udpAddress } from './listener-parts.ts';

export interface QuicListenerInputs extends SocketSettings {
  readonly name: string;
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  /** Never empty; their transport sockets are QUIC's. */
  readonly chains: readonly FilterChain[];
  readonly accessLog: readonly AccessLog[] | undefined;
}

export const quicListener: Generator<QuicListenerInputs, Resource<Listener>> = {
  name: 'listener/quic',
  run: inputs => ({
    name: inputs.name,
    message: {
      name: inputs.name,
      address: udpAddress(inputs.bind, inputs.port),
      additionalAddresses: orNone(inputs.moreBinds.map(bind => ({ address: udpAddress(bind, inputs.port) }))),
      trafficDirection: TrafficDirection.OUTBOUND,
      udpListenerConfig: { quicOptions: {}, downstreamSocketConfig: {} },
      accessLog: inputs.accessLog,
      filterChains: inputs.chains,
      ...socketFields(inputs),
    },
    problems: [],
  }),
};
