// The service model as istiod's pages show it: `registryz`, `endpointShardz`, `instancesz`, `networkz`, `mcsz` (Istio
// pilot/pkg/xds/debug.go). Members have Go's names, numbers stand for Go's constants: tools parse these pages.

import type { JsonObject } from '../../core/base/json.ts';
import type {
  Endpoint,
  EndpointHealth,
  EndpointShard,
  Resolution,
  Service,
  ServiceTarget,
} from '../../core/model/service.ts';
import { untrackedReader } from '../../core/query/untracked.ts';
import { isExported, isImported } from '../../core/registry/cluster-set.ts';
import { endpointShards } from '../../core/registry/endpoints.ts';
import { allServices } from '../../core/registry/services.ts';
import { serviceTargets } from '../../core/registry/workload.ts';
import { networkGateways } from '../../core/select/endpoint/network.ts';
import type { State } from '../../core/state.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type LazyJson, LazyMembers, mapped } from '../json-text.ts';

type RegistryParts = Pick<DebugParts, 'world' | 'engine'>;

/** Constants of Istio pilot/pkg/model/service.go. */
const resolutions: Readonly<Record<Resolution, number>> = {
  ClientSideLB: 0,
  DNSLB: 1,
  Passthrough: 2,
  DNSRoundRobinLB: 3,
  Alias: 4,
  DynamicDNS: 5,
};
const healths: Readonly<Record<EndpointHealth, number>> = {
  Unset: 0,
  Healthy: 1,
  UnHealthy: 2,
  Draining: 3,
  Terminating: 4,
};
const distributions = { Any: 0, PreferSameZone: 1, PreferSameNode: 2 } as const;

export function registryOf({ world, engine }: RegistryParts): LazyJson {
  return mapped(engine.tracker.get(world.state, undefined, allServices, ''), shownService);
}

export function shownService(service: Service): JsonObject {
  const { autoAllocatedV4, autoAllocatedV6, serviceAccounts } = service;
  return {
    Attributes: attributesOf(service),
    ports: service.ports.map(({ name, port, protocol }) => ({ name, port, protocol })),
    ...(serviceAccounts.length === 0 ? {} : { serviceAccounts }),
    creationTime: new Date(service.creationTime).toISOString(),
    hostname: service.hostname,
    clusterVIPs: { Addresses: service.clusterVips },
    defaultAddress: service.defaultAddress,
    ...(autoAllocatedV4 === undefined ? {} : { autoAllocatedIPv4Address: autoAllocatedV4 }),
    ...(autoAllocatedV6 === undefined ? {} : { autoAllocatedIPv6Address: autoAllocatedV6 }),
    Resolution: resolutions[service.resolution],
    MeshExternal: service.meshExternal,
    ResourceVersion: '',
  };
}

function attributesOf(service: Service): JsonObject {
  return {
    ServiceRegistry: service.registry,
    Name: service.name,
    Namespace: service.namespace,
    Labels: service.labels,
    ExportTo: setOf(service.exportTo),
    LabelSelectors: service.selector,
    Aliases: service.aliases.map(({ hostname, namespace }) => ({ Hostname: hostname, Namespace: namespace })),
    ClusterExternalAddresses: { Addresses: service.externalAddresses },
    PassthroughTargetPorts: service.passthroughTargetPorts as JsonObject,
    ExternalName: service.externalName ?? '',
    NodeLocal: service.nodeLocal,
    TrafficDistribution: distributions[service.trafficDistribution],
    ObjectName: service.objectName,
    PublishNotReadyAddresses: service.publishNotReadyAddresses,
  };
}

/** As Go writes a set: a map to empty objects. */
function setOf(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map(name => [name, {}]));
}

/** Host → namespace → its endpoints, by `registry/cluster`. */
export function endpointShardsOf(parts: RegistryParts): LazyJson {
  const { world, engine } = parts;
  const hosts = new Map<string, Set<string>>();
  for (const { hostname, namespace } of engine.tracker.get(world.state, undefined, allServices, '')) {
    hosts.set(hostname, (hosts.get(hostname) ?? new Set()).add(namespace));
  }
  return new LazyMembers(shardsOfHosts(parts, world.state, hosts));
}

function* shardsOfHosts(
  { engine }: RegistryParts,
  state: State,
  hosts: ReadonlyMap<string, ReadonlySet<string>>,
): IterableIterator<readonly [string, LazyJson]> {
  for (const [hostname, namespaces] of hosts) {
    const byNamespace: Record<string, LazyJson> = {};
    for (const namespace of namespaces) {
      const shards = engine.tracker.get(state, undefined, endpointShards, { hostname, namespace });
      if (shards.length > 0) byNamespace[namespace] = shownShards(shards);
    }
    if (Object.keys(byNamespace).length > 0) yield [hostname, byNamespace];
  }
}

function shownShards(shards: readonly EndpointShard[]): LazyJson {
  const accounts = shards.flatMap(({ endpoints }) => endpoints.map(({ serviceAccount }) => serviceAccount));
  const used = [...new Set(accounts.filter(account => account !== ''))].sort();
  const named = shards.map(
    ({ provider, cluster, endpoints }) => [`${provider}/${cluster}`, mapped(endpoints, shownEndpoint)] as const,
  );
  return { Shards: Object.fromEntries(named), ServiceAccounts: setOf(used) };
}

function shownEndpoint(endpoint: Endpoint): JsonObject {
  return {
    Labels: endpoint.labels,
    Addresses: endpoint.addresses,
    ServicePortName: endpoint.portName,
    LegacyClusterPortKey: endpoint.servicePort,
    ServiceAccount: endpoint.serviceAccount,
    Network: endpoint.network,
    Locality: { Label: endpoint.locality, ClusterID: endpoint.cluster },
    EndpointPort: endpoint.port,
    LbWeight: endpoint.weight,
    TLSMode: endpoint.tlsMode,
    Namespace: endpoint.namespace,
    WorkloadName: endpoint.workloadName,
    HostName: endpoint.hostname,
    SubDomain: endpoint.subdomain,
    HealthStatus: healths[endpoint.health],
    NodeName: endpoint.nodeName,
  };
}

/** Proxy → the ports of services that its workload serves. */
export function instancesOf(parts: RegistryParts): LazyJson {
  return new LazyMembers(targetsOfProxies(parts, parts.world.state));
}

/** The first connection counts of a proxy with several. */
function* targetsOfProxies({ engine }: RegistryParts, state: State): IterableIterator<readonly [string, LazyJson]> {
  const shown = new Set<string>();
  for (const proxy of state.proxies.values()) {
    if (shown.has(proxy.facets.id)) continue;
    shown.add(proxy.facets.id);
    yield [proxy.facets.id, engine.tracker.get(state, proxy, serviceTargets, '').map(shownTarget)];
  }
}

function shownTarget({ service, port, targetPort }: ServiceTarget): JsonObject {
  const { name, port: number, protocol } = port;
  return { Service: shownService(service), Port: { name, port: number, protocol, TargetPort: targetPort } };
}

/** The gateways of networks by their addresses. */
export function networksOf({ world, engine }: RegistryParts): readonly JsonObject[] {
  return engine.tracker.get(world.state, undefined, networkGateways, '').map(({ network, cluster, address, port }) => ({
    Network: network,
    Cluster: cluster,
    Addr: address,
    Port: port,
    HBONEPort: 0,
    ServiceAccount: { Namespace: '', Name: '' },
  }));
}

/** Services that are exported to the set of clusters, or imported from it, by cluster, namespace, name. */
export function multiClusterServicesOf({ world }: RegistryParts): readonly JsonObject[] {
  const { state } = world;
  const reader = untrackedReader(state);
  if (!reader.feature('ENABLE_MCS_SERVICE_DISCOVERY')) return [];
  const { Service, ServiceExport, ServiceImport } = state.objects;
  const keys = new Set([...Service.keys(), ...ServiceExport.keys(), ...ServiceImport.keys()]);
  const rows: JsonObject[] = [];
  for (const key of [...keys].sort()) {
    const [exported, imported] = [isExported(reader, key), isImported(reader, key)];
    if (!exported && !imported) continue;
    const [cluster = '', namespace = '', name = ''] = key.split('/');
    const address = imported ? (reader.object('ServiceImport', key)?.spec.ips[0] ?? '') : '';
    rows.push({
      Cluster: cluster,
      Name: name,
      Namespace: namespace,
      Exported: exported,
      Imported: imported,
      ClusterSetVIP: address,
      Discoverability: null,
    });
  }
  return rows;
}
