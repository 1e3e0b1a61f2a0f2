// Destinations of VirtualServices: does the host exist, does it have the port, must a port be named, and are subsets of
// a mesh route ignored by a gateway's route to the same host?
//
// Source: Istio pkg/config/analysis/analyzers/virtualservice/destinationhosts.go.

import type { Destination } from '../../core/schema/istio-types.gen.ts';
import type { Analyzer } from '../analyzer.ts';
import { findHost, type HostMap, hostsOf } from '../hosts.ts';
import {
  ingressRouteRulesNotAffected,
  referencedResourceNotFound,
  virtualServiceDestinationPortSelectorRequired,
} from '../ist-0001-0145.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, fullName, type Item } from '../objects.ts';
import { destinationsOf } from './virtual-service-destinations.ts';

type VirtualService = Item<'VirtualService'>;

export const virtualServiceHosts: Analyzer = {
  name: 'virtualservice.DestinationHostAnalyzer',
  description: 'Checks the destination hosts associated with each virtual service',
  needs: ['VirtualService', 'Service'],
  analyze: (objects, report) => {
    const hosts = hostsOf(objects);
    const withSubsets = subsetRoutes(objects);
    for (const item of objects.all('VirtualService')) {
      checkDestinations(objects, hosts, item, report);
      checkIngress(item, withSubsets, report);
    }
  },
};

function checkDestinations(objects: AnalyzedObjects, hosts: HostMap, item: VirtualService, report: Report): void {
  const from = { namespace: item.namespace, exportTo: item.spec.exportTo ?? [], domain: objects.domain };
  for (const { destination, path, mirror } of destinationsOf(item.spec)) {
    const { host = '' } = destination;
    const entry = findHost(hosts, from, host);
    if (entry === undefined) report(item, referencedResourceNotFound(mirror ? 'mirror host' : 'host', host), path);
    else checkPort(item, destination, entry.ports, path, report);
  }
}

function checkPort(
  item: VirtualService,
  { host = '', port }: Destination,
  ports: readonly number[],
  path: string,
  report: Report,
): void {
  if (port === undefined) {
    if (ports.length > 1) report(item, virtualServiceDestinationPortSelectorRequired(host, ports), path);
    return;
  }
  const { number = 0 } = port;
  if (!ports.includes(number)) report(item, referencedResourceNotFound('host:port', `${host}:${number}`), path);
}

/** VirtualServices that route one of their own hosts to a subset, and that host. */
function subsetRoutes(objects: AnalyzedObjects): readonly (readonly [VirtualService, string])[] {
  return objects.all('VirtualService').flatMap(item => {
    const { http = [], hosts = [] } = item.spec;
    const destinations = http.flatMap(({ route = [] }) => route.map(({ destination = {} }) => destination));
    return destinations
      .filter(({ subset = '', host = '' }) => subset !== '' && hosts.includes(host))
      .map(({ host = '' }) => [item, host] as const);
  });
}

function checkIngress(
  item: VirtualService,
  withSubsets: readonly (readonly [VirtualService, string])[],
  report: Report,
): void {
  const { gateways = [], http = [] } = item.spec;
  if (gateways.length === 0) return;
  http.forEach(({ route = [] }, i) => {
    route.forEach(({ destination = {} }, j) => {
      const { subset = '', host = '' } = destination;
      if (subset !== '') return;
      for (const [other, to] of withSubsets) {
        if (to !== host) continue;
        const path = `spec.http[${i}].route[${j}].destination.host`;
        report(item, ingressRouteRulesNotAffected(fullName(other), fullName(item)), path);
      }
    });
  });
}
