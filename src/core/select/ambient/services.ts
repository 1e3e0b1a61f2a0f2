// Services as ztunnel knows them: one for each namespace and host. They are a second reading of Services and
// ServiceEntries beside the registry's, which Envoys are configured from.
//
// Of several objects with one host in one namespace a Kubernetes Service counts, else the oldest ServiceEntry. One of
// all namespaces is canonical. Equal ages are decided by name, where istiod decides at random.
// Source: Istio pilot/pkg/serviceregistry/ambient/services.go.

import { kubernetesHost, kubernetesServiceOf } from '../../model/hosts.ts';
import { byAge, configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { hostsOf } from '../../registry/service-entry.ts';
import { entryHosts } from './entry-services.ts';
import { kubernetesAmbientService } from './kubernetes-services.ts';
import type { AmbientService } from './service.ts';

/** Argument: a host. Its services, of each namespace one; by namespace. */
export const ambientServicesOfHost: Query<string, readonly AmbientService[]> = {
  name: 'select/ambient/servicesOfHost',
  run: (reader, host) => {
    const named = kubernetesServiceOf(host, reader.setting('domainSuffix'));
    const kubernetes =
      named === undefined ? undefined : reader.get(kubernetesAmbientService, configKey(named.namespace, named.name));
    const chosen = new Map<string, AmbientService>();
    for (const entry of [...reader.indexed('serviceEntriesByHost', host)].sort(byAge)) {
      if (chosen.has(entry.namespace)) continue;
      const service = reader.get(entryHosts, configKey(entry.namespace, entry.name)).find(has => has.hostname === host);
      if (service === undefined) continue;
      chosen.set(entry.namespace, { ...service, canonical: kubernetes === undefined && chosen.size === 0 });
    }
    if (kubernetes !== undefined) chosen.set(kubernetes.namespace, kubernetes);
    return [...chosen.keys()].sort().map(namespace => chosen.get(namespace)!);
  },
};

/** Argument: `namespace/host`. */
export const ambientServiceNamed: Query<string, AmbientService | undefined> = {
  name: 'select/ambient/serviceNamed',
  run: (reader, key) => {
    const slash = key.indexOf('/');
    const services = reader.get(ambientServicesOfHost, key.slice(slash + 1));
    return services.find(({ namespace }) => namespace === key.slice(0, slash));
  },
};

/** Argument ''. All, by host and namespace. */
export const ambientServices: Query<'', readonly AmbientService[]> = {
  name: 'select/ambient/services',
  run: reader => {
    const suffix = reader.setting('domainSuffix');
    const hosts = new Set([
      ...kubernetesServices(reader, '').map(({ name, namespace }) => kubernetesHost(name, namespace, suffix)),
      ...reader.objects('ServiceEntry').flatMap(hostsOf),
    ]);
    return [...hosts].sort().flatMap(host => reader.get(ambientServicesOfHost, host));
  },
};

/** The services that a ServiceEntry still has, hosts in order. */
export function servicesOwnedBy(reader: Reader, entry: Obj<'ServiceEntry'>): readonly AmbientService[] {
  return hostsOf(entry).flatMap(host => {
    const service = reader.get(ambientServiceNamed, configKey(entry.namespace, host));
    return service?.registry === 'ServiceEntry' && service.name === entry.name ? [service] : [];
  });
}

/** Argument: a namespace. Its services that select workloads, by host. */
export const selectingServices: Query<string, readonly AmbientService[]> = {
  name: 'select/ambient/selectingServices',
  run: (reader, namespace) => {
    const found = [
      ...kubernetesServices(reader, `${namespace}/`).flatMap(({ name }) => ownService(reader, namespace, name)),
      ...reader.objects('ServiceEntry', `${namespace}/`).flatMap(entry => servicesOwnedBy(reader, entry)),
    ];
    return found.filter(({ selector }) => Object.keys(selector).length > 0);
  },
};

function ownService(reader: Reader, namespace: string, name: string): readonly AmbientService[] {
  const service = reader.get(kubernetesAmbientService, configKey(namespace, name));
  return service === undefined ? [] : [service];
}

/** `prefix` begins with the namespace. */
function kubernetesServices(reader: Reader, prefix: string): readonly Obj<'Service'>[] {
  return reader.objects('Service', `${kubernetesKey(reader.setting('clusterId'), '', '')}${prefix}`);
}
