// Inbound listeners of a sidecar: virtualInbound, where intercepted connections arrive, and a listener of its own for
// each port that the Sidecar binds. Inspectors follow from the chains.
// Source: Istio pilot/pkg/networking/core/listener_inbound.go (inboundVirtualListener, inboundCustomListener).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { MAIN_INTERNAL } from '../../../core/select/cluster/cluster-names.ts';
import type { SocketSettings } from '../../../core/select/listener/listener-settings.ts';
import {
  type AccessLog,
  type Filter,
  type FilterChain,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
} from '../../proto/types.gen.ts';
import { durationOf, ZERO_DURATION } from '../common/duration.ts';
import { inboundInspectors, originalDestination, originalSource } from './listener-filters.ts';
import { additionalAddresses, listenerAddress, socketFields } from './listener-parts.ts';
import { blackHole } from './tcp-proxy.ts';

/** Connections to the listener's own port would loop forever. */
export const inboundBlackHole: Generator<{ readonly port: number; readonly filters: readonly Filter[] }, FilterChain> =
  {
    name: 'listener/inboundBlackHole',
    run: ({ port, filters }) => ({
      name: 'virtualInbound-blackhole',
      filterChainMatch: { destinationPort: { value: port } },
      filters: [...filters, blackHole],
    }),
  };

export interface InboundListenerInputs extends SocketSettings {
  readonly name: string;
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly chains: readonly FilterChain[];
  /** virtualInbound, which learns the original destination. */
  readonly virtual: boolean;
  readonly transparent: boolean;
  readonly detection: Duration | string | undefined;
  readonly accessLog: readonly AccessLog[] | undefined;
}

/**
 * Takes connections out of tunnels, from a cluster of the proxy.
 * Source: Istio pilot/pkg/networking/core/listener_inbound.go (buildInboundHBONEListeners).
 */
export const tunnelledListener: Generator<Pick<InboundListenerInputs, 'chains' | 'accessLog'>, Resource<Listener>> = {
  name: 'listener/tunnelled',
  run: ({ chains, accessLog }) => ({
    name: MAIN_INTERNAL,
    message: {
      name: MAIN_INTERNAL,
      internalListener: {},
      trafficDirection: TrafficDirection.INBOUND,
      listenerFilters: [originalDestination, ...inboundInspectors(chains)],
      continueOnListenerFiltersTimeout: true,
      accessLog,
      filterChains: chains,
    },
    problems: [],
  }),
};

export const inboundListener: Generator<InboundListenerInputs, Resource<Listener>> = {
  name: 'listener/inbound',
  run: inputs => {
    const filters: ListenerFilter[] = [];
    if (inputs.virtual) filters.push(originalDestination);
    if (inputs.transparent) filters.push(originalSource);
    filters.push(...inboundInspectors(inputs.chains));
    const message: Listener = {
      name: inputs.name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.INBOUND,
      transparent: inputs.transparent ? { value: true } : undefined,
      listenerFilters: filters,
      continueOnListenerFiltersTimeout: true,
      listenerFiltersTimeout: durationOf(inputs.detection) ?? ZERO_DURATION,
      accessLog: inputs.accessLog,
      filterChains: inputs.chains,
      ...socketFields(inputs),
    };
    return { name: inputs.name, message, problems: [] };
  },
};
