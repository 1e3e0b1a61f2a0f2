// Which workloads are reached through HBONE tunnels: those that the node's ztunnel has captured, which an annotation of
// the pod records, and those whose label says that they take tunnels themselves.
// Source: Istio pilot/pkg/model/push_context.go (SupportsTunnel, AllInstancesSupportHBONE).

import { isIp } from '../../base/ip.ts';
import type { Labels } from '../../base/labels.ts';
import type { Endpoint } from '../../model/service.ts';
import type { ServiceRef } from '../../model/service-ref.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import { type EndpointIndex, endpointIndexOf } from '../../registry/endpoint-index.ts';
import { endpointsOfPort } from '../../registry/endpoints.ts';
import { hasEnded } from '../../registry/pods.ts';
import { localNetwork } from './network.ts';
import { hasTunnelLabel, tunnelOf } from './tunnel.ts';

/** The endpoint's workload takes tunnels. By its annotation it is found by an IP address alone, never by a name. */
export function isCaptured(reader: Reader, { labels, network, addresses }: Endpoint): boolean {
  const isCapturedAt = (address: string): boolean =>
    isIp(address) && reader.get(capturedAddress, `${network}/${address}`);
  return hasTunnelLabel(labels) || addresses.some(isCapturedAt);
}

/** Argument: `network/address`, an IP address. */
const capturedAddress: Query<string, boolean> = {
  name: 'select/ambient/capturedAddress',
  run: (reader, key) => {
    const slash = key.indexOf('/');
    const [network, address] = [key.slice(0, slash), key.slice(slash + 1)];
    const cluster = reader.setting('clusterId');
    const local = reader.get(localNetwork, '');
    const pods = network === local ? reader.indexed('podsByIp', `${cluster}/${address}`) : [];
    if (pods.some(pod => !hasEnded(pod) && takesTunnels(pod.labels, pod.annotations))) return true;
    return reader
      .indexed('workloadEntriesByAddress', address)
      .some(
        entry =>
          (entry.spec.network || local) === network &&
          takesTunnels({ ...entry.spec.labels, ...entry.labels }, entry.annotations),
      );
  },
};

function takesTunnels(labels: Labels, annotations: Readonly<Record<string, string>>): boolean {
  return tunnelOf(labels, annotations) !== 'NONE';
}

/** All endpoints of a service's port take tunnels, and there are some. */
export const allCaptured: Query<ServiceRef & { readonly port: number }, boolean> = {
  name: 'select/ambient/allCaptured',
  key: ({ hostname, namespace, port }) => `${namespace}/${hostname}:${port}`,
  run: (reader, { port, ...service }) => {
    const endpoints = endpointsOfPort(reader, service, port);
    if (endpoints.length > ENDPOINTS_ALONE_MAX)
      return reader.select(listCaptured, { list: endpointIndexOf(endpoints) });
    return endpoints.length > 0 && endpoints.every(endpoint => isCaptured(reader, endpoint));
  },
};

/** Longer lists are gone through once for all services that have them. */
const ENDPOINTS_ALONE_MAX = 100;

const listCaptured: Selection<{ readonly list: EndpointIndex }, boolean> = {
  name: 'select/ambient/listCaptured',
  run: (reader, { list }) => list.all.every(endpoint => isCaptured(reader, endpoint)),
};
