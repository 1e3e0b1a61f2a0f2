// Which protocol of its own a TCP chain's terminal filters can look into, by the port's protocol and the flag of each
// filter.
// Source: Istio pilot/pkg/networking/core/networkfilter.go (buildNetworkFiltersStack).

import type { Protocol } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';

/** The traits of a chain that decide its terminal filters, besides its route. */
export interface TcpTraits {
  readonly protocol: Protocol;
  /** Host of a DYNAMIC_DNS service whose address is looked up by SNI, and its port. */
  readonly dynamicHost?: string;
  readonly dynamicPort?: number;
}

/** '' for bytes that nothing looks into. */
export type TerminalCodec = '' | 'mongo' | 'redis' | 'mysql';

export function terminalCodec(reader: ProxyReader, protocol: Protocol): TerminalCodec {
  if (protocol === 'Mongo' && reader.feature('PILOT_ENABLE_MONGO_FILTER')) return 'mongo';
  if (protocol === 'Redis' && reader.feature('PILOT_ENABLE_REDIS_FILTER')) return 'redis';
  return protocol === 'MySQL' && reader.feature('PILOT_ENABLE_MYSQL_FILTER') ? 'mysql' : '';
}
