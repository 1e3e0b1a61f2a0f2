// The service ports that the proxy's own workload serves. The names are derived for the proxy alone; the services they
// stand for are shared, so proxies of one workload get the identical list.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/controller.go (GetProxyServiceTargets).

import { isObject, type Json } from '../base/json.ts';
import { hasLabels, type Labels, selects } from '../base/labels.ts';
import { compareText, type Obj } from '../model/object.ts';
import type { Port, Service, ServiceTarget } from '../model/service.ts';
import type { Derivation, ProxyReader, Query } from '../query/reader.ts';
import { hasClusterSet, importedService } from './cluster-set.ts';
import { endpointIndexOf } from './endpoint-index.ts';
import { hostInstances } from './host-instances.ts';
import { kubernetesEndpoints, targetPort } from './kubernetes-endpoints.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { entryOfKey, type OwnPod, ownEntry, ownPod, ownServiceEntries, proxyLabels, textOf } from './proxy-workload.ts';
import { hostsOf } from './service-entry.ts';
import { servicesOfHost } from './services.ts';
import type { AnyWorkloadEntry } from './workload-entry.ts';

export { proxyLabels, proxyLocality, proxySelectedBy } from './proxy-workload.ts';

/**
 * The name of a target: its service, the name of the service's port (a number may be there twice, for TCP and for UDP),
 * the port of the workload. A Kubernetes service is that of the proxy's own cluster, `cluster/namespace/name`, not
 * merged with those of other clusters, or the one of the set that the cluster imports; one of a ServiceEntry is
 * `hostname|namespace|index`, by its place among those of one host.
 */
type TargetName = readonly [
  registry: 'kubernetes' | 'set' | 'entry',
  service: string,
  portName: string,
  targetPort: number,
];

/** A Service is served by its own name and by that in the set, a machine by the first only. */
function registriesOf(reader: ProxyReader): readonly ('kubernetes' | 'set')[] {
  return hasClusterSet(reader) ? ['kubernetes', 'set'] : ['kubernetes'];
}

/** The targets of the proxy's own workload, by creation time of the service, then hostname. */
export const serviceTargets: Query<'', readonly ServiceTarget[]> = {
  name: 'registry/serviceTargets',
  run: reader => {
    const targets: ServiceTarget[] = [];
    for (const [registry, named, portName, target] of reader.derived(targetNames)) {
      const service = serviceOfTarget(reader, registry, named);
      const port = service?.ports.find(candidate => candidate.name === portName);
      if (service === undefined || port === undefined) continue;
      targets.push(reader.make(serviceTarget, { service, port, targetPort: target }));
    }
    return targets.sort(
      (a, b) => a.service.creationTime - b.service.creationTime || compareText(a.service.hostname, b.service.hostname),
    );
  },
};

function serviceOfTarget(reader: ProxyReader, registry: TargetName[0], named: string): Service | undefined {
  if (registry === 'entry') return serviceOfEntry(reader, named);
  return reader.get(registry === 'set' ? importedService : kubernetesService, named);
}

function serviceOfEntry(reader: ProxyReader, named: string): Service | undefined {
  const [hostname = '', namespace = '', index = ''] = named.split('|');
  return reader.get(servicesOfHost, hostname).filter(service => service.namespace === namespace)[Number(index)];
}

const serviceTarget = { name: 'registry/serviceTarget', run: (target: ServiceTarget): ServiceTarget => target };

const targetNames: Derivation<readonly TargetName[]> = {
  name: 'registry/serviceTargetNames',
  run: reader => [...kubernetesTargets(reader), ...entryTargets(reader)],
};

function kubernetesTargets(reader: ProxyReader): readonly TargetName[] {
  const cluster = reader.facet('clusterId') || reader.setting('clusterId');
  const selectsEntries = reader.feature('PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES');
  const named = selectsEntries ? reader.derived(ownEntry) : null;
  const entry = named === null ? undefined : entryOfKey(reader, named);
  if (entry !== undefined) return targetsOfEntry(reader, entry, cluster);
  const pod = reader.derived(ownPod);
  // Of a machine: those that a ServiceEntry gives it, else its own.
  const labels = pod === null ? reader.derived(proxyLabels) : pod.labels;
  const services = servicesIn(reader, cluster, reader.facet('namespace'));
  const chosen = services.filter(obj => hasSelector(obj) && selects(obj.spec.selector, labels));
  if (pod === null) return targetsOfMetadata(reader, chosen);
  if (chosen.length > 0) return chosen.flatMap(obj => portTargets(reader, obj, podPorts(pod)));
  // Services without a selector: their endpoints are written by hand. Slices of other services may lag behind the
  // selector.
  return services.filter(obj => !hasSelector(obj)).flatMap(obj => endpointTargets(reader, obj, cluster));
}

function hasSelector(obj: Obj<'Service'>): boolean {
  return hasLabels(obj.spec.selector);
}

/** For an unknown pod, the proxy's own metadata. One port without a target voids the whole list. */
function targetsOfMetadata(reader: ProxyReader, chosen: readonly Obj<'Service'>[]): readonly TargetName[] {
  const portOf = metadataPorts(reader);
  if (chosen.some(obj => obj.spec.ports.some(port => portOf(port) === undefined))) return [];
  return chosen.flatMap(obj => portTargets(reader, obj, portOf));
}

function servicesIn(reader: ProxyReader, cluster: string, namespace: string): readonly Obj<'Service'>[] {
  return reader.objects('Service', `${cluster}/${namespace}/`);
}

type PortOf = (port: Obj<'Service'>['spec']['ports'][number]) => number | undefined;

/**
 * In port order, UDP ports included: TCP connections to them are forwarded unchanged. Of several ports with one target
 * and protocol the first.
 */
function portTargets(reader: ProxyReader, obj: Obj<'Service'>, portOf: PortOf): readonly TargetName[] {
  const key = `${obj.cluster}/${obj.namespace}/${obj.name}`;
  const names: TargetName[] = [];
  for (const registry of registriesOf(reader)) {
    const service = serviceOfTarget(reader, registry, key);
    const seen = new Set<string>();
    for (const port of obj.spec.ports) {
      const known = service && portNamed(service, port.name);
      const target = portOf(port);
      if (known === undefined || target === undefined) continue;
      const id = `${target}|${known.protocol}`;
      if (seen.has(id)) continue;
      seen.add(id);
      names.push([registry, key, known.name, target]);
    }
  }
  return names;
}

function podPorts({ ports }: OwnPod): PortOf {
  return ({ targetPort: wanted, protocol }) =>
    typeof wanted === 'number'
      ? wanted
      : ports.find(port => port.name === wanted && port.protocol === protocol)?.number;
}

/** By POD_PORTS, a list in JSON or as text; without any, a port with a name is on none. */
function metadataPorts(reader: ProxyReader): PortOf {
  const announced = reader.metadata('POD_PORTS');
  const listed = typeof announced === 'string' ? parsePorts(announced) : announced;
  if (!Array.isArray(listed) || listed.length === 0) {
    return port => (typeof port.targetPort === 'number' ? port.targetPort : 0);
  }
  return ({ targetPort: wanted, protocol }) => {
    if (typeof wanted === 'number') return wanted;
    const found = (listed as readonly Json[]).find(
      port => isObject(port) && textOf(port.name) === wanted && textOf(port.protocol) === protocol,
    );
    return isObject(found) && typeof found.containerPort === 'number' ? found.containerPort : undefined;
  };
}

function parsePorts(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return [];
  }
}

function targetsOfEntry(reader: ProxyReader, entry: AnyWorkloadEntry, cluster: string): readonly TargetName[] {
  const labels: Labels = { ...entry.spec.labels, ...entry.labels };
  const names: TargetName[] = [];
  for (const obj of servicesIn(reader, cluster, entry.namespace)) {
    const service = reader.get(kubernetesService, `${cluster}/${obj.namespace}/${obj.name}`);
    if (service?.resolution !== 'ClientSideLB' || !hasLabels(service.selector)) continue;
    if (!selects(service.selector, labels)) continue;
    for (const port of service.ports) {
      const target = targetPort(port, entry.spec.ports ?? {});
      if (port.protocol !== 'UDP' && target !== undefined) {
        names.push(['kubernetes', `${cluster}/${obj.namespace}/${obj.name}`, port.name, target]);
      }
    }
  }
  return names;
}

function endpointTargets(reader: ProxyReader, obj: Obj<'Service'>, cluster: string): readonly TargetName[] {
  const key = `${cluster}/${obj.namespace}/${obj.name}`;
  const first = reader.facet('ips')[0] ?? '';
  const endpoints = reader.get(kubernetesEndpoints, key).filter(({ addresses }) => addresses[0] === first);
  return registriesOf(reader).flatMap(registry => {
    const service = serviceOfTarget(reader, registry, key);
    return endpoints.flatMap(({ portName, port }): readonly TargetName[] =>
      service && portNamed(service, portName) ? [[registry, key, portName, port]] : [],
    );
  });
}

function portNamed(service: Service, name: string): Port | undefined {
  return service.ports.find(port => port.name === name);
}

/**
 * ServiceEntries of the proxy's namespace with an endpoint at one of its addresses, whichever cluster the proxy is in.
 */
function entryTargets(reader: ProxyReader): readonly TargetName[] {
  const entries = ownServiceEntries(reader);
  if (entries.length === 0) return [];
  const ips = reader.facet('ips');
  const names: TargetName[] = [];
  for (const entry of entries) {
    for (const host of hostsOf(entry)) {
      const endpoints = reader
        .get(hostInstances, { hostname: host, namespace: entry.namespace })
        .filter(instances => instances.entry === entry.name)
        .flatMap(instances => endpointIndexOf(instances.endpoints).atAny(ips));
      if (endpoints.length === 0) continue;
      reader
        .get(servicesOfHost, host)
        .filter(service => service.namespace === entry.namespace)
        .forEach((service, index) => {
          if (service.registry !== 'External' || service.objectName !== entry.name) return;
          for (const endpoint of endpoints) {
            const port = portNamed(service, endpoint.portName);
            if (port !== undefined)
              names.push(['entry', `${host}|${entry.namespace}|${index}`, port.name, endpoint.port]);
          }
        });
    }
  }
  return names;
}
