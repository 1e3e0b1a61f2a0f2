// Listeners of a gateway and their filter chains. A chain matches the SNI hosts of its server; plain HTTP servers of a
// port are one chain.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListeners),
// pilot/pkg/networking/core/listener_builder.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { GatewayAddress } from '../../../core/select/listener/gateway-listeners.ts';
import type { SocketSettings } from '../../../core/select/listener/listener-settings.ts';
import {
  type AccessLog,
  type Filter,
  type FilterChain,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
  type TransportSocket,
} from '../../proto/types.gen.ts';
import { durationOfMs } from '../common/duration.ts';
import { orNone } from '../common/or-none.ts';
import { proxyProtocol, tlsInspector } from './listener-filters.ts';
import { additionalAddresses, listenerAddress, socketFields } from './listener-parts.ts';

export interface GatewayChainInputs {
  readonly serverNames: readonly string[];
  readonly alpn: readonly string[];
  readonly socket: TransportSocket | undefined;
  readonly filters: readonly Filter[];
  readonly connectTimeoutMs: number;
}

export const gatewayChain: Generator<GatewayChainInputs, FilterChain> = {
  name: 'listener/gatewayChain',
  run: ({ serverNames, alpn, socket, filters, connectTimeoutMs }) => ({
    filterChainMatch:
      serverNames.length === 0 && alpn.length === 0
        ? undefined
        : { serverNames: orNone(serverNames), applicationProtocols: orNone(alpn) },
    transportSocket: socket,
    filters,
    transportSocketConnectTimeout: connectTimeoutMs === 0 ? undefined : durationOfMs(connectTimeoutMs),
  }),
};

export interface GatewayListenerInputs extends GatewayAddress, SocketSettings {
  readonly chains: readonly FilterChain[];
  /** A server looks at SNI, whether or not a chain is narrowed by it. */
  readonly inspectsTls: boolean;
  readonly proxyProtocol: boolean;
  readonly accessLog: readonly AccessLog[] | undefined;
  readonly problems: readonly string[];
}

export const gatewayListener: Generator<GatewayListenerInputs, Resource<Listener>> = {
  name: 'listener/gateway',
  run: inputs => {
    const filters: ListenerFilter[] = [];
    if (inputs.proxyProtocol) filters.push(proxyProtocol);
    if (inputs.inspectsTls) filters.push(tlsInspector);
    const message: Listener = {
      name: inputs.name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      accessLog: inputs.accessLog,
      listenerFilters: orNone(filters),
      filterChains: inputs.chains,
      ...socketFields(inputs),
    };
    return { name: inputs.name, message, problems: inputs.problems.map(message => ({ path: '', message })) };
  },
};

/** The chain cannot be chosen without looking into the client's TLS. */
export function inspectsTls(chain: FilterChain): boolean {
  return chain.transportSocket !== undefined || (chain.filterChainMatch?.serverNames?.length ?? 0) > 0;
}
