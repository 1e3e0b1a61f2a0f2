// Limits on endpoints that no object shows alone: workloads that are selected by an object of many hosts or ports, and
// ServiceEntries of one host that name their ports alike. Istio makes them all (pilot/pkg/serviceregistry).

import { ENDPOINTS_OF_OBJECT_MAX } from '../kinds/validate/endpoint-count.ts';
import type { Endpoint } from '../model/service.ts';

/** Endpoints of all clusters of one host and namespace whose ports share a name. */
export const ENDPOINTS_OF_HOST_MAX = 1_000_000;

/** Lists of one host whose ports are not counted, if there are no more. */
const LISTS_UNCOUNTED_MAX = 16;

/**
 * How many of the workloads that an object selects become endpoints, the first ones; undefined: all. `times`: how often
 * each is one.
 */
export function workloadsInForce(workloads: number, times: number): number | undefined {
  return workloads * times <= ENDPOINTS_OF_OBJECT_MAX ? undefined : Math.floor(ENDPOINTS_OF_OBJECT_MAX / times);
}

/** What a ServiceEntry adds to one of its hosts. */
export interface EntryEndpoints {
  /** Name of the ServiceEntry. */
  readonly entry: string;
  readonly portNames: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

/**
 * The lists of one host without the endpoints past the limit. A port has the endpoints of all entries with a port of
 * its name, so of ports that share one the first endpoints are kept, as many as all of these ports may have together.
 */
export function endpointsInForce(lists: readonly EntryEndpoints[]): readonly EntryEndpoints[] {
  if (lists.length <= LISTS_UNCOUNTED_MAX) return lists;
  const left = roomByName(lists);
  return lists.map(list => {
    const kept = list.endpoints.filter(({ portName }) => {
      const room = left.get(portName) ?? 0;
      left.set(portName, room - 1);
      return room > 0;
    });
    return kept.length === list.endpoints.length ? list : { ...list, endpoints: kept };
  });
}

/** Endpoints that the ports of a name may have each. The lists of one entry have the same ports. */
function roomByName(lists: readonly EntryEndpoints[]): Map<string, number> {
  const ports = new Map<string, number>();
  for (const { portNames } of new Map(lists.map(list => [list.entry, list])).values())
    for (const name of portNames) ports.set(name, (ports.get(name) ?? 0) + 1);
  return new Map([...ports].map(([name, count]) => [name, Math.floor(ENDPOINTS_OF_HOST_MAX / count)]));
}
