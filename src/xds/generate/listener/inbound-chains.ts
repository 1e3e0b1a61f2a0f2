// Filter chains of traffic to the workload, and the route configuration inside of an HTTP chain.
// Source: Istio pilot/pkg/networking/core/listener_inbound.go (inboundChainForOpts),
// pilot/pkg/networking/core/httproute.go (buildSidecarInboundHTTPRouteConfig).

import type { Generator } from '../../../core/query/memo.ts';
import type { InboundRouteInputs } from '../../../core/select/listener/inbound-chains.ts';
import type { Filter, FilterChain, RouteConfiguration, TransportSocket } from '../../proto/types.gen.ts';
import { ZERO_DURATION } from '../common/duration.ts';
import { addressRanges } from './cidr.ts';
import { configMetadata } from './listener-parts.ts';

export interface InboundChainInputs {
  readonly name: string;
  readonly destinationPort: number;
  readonly transport: string;
  readonly alpn: readonly string[] | undefined;
  readonly socket: TransportSocket | undefined;
  readonly filters: readonly Filter[];
  readonly configNamespace: string;
  readonly configName: string;
  /** Of connections out of a tunnel: the addresses that the proxy takes them for; undefined: any. */
  readonly addresses?: readonly string[];
}

export const inboundChain: Generator<InboundChainInputs, FilterChain> = {
  name: 'listener/inboundChain',
  run: inputs => ({
    name: inputs.name,
    filterChainMatch: {
      destinationPort: inputs.destinationPort === 0 ? undefined : { value: inputs.destinationPort },
      transportProtocol: inputs.addresses === undefined ? inputs.transport : undefined,
      prefixRanges: inputs.addresses === undefined ? undefined : addressRanges(inputs.addresses),
      applicationProtocols: inputs.alpn,
    },
    filters: inputs.filters,
    transportSocket: inputs.socket,
    metadata:
      inputs.configName === '' ? undefined : configMetadata('sidecar', inputs.configNamespace, inputs.configName),
  }),
};

/** For each port its chains, as they are for it alone: `chains` has those that are made for a port like it. */
export const chainsOfPorts: Generator<
  { readonly ports: readonly number[]; readonly chains: readonly (readonly FilterChain[])[] },
  readonly FilterChain[]
> = {
  name: 'listener/chainsOfPorts',
  run: ({ ports, chains }) =>
    ports.flatMap((port, i) =>
      chains[i]!.map(chain => ({
        ...chain,
        filterChainMatch: { ...chain.filterChainMatch, destinationPort: { value: port } },
      })),
    ),
};

/** One route to the workload: requests for any host are for this port. */
export const inboundRoutes: Generator<InboundRouteInputs, RouteConfiguration> = {
  name: 'listener/inboundRoutes',
  run: ({ cluster, port, operation, retries }) => ({
    name: cluster,
    validateClusters: { value: false },
    virtualHosts: [
      {
        name: `inbound|http|${port}`,
        domains: ['*'],
        routes: [
          {
            name: 'default',
            match: { prefix: '/' },
            decorator: { operation },
            route: {
              cluster,
              timeout: ZERO_DURATION,
              maxStreamDuration: { maxStreamDuration: ZERO_DURATION, grpcTimeoutHeaderMax: ZERO_DURATION },
              retryPolicy: retries ? { retryOn: 'reset-before-request', numRetries: { value: 2 } } : undefined,
            },
          },
        ],
      },
    ],
  }),
};
