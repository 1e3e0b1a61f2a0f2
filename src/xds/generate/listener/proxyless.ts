// Listeners as gRPC takes them: those of a client name the route configuration of a host, those of a server hold one
// filter chain whose requests go to the program itself.
// Source: Istio pilot/pkg/networking/grpcgen/lds.go; gRPC A27 (clients), A36 (servers).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxylessClientListener, ProxylessServerListener } from '../../../core/select/listener/proxyless.ts';
import { any } from '../../proto/any.ts';
import type { FilterChain, HttpFilter, Listener, RouteConfiguration } from '../../proto/types.gen.ts';
import { providerInstanceTls, TLS_SOCKET } from '../common/provider-instance-tls.ts';
import { sessionFilter } from '../route/persistent-session.ts';
import { proxylessAuthorization } from './authorization/proxyless.ts';
import { faultFilter, routerFilter } from './http-filters.ts';
import { additionalAddresses, listenerAddress } from './listener-parts.ts';

const HTTP_CONNECTION_MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

export const proxylessClientListener: Generator<ProxylessClientListener, Resource<Listener>> = {
  name: 'listener/proxylessClient',
  run: ({ name, address, moreAddresses, port, routeName, session }) => {
    const message: Listener = {
      name,
      address: listenerAddress(address, port),
      additionalAddresses: additionalAddresses(moreAddresses, port),
      apiListener: {
        apiListener: any(HTTP_CONNECTION_MANAGER, {
          httpFilters: [...sessionFilter(session), faultFilter, routerFilter],
          rds: { configSource: { ads: {} }, routeConfigName: routeName },
        }),
      },
    };
    return { name, message, problems: [] };
  },
};

export const proxylessServerListener: Generator<ProxylessServerListener, Resource<Listener>> = {
  name: 'listener/proxylessServer',
  run: ({ name, address, moreAddresses, port, mtls, authorization }) => {
    const filters = [...proxylessAuthorization(authorization), routerFilter];
    const message: Listener = {
      name,
      address: listenerAddress(address, port),
      additionalAddresses: additionalAddresses(moreAddresses, port),
      filterChains: [serverChain(filters, mtls)],
    };
    return { name, message, problems: [] };
  },
};

/** gRPC refuses a route without an action, and takes this one for: the program answers. */
const ownRoutes: RouteConfiguration = {
  name: 'inbound',
  virtualHosts: [{ domains: ['*'], routes: [{ match: { prefix: '/' }, nonForwardingAction: {} }] }],
};

function serverChain(httpFilters: readonly HttpFilter[], mtls: boolean): FilterChain {
  const kind = mtls ? 'mtls' : 'plaintext';
  return {
    name: `inbound-${kind}`,
    filters: [
      {
        name: `inbound-hcm${kind}`,
        typedConfig: any(HTTP_CONNECTION_MANAGER, { routeConfig: ownRoutes, httpFilters }),
      },
    ],
    ...(mtls
      ? {
          transportSocket: {
            name: TLS_SOCKET,
            typedConfig: any('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', {
              commonTlsContext: providerInstanceTls([]),
              requireClientCertificate: { value: true },
            }),
          },
        }
      : {}),
  };
}
