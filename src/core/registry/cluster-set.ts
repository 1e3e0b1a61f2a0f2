// Names of services in the set of clusters, `<name>.<namespace>.svc.clusterset.local`: a copy of the Service with the
// addresses that the ServiceImports give it, there for as long as one cluster imports it and one, perhaps another, has
// it. A cluster that does not import a service does not see its exports.
// Rules: Istio pilot/pkg/serviceregistry/kube/controller/serviceexportcache.go,
// pilot/pkg/serviceregistry/kube/controller/serviceimportcache.go. In Istio the last event decides which cluster's
// Service is copied; here it is that of the importing cluster, else the merged one.

import { kubernetesHost, kubernetesServiceOf } from '../model/hosts.ts';
import type { Service } from '../model/service.ts';
import type { Query, Reader } from '../query/reader.ts';
import { isClusterLocal } from './cluster-local.ts';
import { inClusterOrder } from './clusters.ts';
import { kubernetesService, mergedService, mergeServices } from './kubernetes-service.ts';

const CLUSTER_SET_DOMAIN = 'clusterset.local';

/** True if services have a name in the set. Each of the flags needs those before it. */
export function hasClusterSet(reader: Reader): boolean {
  return reader.feature('ENABLE_MCS_SERVICE_DISCOVERY') && reader.feature('ENABLE_MCS_HOST');
}

/** True if `cluster.local` names stay within the cluster; clusterset names reach other clusters. */
export function confinesClusterLocal(reader: Reader): boolean {
  return hasClusterSet(reader) && reader.feature('ENABLE_MCS_CLUSTER_LOCAL');
}

export function isOfClusterSet(hostname: string): boolean {
  return hostname.endsWith(`.${CLUSTER_SET_DOMAIN}`);
}

/** Every name that a Service of Kubernetes may be known by, its own first. */
export function hostsOfService(reader: Reader, name: string, namespace: string): readonly string[] {
  const own = kubernetesHost(name, namespace, reader.setting('domainSuffix'));
  return hasClusterSet(reader) ? [own, clusterSetHost(name, namespace)] : [own];
}

/** The Service that a host names, by its own name or by that in the set. */
export function serviceNamed(
  reader: Reader,
  hostname: string,
): { readonly name: string; readonly namespace: string; readonly ofSet: boolean } | undefined {
  const own = kubernetesServiceOf(hostname, reader.setting('domainSuffix'));
  if (own !== undefined) return { ...own, ofSet: false };
  if (!isOfClusterSet(hostname) || !hasClusterSet(reader)) return undefined;
  const named = kubernetesServiceOf(hostname, CLUSTER_SET_DOMAIN);
  return named && { ...named, ofSet: true };
}

/**
 * Argument `namespace/name`: the service of the set as all clusters import it, the settings those of the first; without
 * aliases.
 */
export const clusterSetService: Query<string, Service | undefined> = {
  name: 'registry/clusterSetService',
  run: (reader, key) => {
    const services: Service[] = [];
    for (const { cluster } of inClusterOrder(reader, reader.indexed('importsByName', key))) {
      const service = reader.get(importedService, `${cluster}/${key}`);
      if (service !== undefined) services.push(service);
    }
    return mergeServices(services);
  },
};

/** Argument `cluster/namespace/name`: the service of the set as one cluster imports it. */
export const importedService: Query<string, Service | undefined> = {
  name: 'registry/importedService',
  run: (reader, key) => {
    if (!isImported(reader, key)) return undefined;
    const { cluster, namespace, name, spec } = reader.object('ServiceImport', key)!;
    const service = reader.get(kubernetesService, key) ?? reader.get(mergedService, `${namespace}/${name}`);
    return (
      service && {
        ...service,
        hostname: clusterSetHost(name, namespace),
        defaultAddress: spec.ips[0]!,
        clusterVips: { [cluster]: spec.ips },
      }
    );
  },
};

/** Argument as for `importedService`; an import without an address is none. */
export function isImported(reader: Reader, key: string): boolean {
  return hasClusterSet(reader) && (reader.object('ServiceImport', key)?.spec.ips.length ?? 0) > 0;
}

/**
 * Argument as for `importedService`. With ENABLE_MCS_AUTO_EXPORT every Service that is not local to its cluster counts
 * as exported, also before its ServiceExport was written.
 */
export function isExported(reader: Reader, key: string): boolean {
  if (reader.object('ServiceExport', key) !== undefined) return true;
  const service = reader.feature('ENABLE_MCS_AUTO_EXPORT') ? reader.object('Service', key) : undefined;
  if (service === undefined) return false;
  const own = kubernetesHost(service.name, service.namespace, reader.setting('domainSuffix'));
  return !reader.get(isClusterLocal, own);
}

function clusterSetHost(name: string, namespace: string): string {
  return kubernetesHost(name, namespace, CLUSTER_SET_DOMAIN);
}
