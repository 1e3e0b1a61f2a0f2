// The network filters of a TCP chain, and the one place where their order is written down
// (spec-listeners §7.1; Istio core/networkfilter.go).

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import type { Filter } from '../../proto/types.gen.ts';
import { authorizationFilters } from './authorization/filters.ts';
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

/** What of a TCP chain decides its filters. */
export interface NetworkChainTraits {
  readonly traffic: TrafficClass;
  /** The proxy is the server of mesh mTLS on this chain, so that peers tell each other who they are. */
  readonly exchange: boolean;
  /** Connections end at a workload here, so policies decide about them; not so where they are passed on unread or dropped. */
  readonly authorized: boolean;
}

/** Filters in front of the terminal ones. */
export function networkFilters(reader: ProxyReader, traits: NetworkChainTraits): readonly Filter[] {
  return reader.get(networkFilterList, `${traits.traffic}|${traits.exchange}|${traits.authorized}`);
}

/** Argument `traffic|exchange|authorized`. */
const networkFilterList: Query<string, readonly Filter[]> = {
  name: 'generate/networkFilters',
  run: (reader, arg) => {
    const [traffic, exchange, authorized] = arg.split('|') as [TrafficClass, string, string];
    const authorization = authorized === 'true' ? authorizationFilters(reader, 'tcp') : undefined;
    const stages: Readonly<Partial<Record<Stage, readonly Filter[]>>> = {
      metadataExchange: exchange === 'true' ? networkMetadataExchange(reader) : [],
      customAuthorization: authorization?.custom,
      authorization: authorization?.rules,
      stats: statsFilters(reader, traffic),
    };
    return inOrder(networkFilterOrder, stages);
  },
};
