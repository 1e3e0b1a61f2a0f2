// The network filters of a TCP chain in front of its terminal filters, and the one place that decides their order.
// Source: Istio pilot/pkg/networking/core/networkfilter.go (buildOutboundNetworkFilters),
// pilot/pkg/networking/core/listener_inbound.go (buildInboundNetworkFilters).

import type { Generator } from '../../../core/query/memo.ts';
import type { ByPhase } from '../../../core/select/extension/chain-extensions.ts';
import type { Filter } from '../../proto/types.gen.ts';
import { type FilterStage, filtersOf } from './filter-stages.ts';
import { networkMetadataExchange } from './istio-filters.ts';

export interface NetworkFilterInputs {
  /** Undefined: no metadata exchange on this chain. */
  readonly exchangedLabels: string | undefined;
  readonly customAuthorization: readonly Filter[];
  readonly authorization: readonly Filter[];
  readonly stats: readonly Filter[];
  readonly extensions: ByPhase<Filter>;
}

/** From the network to the terminal filters. A new filter is one row. */
export const networkFilterStages: readonly FilterStage<NetworkFilterInputs, Filter>[] = [
  { stage: 'metadata exchange', filters: inputs => networkMetadataExchange(inputs.exchangedLabels) },
  { stage: 'custom authorization', filters: inputs => inputs.customAuthorization },
  { stage: 'extensions of phase AUTHN', filters: inputs => inputs.extensions.AUTHN },
  { stage: 'extensions of phase AUTHZ', filters: inputs => inputs.extensions.AUTHZ },
  { stage: 'authorization', filters: inputs => inputs.authorization },
  { stage: 'extensions of phase STATS', filters: inputs => inputs.extensions.STATS },
  { stage: 'extensions without a phase', filters: inputs => inputs.extensions.UNSPECIFIED },
  { stage: 'stats', filters: inputs => inputs.stats },
];

export const networkFilterList: Generator<NetworkFilterInputs, readonly Filter[]> = {
  name: 'listener/networkFilters',
  run: inputs => filtersOf(networkFilterStages, inputs),
};
