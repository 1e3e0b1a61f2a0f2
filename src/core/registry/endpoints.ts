// The endpoints of a service from all registries and clusters, and the identities behind them.
// A ServiceEntry with the host of a Kubernetes service, in its namespace, adds its endpoints to that service.
// Source: Istio pilot/pkg/model/endpointshards.go.

import { compareText, type Obj } from '../model/object.ts';
import { type Endpoint, type EndpointShard, portsNumbered } from '../model/service.ts';
import { refKey, type ServiceRef } from '../model/service-ref.ts';
import type { Query, Reader } from '../query/reader.ts';
import { serviceNamed } from './cluster-set.ts';
import { endpointIndexOf } from './endpoint-index.ts';
import { type EntryEndpoints, endpointsInForce } from './endpoint-limits.ts';
import { hostInstances } from './host-instances.ts';
import { kubernetesEndpoints } from './kubernetes-endpoints.ts';
import { addressesOf } from './service-entry.ts';
import { servicesOfHost } from './services.ts';

/** Sorted by provider, then cluster; shards without endpoints are left out. */
export const endpointShards: Query<ServiceRef, readonly EndpointShard[]> = {
  name: 'registry/endpointShards',
  key: refKey,
  run: (reader, service) => {
    const { hostname, namespace } = service;
    const shards: EndpointShard[] = [];
    const external = reader.get(externalEndpoints, service);
    if (external.length > 0) {
      shards.push({ provider: 'External', cluster: reader.setting('clusterId'), endpoints: external });
    }
    const named = serviceNamed(reader, hostname);
    if (named === undefined || named.namespace !== namespace) return shards;
    for (const cluster of clustersOf(reader, `${namespace}/${named.name}`)) {
      const endpoints = reader.get(kubernetesEndpoints, `${cluster}/${namespace}/${named.name}`);
      if (endpoints.length > 0) shards.push({ provider: 'Kubernetes', cluster, endpoints });
    }
    return shards;
  },
};

/**
 * The endpoints of a port for clusters and listeners, which unlike EDS ignore the port's name: ports with one number
 * are one port, regardless of their names. Of several services with the host in the namespace, the youngest with any
 * endpoint decides.
 * Source: Istio pilot/pkg/model/push_context.go (initServiceRegistry), pilot/pkg/model/endpointshards.go
 * (CopyEndpoints).
 */
export function endpointsOfPort(
  reader: Reader,
  { hostname, namespace }: ServiceRef,
  number: number,
): readonly Endpoint[] {
  const lists = reader.get(endpointShards, { hostname, namespace }).map(shard => endpointIndexOf(shard.endpoints));
  const services = reader.get(servicesOfHost, hostname).filter(service => service.namespace === namespace);
  for (const service of services.reverse()) {
    const names = portsNumbered(service, number).map(port => port.name);
    if (names.length === 0) continue;
    const found = lists.map(list => list.ofPort(number, names)).filter(({ length }) => length > 0);
    if (found.length > 0) return found.length === 1 ? found[0]! : found.flat();
  }
  return [];
}

/** Clusters that have the service, by name. */
function clustersOf(reader: Reader, key: string): readonly string[] {
  return reader
    .indexed('servicesByName', key)
    .map(obj => obj.cluster)
    .sort(compareText);
}

/**
 * The endpoints of all ServiceEntries with the host, the oldest first; an entry with several addresses repeats them.
 */
const externalEndpoints: Query<ServiceRef, readonly Endpoint[]> = {
  name: 'registry/externalEndpoints',
  key: refKey,
  run: (reader, service) => {
    const lists = endpointsInForce(listsOf(reader, service));
    // One list stays the same object: its index and what else follows from it is made once.
    return lists.length === 1 ? lists[0]!.endpoints : lists.flatMap(list => list.endpoints);
  },
};

function listsOf(reader: Reader, service: ServiceRef): readonly EntryEndpoints[] {
  return reader.get(hostInstances, service).flatMap(({ entry, endpoints }) => {
    const obj = reader.object('ServiceEntry', `${service.namespace}/${entry}`);
    const portNames = (obj?.spec.ports ?? []).map(({ name = '' }) => name);
    return new Array<EntryEndpoints>(timesListed(obj, service.hostname)).fill({ entry, portNames, endpoints });
  });
}

/** Argument ''. The first ServiceEntry of a host, `namespace/name`, of whose endpoints some are not in force. */
export const hostsPastLimit: Query<'', ReadonlyMap<string, string>> = {
  name: 'registry/hostsPastLimit',
  run: reader => {
    const found = new Map<string, string>();
    const hosts = new Map<string, ServiceRef>();
    for (const { namespace, spec } of reader.objects('ServiceEntry')) {
      for (const hostname of spec.hosts ?? []) hosts.set(refKey({ hostname, namespace }), { hostname, namespace });
    }
    for (const service of hosts.values()) {
      const lists = listsOf(reader, service);
      const inForce = endpointsInForce(lists);
      const first = lists.find(({ endpoints }, i) => endpoints.length > inForce[i]!.endpoints.length);
      if (first !== undefined) found.set(`${service.namespace}/${first.entry}`, service.hostname);
    }
    return found;
  },
};

/** One logical name has one set of addresses, however many it is listed with. */
function timesListed(entry: Obj<'ServiceEntry'> | undefined, hostname: string): number {
  if (entry === undefined) return 0;
  if (entry.spec.resolution === 'DNS_ROUND_ROBIN') return 1;
  const hosts = (entry.spec.hosts ?? []).filter(host => host === hostname).length;
  return hosts * addressesOf(entry.spec.addresses ?? []).length;
}

/**
 * SPIFFE ids of the endpoints and of the service itself, trust domain aliases included, sorted. Of several
 * services with the host the youngest says its own. Source: Istio pilot/pkg/model/push_context.go (addServiceAccounts).
 */
export const serviceAccounts: Query<ServiceRef, readonly string[]> = {
  name: 'registry/serviceAccounts',
  key: refKey,
  run: (reader, ref) => {
    const { hostname, namespace } = ref;
    const found = new Set<string>();
    for (const shard of reader.get(endpointShards, ref)) {
      for (const account of endpointIndexOf(shard.endpoints).accounts) found.add(account);
    }
    const last = reader
      .get(servicesOfHost, hostname)
      .filter(service => service.namespace === namespace)
      .at(-1);
    for (const account of last?.serviceAccounts ?? []) found.add(account);
    const aliases = reader.mesh('trustDomainAliases') ?? [];
    for (const account of [...found]) {
      const path = ACCOUNT_PATH.exec(account)?.[1];
      if (path !== undefined) for (const alias of aliases) found.add(`spiffe://${alias}${path}`);
    }
    return [...found].sort();
  },
};

/** Identities of service accounts are those of every trust domain; others are used as they are. */
const ACCOUNT_PATH = /^spiffe:\/\/[^/]*(\/ns\/[^/]*\/sa\/[^/]*)$/;
