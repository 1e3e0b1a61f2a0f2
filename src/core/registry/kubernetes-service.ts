// Services of Kubernetes: one query a Service object, one a host over all clusters.
// Source: Istio pilot/pkg/serviceregistry/kube/conversion.go, aggregate/controller.go (mergeService).

import { exportNames } from '../model/exports.ts';
import { kubernetesHost } from '../model/hosts.ts';
import type { Obj } from '../model/object.ts';
import { kubernetesProtocol } from '../model/protocol.ts';
import type { Port, Resolution, Service } from '../model/service.ts';
import type { Query, Reader } from '../query/reader.ts';
import { inClusterOrder, spiffeId, trustDomainIn } from './clusters.ts';
import { trafficDistributionOf } from './traffic-distribution.ts';

export const NO_ADDRESS = '0.0.0.0';
const EXPORT_TO = 'networking.istio.io/exportTo';
const CANONICAL_ACCOUNTS = 'alpha.istio.io/canonical-serviceaccounts';
const KUBERNETES_ACCOUNTS = 'alpha.istio.io/kubernetes-serviceaccounts';

/** Argument `cluster/namespace/name`: the service as that cluster has it, without aliases. */
export const kubernetesService: Query<string, Service | undefined> = {
  name: 'registry/kubernetesService',
  run: (reader, key) => {
    const obj = reader.object('Service', key);
    return obj === undefined ? undefined : convert(reader, obj);
  },
};

/** Argument `namespace/name`: the service of all clusters, the settings those of the first; without aliases. */
export const mergedService: Query<string, Service | undefined> = {
  name: 'registry/mergedService',
  run: (reader, key) => {
    const services: Service[] = [];
    for (const obj of inClusterOrder(reader, reader.indexed('servicesByName', key))) {
      const service = reader.get(kubernetesService, `${obj.cluster}/${key}`);
      if (service !== undefined) services.push(service);
    }
    return mergeServices(services);
  },
};

function convert(reader: Reader, obj: Obj<'Service'>): Service {
  const { spec } = obj;
  const isAlias = spec.type === 'ExternalName';
  const headless = spec.clusterIP === 'None';
  const addresses = headless || spec.clusterIP === '' ? [NO_ADDRESS] : spec.clusterIPs;
  return {
    hostname: kubernetesHost(obj.name, obj.namespace, reader.setting('domainSuffix')),
    namespace: obj.namespace,
    name: obj.name,
    objectName: obj.name,
    registry: 'Kubernetes',
    ports: spec.ports.map(convertPort),
    resolution: resolutionOf(headless, isAlias),
    meshExternal: isAlias,
    defaultAddress: addresses[0] ?? NO_ADDRESS,
    clusterVips: { [obj.cluster]: addresses },
    labels: obj.labels,
    selector: spec.selector,
    exportTo: exportNames(
      exportAnnotation(obj.annotations[EXPORT_TO]),
      reader.mesh('defaultServiceExportTo'),
      obj.namespace,
    ),
    creationTime: obj.creationTime,
    serviceAccounts: accountsOf(reader, obj),
    ...(isAlias ? { externalName: spec.externalName } : {}),
    aliases: [],
    externalAddresses: externalAddresses(obj),
    trafficDistribution: trafficDistributionOf(reader, obj, spec.trafficDistribution),
    nodeLocal: spec.internalTrafficPolicy === 'Local',
    publishNotReadyAddresses: spec.publishNotReadyAddresses,
    raceFirstTcpConnect: false,
    passthroughTargetPorts: {},
  };
}

function convertPort(port: Obj<'Service'>['spec']['ports'][number]): Port {
  return {
    name: port.name,
    port: port.port,
    protocol: kubernetesProtocol(port.appProtocol, port.name, port.protocol, port.port),
    targetPort: port.targetPort,
  };
}

function resolutionOf(headless: boolean, isAlias: boolean): Resolution {
  if (headless) return 'Passthrough';
  return isAlias ? 'Alias' : 'ClientSideLB';
}

/** An entry without a name is no namespace: an annotation of nothing but commas exports to none. */
function exportAnnotation(text: string | undefined): readonly string[] | undefined {
  return text ? text.split(',').map(part => part.trim()) : undefined;
}

function accountsOf(reader: Reader, obj: Obj<'Service'>): readonly string[] {
  const canonical = listed(obj.annotations[CANONICAL_ACCOUNTS]);
  const names = listed(obj.annotations[KUBERNETES_ACCOUNTS]);
  if (canonical.length === 0 && names.length === 0) return [];
  const trustDomain = reader.get(trustDomainIn, obj.cluster);
  return [...canonical, ...names.map(name => spiffeId(trustDomain, obj.namespace, name))].sort();
}

function listed(text: string | undefined): readonly string[] {
  return text ? text.split(',') : [];
}

/**
 * Where a service is reached from outside of its cluster: addresses or host names of its balancers, and its external
 * IPs.
 */
export function outsideAddresses({ spec }: Obj<'Service'>): readonly string[] {
  const { loadBalancerIngress, externalIPs, type } = spec;
  const balancers = type === 'LoadBalancer' ? loadBalancerIngress.map(({ ip, hostname }) => ip || hostname || '') : [];
  return [...balancers, ...externalIPs].filter(address => address !== '');
}

function externalAddresses(obj: Obj<'Service'>): Service['externalAddresses'] {
  const addresses = outsideAddresses(obj);
  return addresses.length === 0 ? {} : { [obj.cluster]: addresses };
}

/** Addresses within, and accounts, of all clusters; everything else is the first one's. Undefined if there is none. */
export function mergeServices(services: readonly Service[]): Service | undefined {
  if (services.length < 2) return services[0];
  return {
    ...services[0]!,
    clusterVips: Object.assign({}, ...services.map(service => service.clusterVips)) as Service['clusterVips'],
    serviceAccounts: [...new Set(services.flatMap(service => service.serviceAccounts))].sort(),
  };
}
