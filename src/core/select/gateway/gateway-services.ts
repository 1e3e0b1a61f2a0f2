// The services that a gateway gets clusters for. All visible services. With PILOT_FILTER_GATEWAY_CLUSTER_CONFIG only
// the destinations of its VirtualServices, the services of the mesh's extension providers, those that its EnvoyFilters
// refer to, and those that it may fetch the keys of tokens from.
// Source: Istio pilot/pkg/model/push_context.go (GatewayServices, extraServicesForProxy).

import type { Service } from '../../model/service.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { referencedServices } from '../patch/referenced-services.ts';
import { hostsOfKeySets } from '../policy/request-authentication.ts';
import { destinationsFor } from '../scope/destinations.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';
import { virtualServices } from '../scope/virtual-services.ts';
import { gatewayChoices } from './gateway-selection.ts';

/** In the order of the scope. For sidecars: all of it. */
export function servicesWithClusters(reader: ProxyReader): readonly Service[] {
  const services = reader.get(scopedServices, '');
  if (reader.facet('type') !== 'router' || !reader.feature('PILOT_FILTER_GATEWAY_CLUSTER_CONFIG')) return services;
  const hosts = new Set<string>(reader.get(extraServices, ''));
  for (const { key } of reader.derived(gatewayChoices)) {
    for (const host of reader.get(destinationsByGateway, key)) hosts.add(host);
  }
  return services.filter(({ hostname, namespace }) => hosts.has(hostname) || hosts.has(`${namespace}/${hostname}`));
}

/**
 * Services that the proxy needs whatever its routes are, `host` or `namespace/host`: of extension providers, of key
 * sets and of patches.
 */
export const extraServices: Query<'', readonly string[]> = {
  name: 'select/extraServices',
  run: reader => [providerServices, hostsOfKeySets, referencedServices].flatMap(query => reader.get(query, '')),
};

/** Argument `namespace/name` of a Gateway: the destinations of its VirtualServices, regardless of their visibility. */
const destinationsByGateway: Query<string, readonly string[]> = {
  name: 'select/destinationsByGateway',
  run: (reader, gateway) => {
    const scoped = reader.feature('PILOT_SCOPE_GATEWAY_TO_NAMESPACE');
    const namespace = scoped ? gateway.slice(0, gateway.indexOf('/')) : undefined;
    const hosts = new Set<string>();
    for (const virtualService of reader.get(virtualServices, '')) {
      if (!virtualService.gateways.includes(gateway)) continue;
      for (const { host } of destinationsFor(virtualService, namespace)) hosts.add(host);
    }
    return [...hosts];
  },
};

/** `host` or `namespace/host`, as the providers write it. */
const providerServices: Query<'', readonly string[]> = {
  name: 'select/providerServices',
  run: reader => {
    const providers = reader.mesh('extensionProviders');
    const named = providers.flatMap(provider => [
      provider.envoyExtAuthzHttp?.service,
      provider.envoyExtAuthzGrpc?.service,
      provider.zipkin?.service,
      provider.datadog?.service,
      provider.skywalking?.service,
      provider.opentelemetry?.service,
      provider.envoyHttpAls?.service,
      provider.envoyTcpAls?.service,
      provider.envoyOtelAls?.service,
      provider.sds?.service,
    ]);
    return named.filter(service => service !== undefined && service !== '') as readonly string[];
  },
};
