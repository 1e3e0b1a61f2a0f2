// The listeners at both ends of HBONE tunnels: one that takes tunnels, and internal ones that open them.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildHCMConnectTerminateChain, buildConnectForwarder),
// pilot/pkg/networking/core/listener.go (buildInnerConnectOriginateListener, buildOuterConnectOriginateListener).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { HBONE_PORT } from '../../../core/select/ambient/waypoints.ts';
import { CONNECT_TERMINATE, MAIN_INTERNAL } from '../../../core/select/cluster/cluster-names.ts';
import type { TunnelTlsSettings } from '../../../core/select/listener/tunnel-tls.ts';
import type { TunnelEndInputs } from '../../../core/select/listener/tunnels.ts';
import { any } from '../../proto/any.ts';
import {
  type AccessLog,
  type Filter,
  HeaderValueOption_HeaderAppendAction,
  type HttpFilter,
  type Listener,
  type RouteConfiguration,
} from '../../proto/types.gen.ts';
import { ZERO_DURATION } from '../common/duration.ts';
import { orNone } from '../common/or-none.ts';
import { tunnelTls } from '../common/tunnel-tls.ts';
import { connectAuthority } from './filter-state.ts';
import { headerFields } from './http-connection-manager.ts';
import { routerOf } from './http-filters.ts';
import { waypointPeers } from './istio-filters.ts';
import { originalDestination } from './listener-filters.ts';
import { additionalAddresses, listenerAddress } from './listener-parts.ts';

// Limits of ztunnel's own server.
const STREAMS_MAX = 100;
const KEEPALIVE_INTERVAL: Duration = { seconds: 10, nanos: 0 };
const KEEPALIVE_TIMEOUT: Duration = { seconds: 20, nanos: 0 };

export interface TunnelEnd extends TunnelEndInputs {
  readonly tls: TunnelTlsSettings;
  /** About tunnels themselves. */
  readonly authorization: readonly HttpFilter[];
  /** Of the listener, and of requests for tunnels. */
  readonly accessLog: readonly AccessLog[] | undefined;
  readonly requestLog: readonly AccessLog[];
}

/** Takes tunnels and leads what comes through them to the internal listener. */
export const connectTerminateListener: Generator<TunnelEnd, Resource<Listener>> = {
  name: 'listener/connectTerminate',
  run: inputs => {
    const [bind = '', ...more] = inputs.binds;
    const message: Listener = {
      name: CONNECT_TERMINATE,
      address: listenerAddress(bind, HBONE_PORT),
      additionalAddresses: additionalAddresses(more, HBONE_PORT),
      accessLog: inputs.accessLog,
      // There are few connections, each with many tunnels: workers are to have equal shares of them.
      connectionBalanceConfig: { exactBalance: {} },
      filterChains: [
        {
          name: 'default',
          transportSocket: {
            name: 'tls',
            typedConfig: any('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', {
              commonTlsContext: tunnelTls(inputs.tls),
              requireClientCertificate: { value: true },
            }),
          },
          filters: [tunnelServer(inputs)],
        },
      ],
    };
    return { name: CONNECT_TERMINATE, message, problems: [] };
  },
};

function tunnelServer(inputs: TunnelEnd): Filter {
  const { suppressDebugHeaders, ...fields } = headerFields('inbound', inputs.headers);
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typedConfig: any('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
      ...fields,
      statPrefix: CONNECT_TERMINATE,
      routeConfig: tunnelRoutes,
      setCurrentClientCertDetails: { subject: { value: true }, dns: true, uri: true },
      useRemoteAddress: { value: false },
      accessLog: orNone(inputs.requestLog),
      streamIdleTimeout: ZERO_DURATION,
      upgradeConfigs: [{ upgradeType: CONNECT }],
      http2ProtocolOptions: {
        allowConnect: true,
        maxConcurrentStreams: { value: STREAMS_MAX },
        connectionKeepalive: { interval: KEEPALIVE_INTERVAL, timeout: KEEPALIVE_TIMEOUT },
      },
      httpFilters: [
        ...inputs.authorization,
        waypointPeers.downstream,
        connectAuthority[inputs.factory],
        routerOf(suppressDebugHeaders),
      ],
    }),
  };
}

const CONNECT = 'CONNECT';
const tunnelRoutes: RouteConfiguration = {
  name: 'default',
  virtualHosts: [
    {
      name: 'default',
      domains: ['*'],
      routes: [
        {
          match: { connectMatcher: {} },
          route: { cluster: MAIN_INTERNAL, upgradeConfigs: [{ upgradeType: CONNECT, connectConfig: {} }] },
        },
      ],
    },
  ],
};

export interface TunnelOpenerListenerInputs {
  /** Also of the cluster that opens the tunnel. */
  readonly name: string;
  /** What the request for the tunnel asks for. */
  readonly target: string;
  /** A header of the request; '' for none. */
  readonly header: string;
  readonly headerValue: string;
  /** In front of the one that opens the tunnel. */
  readonly filters: readonly Filter[];
  /** A listener filter reads the destination from the connection. */
  readonly readsDestination: boolean;
  /** Of the listener, and of the tunnels. */
  readonly accessLog: readonly AccessLog[] | undefined;
  readonly tunnelLog: readonly AccessLog[];
}

/** An internal listener that puts each connection into a tunnel. */
export const tunnelOpenerListener: Generator<TunnelOpenerListenerInputs, Resource<Listener>> = {
  name: 'listener/tunnelOpener',
  run: inputs => {
    const { name } = inputs;
    const message: Listener = {
      name,
      internalListener: {},
      useOriginalDst: { value: false },
      listenerFilters: inputs.readsDestination ? [originalDestination] : undefined,
      accessLog: inputs.accessLog,
      filterChains: [{ filters: [...inputs.filters, tunnelFilter(inputs)] }],
    };
    return { name, message, problems: [] };
  },
};

function tunnelFilter(inputs: TunnelOpenerListenerInputs): Filter {
  const { name, header } = inputs;
  return {
    name: 'envoy.filters.network.tcp_proxy',
    typedConfig: any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', {
      cluster: name,
      statPrefix: name,
      accessLog: orNone(inputs.tunnelLog),
      tunnelingConfig: {
        hostname: inputs.target,
        headersToAdd:
          header === ''
            ? undefined
            : [
                {
                  header: { key: header, value: inputs.headerValue === '' ? undefined : inputs.headerValue },
                  appendAction: HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD,
                },
              ],
      },
    }),
  };
}
