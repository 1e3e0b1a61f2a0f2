// HTTP connection managers: the base of a class of traffic is one query, shared by all of its chains.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { selectHcm } from '../../../core/select/listener/http-connection-manager.ts';
import type { HttpChainTraits } from '../../../core/select/listener/http-filters.ts';
import { tracing } from '../../../core/select/telemetry/tracing.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { type HcmBase, hcmBaseGenerator, hcmFilter } from '../../generate/listener/http-connection-manager.ts';
import { tracingGenerator } from '../../generate/listener/tracing.ts';
import type { Filter, RouteConfiguration } from '../../proto/types.gen.ts';
import { accessLogsOf } from './access-log.ts';
import { httpFilters } from './filters.ts';

export interface HttpChain extends HttpChainTraits {
  readonly statPrefix: string;
  /** Name of the route configuration to ask for over RDS, or the route configuration itself. */
  readonly routes: string | RouteConfiguration;
  /** The port speaks HTTP/2 (inbound only). */
  readonly http2: boolean;
  /** The chain speaks only HTTP/3; undefined: no. */
  readonly http3?: boolean;
}

/** The network filter of an HTTP chain. */
export function httpConnectionManager(reader: ProxyReader, chain: HttpChain): Filter {
  return reader.make(hcmFilter, {
    base: reader.get(hcmBase, { traffic: chain.traffic, httpProxy: chain.httpProxy }),
    filters: httpFilters(reader, chain),
    statPrefix: chain.statPrefix,
    routes: chain.routes,
    http2: chain.http2,
    http3: chain.http3 === true,
    httpProxy: chain.httpProxy,
  });
}

/** The HTTP proxy port has a base of its own. */
const hcmBase: Query<{ readonly traffic: TrafficClass; readonly httpProxy: boolean }, HcmBase> = {
  name: 'listener/hcmBaseOf',
  key: ({ traffic, httpProxy }) => `${traffic}|${httpProxy}`,
  run: (reader, { traffic, httpProxy }) => {
    const choice = reader.get(tracing, traffic).tracing;
    return reader.make(hcmBaseGenerator, {
      ...selectHcm(reader, traffic, httpProxy),
      accessLog: reader.get(accessLogsOf, traffic).http,
      tracing: choice === undefined ? undefined : reader.make(tracingGenerator, { spec: choice }),
    });
  },
};
