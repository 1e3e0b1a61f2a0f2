// The endpoints of all ServiceEntries of one host in one namespace. With DNS_ROUND_ROBIN, which resolves a name to one
// set of addresses, only the first endpoint of a port counts, from any entry.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/conversion.go (mergeServicesInstancesByNamespaceHost).

import { byAge } from '../model/object.ts';
import type { Endpoint } from '../model/service.ts';
import type { Query } from '../query/reader.ts';
import { endpointsOfEntry } from './entry-endpoints.ts';

export interface EntryInstances {
  /** Name of the ServiceEntry. */
  readonly entry: string;
  readonly endpoints: readonly Endpoint[];
}

/** Argument `hostname|namespace`; the oldest entry first. */
export const hostInstances: Query<string, readonly EntryInstances[]> = {
  name: 'registry/hostInstances',
  run: (reader, arg) => {
    const [hostname = '', namespace = ''] = arg.split('|');
    const entries = reader.indexed('serviceEntriesByHost', hostname).filter(entry => entry.namespace === namespace);
    const taken = new Set<number>();
    return [...entries].sort(byAge).map(({ name, spec }) => {
      const numbers = new Map((spec.ports ?? []).map(port => [port.name ?? '', port.number ?? 0]));
      const numberOf = ({ portName }: Endpoint): number => numbers.get(portName) ?? 0;
      const all = reader.get(endpointsOfEntry, `${namespace}/${name}|${hostname}`);
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
