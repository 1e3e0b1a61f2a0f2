// The endpoints of all ServiceEntries with one host in one namespace. A DNS_ROUND_ROBIN name resolves to one set of
// addresses, so only the first endpoint of each port counts, in whichever entry it is.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/conversion.go (mergeServicesInstancesByNamespaceHost).

import { byAge } from '../model/object.ts';
import type { Endpoint } from '../model/service.ts';
import { refKey, type ServiceRef } from '../model/service-ref.ts';
import type { Query } from '../query/reader.ts';
import { endpointsOfEntry } from './entry-endpoints.ts';

export interface EntryInstances {
  /** Name of the ServiceEntry. */
  readonly entry: string;
  readonly endpoints: readonly Endpoint[];
}

/** The oldest entry first. */
export const hostInstances: Query<ServiceRef, readonly EntryInstances[]> = {
  name: 'registry/hostInstances',
  key: refKey,
  run: (reader, { hostname, namespace }) => {
    const entries = reader.indexed('serviceEntriesByHost', hostname).filter(entry => entry.namespace === namespace);
    const taken = new Set<number>();
    const isPlain = entries.every(({ spec }) => spec.resolution !== 'DNS_ROUND_ROBIN');
    return [...entries].sort(byAge).map(({ name, spec }) => {
      const all = reader.get(endpointsOfEntry, { entry: `${namespace}/${name}`, host: hostname });
      if (isPlain) return { entry: name, endpoints: all };
      const numbers = new Map((spec.ports ?? []).map(port => [port.name ?? '', port.number ?? 0]));
      const numberOf = ({ portName }: Endpoint): number => numbers.get(portName) ?? 0;
      const endpoints: Endpoint[] = [];
      for (const endpoint of all) {
        if (spec.resolution === 'DNS_ROUND_ROBIN' && taken.has(numberOf(endpoint))) continue;
        taken.add(numberOf(endpoint));
        endpoints.push(endpoint);
      }
      return { entry: name, endpoints };
    });
  },
};
