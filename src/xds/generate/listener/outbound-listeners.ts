// Outbound listeners of a sidecar and their filter chains, from the plans of
// core/select/listener/outbound-listeners.ts.
// Source: Istio pilot/pkg/networking/core/listener.go (buildListenerFromEntry),
// pilot/pkg/networking/core/listener_builder.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { listenerName } from '../../../core/select/listener/listener-addresses.ts';
import type { SocketSettings } from '../../../core/select/listener/listener-settings.ts';
import {
  type Filter,
  type FilterChain,
  type FilterChainMatch,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
} from '../../proto/types.gen.ts';
import { durationOf, durationOfMs, ZERO_DURATION } from '../common/duration.ts';
import { addressRanges } from './cidr.ts';
import { httpInspector, tlsInspector } from './listener-filters.ts';
import { additionalAddresses, configMetadata, listenerAddress, socketFields } from './listener-parts.ts';

export interface OutboundChainInputs {
  readonly matchesAll: boolean;
  readonly serverNames: readonly string[];
  readonly ranges: readonly string[];
  /** Present on HTTP chains that inspection tells from other traffic. */
  readonly alpn: readonly string[] | undefined;
  readonly filters: readonly Filter[];
  readonly connectTimeoutMs: number;
  readonly configNamespace: string;
  readonly configName: string;
}

export const outboundChain: Generator<OutboundChainInputs, FilterChain> = {
  name: 'listener/outboundChain',
  run: inputs => ({
    filterChainMatch: matchOf(inputs),
    filters: inputs.filters,
    transportSocketConnectTimeout: inputs.connectTimeoutMs === 0 ? undefined : durationOfMs(inputs.connectTimeoutMs),
    metadata:
      inputs.configName === ''
        ? undefined
        : configMetadata('virtual-service', inputs.configNamespace, inputs.configName),
  }),
};

/** Undefined: the chain takes everything. An empty match does so too, but is not the default chain. */
function matchOf(inputs: OutboundChainInputs): FilterChainMatch | undefined {
  const { serverNames, ranges, alpn } = inputs;
  if (inputs.matchesAll) return undefined;
  const prefixRanges = addressRanges(ranges);
  return {
    serverNames: serverNames.length === 0 ? undefined : serverNames,
    prefixRanges: prefixRanges.length === 0 ? undefined : prefixRanges,
    ...(alpn === undefined ? {} : { transportProtocol: 'raw_buffer', applicationProtocols: alpn }),
  };
}

export function isMatchAll(chain: FilterChain): boolean {
  return chain.filterChainMatch === undefined;
}

export interface OutboundListenerInputs extends SocketSettings {
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly bindToPort: boolean;
  readonly chains: readonly FilterChain[];
  /** For connections that no chain takes; absent if one takes all. */
  readonly fallthrough: readonly Filter[] | undefined;
  readonly inspectsTls: boolean;
  readonly detection: Duration | string | undefined;
  readonly conflicts: readonly string[];
}

export const outboundListener: Generator<OutboundListenerInputs, Resource<Listener>> = {
  name: 'listener/outbound',
  run: inputs => {
    const { chains, filterChains, defaultFilterChain } = arrange(inputs);
    const inspectors = inspectorsOf(chains, inputs.inspectsTls);
    const inspectsHttp = inspectors.includes(httpInspector);
    const name = listenerName(inputs.bind, inputs.port);
    const message: Listener = {
      name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      bindToPort: inputs.bindToPort ? undefined : { value: false },
      listenerFilters: inspectors,
      continueOnListenerFiltersTimeout: true,
      listenerFiltersTimeout: (inspectsHttp ? durationOf(inputs.detection) : undefined) ?? ZERO_DURATION,
      filterChains,
      defaultFilterChain,
      ...socketFields({ ...inputs, maxConnectionsPerEvent: inputs.bindToPort ? inputs.maxConnectionsPerEvent : 0 }),
    };
    return { name, message, problems: inputs.conflicts.map(message => ({ path: '', message })) };
  },
};

/** The chain that takes everything is the default one, unless it is the only one. */
function arrange(inputs: OutboundListenerInputs): {
  readonly chains: readonly FilterChain[];
  readonly filterChains: readonly FilterChain[];
  readonly defaultFilterChain: FilterChain | undefined;
} {
  const { chains, fallthrough } = inputs;
  const narrow = chains.filter(chain => !isMatchAll(chain));
  const all = chains.filter(isMatchAll).at(-1);
  if (all !== undefined) {
    return narrow.length === 0
      ? { chains, filterChains: [all], defaultFilterChain: undefined }
      : { chains, filterChains: narrow, defaultFilterChain: all };
  }
  return {
    chains,
    filterChains: narrow,
    defaultFilterChain: { name: 'PassthroughFilterChain', filterChainMatch: {}, filters: fallthrough },
  };
}

function inspectorsOf(chains: readonly FilterChain[], inspectsTls: boolean): readonly ListenerFilter[] {
  const filters: ListenerFilter[] = inspectsTls ? [tlsInspector] : [];
  if (chains.some(chain => (chain.filterChainMatch?.applicationProtocols?.length ?? 0) > 0)) {
    filters.push(httpInspector);
  }
  return filters;
}
