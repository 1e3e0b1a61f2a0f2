// Which names a sidecar's agent answers itself, with which addresses: the services of its egress listeners, and for
// headless ones their pods.
// Source: Istio pkg/dns/server/name_table.go.

import { append } from '../../base/append.ts';
import { isIp } from '../../base/ip.ts';
import type { Endpoint, Service } from '../../model/service.ts';
import { refOf } from '../../model/service-ref.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { isOfClusterSet } from '../../registry/cluster-set.ts';
import { endpointsOfPort } from '../../registry/endpoints.ts';
import { listenerServices } from '../scope/sidecar-scope.ts';
import { type AddressView, addressView, allAddresses, NO_ADDRESS } from './service-addresses.ts';

export interface NamedAddresses {
  readonly host: string;
  /** Never empty; may repeat. */
  readonly ips: readonly string[];
  readonly registry: Service['registry'];
  /** Both '' for entries that are not from Kubernetes. */
  readonly shortname: string;
  readonly namespace: string;
}

/** By host. Addresses are appended to, as thousands of ServiceEntries can have one host. */
type Table = Map<string, NamedAddresses & { readonly ips: string[] }>;

/** One entry a host, in order of first mention. Empty for a gateway. */
export function namedAddresses(reader: ProxyReader): readonly NamedAddresses[] {
  const table: Table = new Map();
  if (reader.facet('type') !== 'sidecar') return [];
  const view = reader.derived(addressView);
  for (const services of reader.get(listenerServices, '')) {
    for (const service of services) addService(reader, table, service, view);
  }
  return [...table.values()];
}

function addService(reader: ProxyReader, table: Table, service: Service, view: AddressView): void {
  const addresses = allAddresses(service, view);
  const headless = addresses.includes(NO_ADDRESS) && service.resolution === 'Passthrough';
  const plain = addresses.filter(address => address !== NO_ADDRESS && isIp(address));
  const ips = headless ? plain.concat(podAddresses(reader, table, service)) : plain;
  if (ips.length === 0) return;
  const { hostname, registry } = service;
  const known = table.get(hostname);
  if (known === undefined || (known.registry !== 'Kubernetes' && registry === 'Kubernetes')) {
    // A name of the set has no short form.
    const inNamespace = registry === 'Kubernetes' && !isOfClusterSet(hostname);
    const shortname = inNamespace ? service.name : '';
    table.set(hostname, { host: hostname, ips, registry, shortname, namespace: inNamespace ? service.namespace : '' });
  } else if (known.registry !== 'Kubernetes') {
    append(known.ips, ips);
  }
}

/**
 * Addresses of a headless service's pods. Pods with a hostname under the service also get entries: pods with one name
 * share the entry, and those of the proxy's own cluster replace those of other clusters.
 */
function podAddresses(reader: ProxyReader, table: Table, service: Service): readonly string[] {
  const [port] = service.ports;
  if (port === undefined) return [];
  const ownCluster = reader.facet('clusterId');
  const network = reader.facet('network');
  const multicluster = reader.feature('ENABLE_MULTICLUSTER_HEADLESS');
  const found: string[] = [];
  const local: PodAddresses = new Map();
  const remote: PodAddresses = new Map();
  // By number: where UDP and TCP share one, each pod is there twice.
  for (const endpoint of endpointsOfPort(reader, refOf(service), port.port)) {
    if (!isServed(endpoint, service) || !isSame(endpoint.network, network)) continue;
    const sameCluster = isSame(endpoint.cluster, ownCluster);
    addPod(sameCluster ? local : remote, endpoint);
    if (sameCluster || multicluster) append(found, endpoint.addresses);
  }
  addPods(table, service, remote);
  // After those of other clusters, as they replace them.
  addPods(table, service, local);
  return found;
}

/** The readiness of machines is unknown; as in Istio, their addresses are left out. */
function isServed(endpoint: Endpoint, service: Service): boolean {
  const [address = ''] = endpoint.addresses;
  return isIp(address) && (endpoint.health === 'Healthy' || service.publishNotReadyAddresses);
}

/** By `hostname.subdomain`, in order of first mention. */
type PodAddresses = Map<string, string[]>;

function addPod(pods: PodAddresses, { hostname, subdomain, addresses }: Endpoint): void {
  if (subdomain === '') return;
  const name = `${hostname}.${subdomain}`;
  const known = pods.get(name);
  if (known === undefined) pods.set(name, [...addresses]);
  else append(known, addresses);
}

function addPods(table: Table, service: Service, pods: PodAddresses): void {
  const dot = service.hostname.indexOf('.');
  if (dot < 0) return;
  const { registry, namespace } = service;
  for (const [shortname, ips] of pods) {
    const host = shortname + service.hostname.slice(dot);
    table.set(host, { host, ips, registry, shortname, namespace });
  }
}

/** An unknown network or cluster counts as one's own. */
function isSame(a: string, b: string): boolean {
  return a === '' || b === '' || a === b;
}
