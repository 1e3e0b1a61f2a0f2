// The network filters of a TCP chain in front of its terminal filters, and the one place that decides their order.
// Source: Istio pilot/pkg/networking/core/networkfilter.go (buildOutboundNetworkFilters),
// pilot/pkg/networking/core/listener_inbound.go (buildInboundNetworkFilters).

import type { Generator } from '../../../core/query/memo.ts';
import type { Filter } from '../../proto/types.gen.ts';
import { type FilterStage, filtersOf } from './filter-stages.ts';
import { networkMetadataExchange } from './istio-filters.ts';

export interface NetworkFilterInputs {
  /** Undefined: no metadata exchange on this chain. */
  readonly exchangedLabels: string | undefined;
  readonly customAuthorization: readonly Filter[];
  readonly authorization: readonly Filter[];
  readonly stats: readonly Filter[];
}

/** From the network to the terminal filters. A new filter is one row. */
export const networkFilterStages: readonly FilterStage<NetworkFilterInputs, Filter>[] = [
  { stage: 'metadata exchange', filters: inputs => networkMetadataExchange(inputs.exchangedLabels) },
  { stage: 'custom authorization', filters: inputs => inputs.customAuthorization },
  { stage: 'extensions of phase AUTHN' },
  { stage: 'extensions of phase AUTHZ' },
  { stage: 'authorization', filters: inputs => inputs.authorization },
  { stage: 'extensions of phase STATS' },
  { stage: 'extensions without a phase' },
  { stage: 'stats', filters: inputs => inputs.stats },
];

export const networkFilterList: Generator<NetworkFilterInputs, readonly Filter[]> = {
  name: 'listener/networkFilters',
  run: inputs => filtersOf(networkFilterStages, inputs),
};
