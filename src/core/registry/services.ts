// Every service of the mesh: Kubernetes Services of all clusters, merged by host, and the services of ServiceEntries.
// Each service is a query of its own and the lists only order them, so an unchanged service keeps its identity when
// others change. Source: Istio pilot/pkg/serviceregistry/aggregate/controller.go, model/push_context.go.

import { append } from '../base/append.ts';
import { compareText } from '../model/object.ts';
import type { Service } from '../model/service.ts';
import type { Query, Reader } from '../query/reader.ts';
import { aliasesOf } from './aliases.ts';
import { clusterSetService, hasClusterSet, serviceNamed } from './cluster-set.ts';
import { mergedService } from './kubernetes-service.ts';
import { servicesOfEntry } from './service-entry.ts';

/** All services, aliases resolved, by creation time, name, namespace. */
export const allServices: Query<'', readonly Service[]> = {
  name: 'registry/allServices',
  run: reader => {
    const names = new Set<string>();
    for (const obj of reader.objects('Service')) names.add(`${obj.namespace}/${obj.name}`);
    const services: Service[] = [];
    const queries = hasClusterSet(reader) ? [serviceOfName, setServiceOfName] : [serviceOfName];
    for (const name of [...names].sort()) {
      for (const query of queries) {
        const service = reader.get(query, name);
        if (service !== undefined) services.push(service);
      }
    }
    for (const entry of reader.objects('ServiceEntry')) {
      append(services, reader.get(servicesOfEntry, `${entry.namespace}/${entry.name}`));
    }
    return services.sort(byServiceAge);
  },
};

/** Argument `namespace/name`: the service of all clusters, with the aliases that resolve to it. */
const serviceOfName: Query<string, Service | undefined> = {
  name: 'registry/serviceOfName',
  run: (reader, key) => withAliases(reader, reader.get(mergedService, key)),
};

/** Argument `namespace/name`: the same under its name in the set of clusters. */
const setServiceOfName: Query<string, Service | undefined> = {
  name: 'registry/setServiceOfName',
  run: (reader, key) => withAliases(reader, reader.get(clusterSetService, key)),
};

function withAliases(reader: Reader, service: Service | undefined): Service | undefined {
  if (service === undefined) return undefined;
  // An alias has none, since chains lead to the first name that is no alias.
  const aliases = reader.get(aliasesOf, service.hostname);
  return aliases.length === 0 ? service : { ...service, aliases };
}

/** Argument: a hostname. The services of one host, in the order of `allServices`. */
export const servicesOfHost: Query<string, readonly Service[]> = {
  name: 'registry/servicesOfHost',
  run: (reader, hostname) => {
    const services: Service[] = [];
    const named = serviceNamed(reader, hostname);
    const service =
      named && reader.get(named.ofSet ? setServiceOfName : serviceOfName, `${named.namespace}/${named.name}`);
    if (service !== undefined) services.push(service);
    for (const entry of reader.indexed('serviceEntriesByHost', hostname)) {
      for (const candidate of reader.get(servicesOfEntry, `${entry.namespace}/${entry.name}`)) {
        if (candidate.hostname === hostname) services.push(candidate);
      }
    }
    return services.sort(byServiceAge);
  },
};

/** Istio's order; equal ones (the addresses of one entry) stay in the order of their objects. */
function byServiceAge(a: Service, b: Service): number {
  return a.creationTime - b.creationTime || compareText(a.name, b.name) || compareText(a.namespace, b.namespace);
}
