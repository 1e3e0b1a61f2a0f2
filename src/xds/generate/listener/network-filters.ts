// The network filters of a TCP chain, and the one place where their order is written down
// (spec-listeners §7.1; Istio core/networkfilter.go).

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import type { Filter } from '../../proto/types.gen.ts';
import { inOrder } from './filter-stages.ts';
import { networkMetadataExchange, statsFilters } from './istio-filters.ts';

/** From the network to the terminal filters. */
const networkFilterOrder = [
  'metadataExchange',
  'customAuthorization',
  'authenticationExtensions',
  'authorizationExtensions',
  'authorization',
  'statsExtensions',
  'otherExtensions',
  'stats',
] as const;
type Stage = (typeof networkFilterOrder)[number];

/**
 * Filters in front of the terminal ones. `exchange`: the proxy is the server of mesh mTLS on this chain, so that a peer may tell who it is.
 */
export function networkFilters(reader: ProxyReader, traffic: TrafficClass, exchange: boolean): readonly Filter[] {
  return reader.get(networkFilterList, `${traffic}|${exchange}`);
}

/** Argument `traffic|exchange`. */
const networkFilterList: Query<string, readonly Filter[]> = {
  name: 'generate/networkFilters',
  run: (reader, arg) => {
    const [traffic, exchange] = arg.split('|') as [TrafficClass, string];
    const stages: Readonly<Partial<Record<Stage, readonly Filter[]>>> = {
      metadataExchange: exchange === 'true' ? networkMetadataExchange(reader) : [],
      stats: statsFilters(reader, traffic),
    };
    return inOrder(networkFilterOrder, stages);
  },
};
