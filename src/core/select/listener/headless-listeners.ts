// Headless services with TCP ports: the client picks an endpoint itself, so there is a listener for each endpoint's
// address of the service. A change of such endpoints therefore changes listeners.
// Source: Istio pilot/pkg/networking/core/listener.go (buildSidecarOutboundListeners).

import { isIp } from '../../base/ip.ts';
import { hasLabels } from '../../base/labels.ts';
import { compareText } from '../../model/object.ts';
import type { Port, Service } from '../../model/service.ts';
import { refKey, refOf, type ServiceRef } from '../../model/service-ref.ts';
import type { Derivation, ProxyReader, Query } from '../../query/reader.ts';
import { endpointShards, endpointsOfPort } from '../../registry/endpoints.ts';
import { NO_ADDRESS } from '../nametable/service-addresses.ts';
import { listenerServices } from '../scope/sidecar-scope.ts';

/** Address lists of all endpoints of a port, of any cluster, network and health. */
const endpointBinds: Query<ServiceRef & { readonly port: number }, readonly (readonly string[])[]> = {
  name: 'select/headlessEndpoints',
  key: of => `${refKey(of)}\u0000${of.port}`,
  run: (reader, { hostname, namespace, port }) => {
    const lists = endpointsOfPort(reader, { hostname, namespace }, port).map(endpoint => endpoint.addresses);
    return lists.sort((a, b) => compareText(a.join(','), b.join(',')));
  },
};

/**
 * The proxy's own first address if it is an endpoint of a headless service in its scope, else ''. So most proxies are
 * alike.
 */
const ownHeadlessAddress: Derivation<string> = {
  name: 'own address among headless endpoints',
  run: reader => {
    const own = reader.facet('ips')[0] ?? '';
    for (const service of reader.get(headlessServices, '')) {
      const shards = reader.get(endpointShards, refOf(service));
      if (shards.some(shard => shard.endpoints.some(endpoint => endpoint.addresses[0] === own))) return own;
    }
    return '';
  },
};

/** Shared by all proxies of a scope: most scopes have few of them. */
const headlessServices: Query<'', readonly Service[]> = {
  name: 'select/headlessServices',
  run: reader =>
    reader
      .get(listenerServices, '')
      .flatMap(services =>
        services.filter(
          ({ resolution, defaultAddress }) => resolution === 'Passthrough' && defaultAddress === NO_ADDRESS,
        ),
      ),
};

/**
 * The binds of each listener; empty if the service has none. Undefined: the service is not one of endpoints at all (a
 * ServiceEntry with resolution NONE), and gets one listener on the wildcard address.
 */
export function headlessBinds(
  reader: ProxyReader,
  service: Service,
  port: Port,
): readonly (readonly [string, ...string[]])[] | undefined {
  const lists = reader.get(endpointBinds, { ...refOf(service), port: port.port });
  const selects = hasLabels(service.selector);
  if (service.registry !== 'Kubernetes' && lists.length === 0 && !selects) return undefined;
  const usable: (readonly [string, ...string[]])[] = [];
  for (const [first, ...others] of lists) {
    if (first !== undefined && [first, ...others].every(isIp)) usable.push([first, ...others]);
  }
  if (usable.length === 0) return [];
  const own = reader.derived(ownHeadlessAddress);
  return usable.filter(([first]) => first !== own);
}
