// Subsets that a VirtualService routes to and no DestinationRule defines.
// Source: Istio pkg/config/analysis/analyzers/virtualservice/destinationrules.go.

import type { Analyzer } from '../analyzer.ts';
import { serviceOfHost } from '../hosts.ts';
import { referencedResourceNotFound } from '../ist-0001-0145.ts';
import { type AnalyzedObjects, fullName } from '../objects.ts';
import { destinationsOf } from './virtual-service-destinations.ts';

export const virtualServiceSubsets: Analyzer = {
  name: 'virtualservice.DestinationRuleAnalyzer',
  description: 'Checks the destination rules associated with each virtual service',
  needs: ['VirtualService'],
  analyze: (objects, report) => {
    const defined = definedSubsets(objects);
    for (const item of objects.all('VirtualService')) {
      for (const { destination, path, mirror } of destinationsOf(item.spec)) {
        const { host = '', subset = '' } = destination;
        if (subset === '' || defined.has(keyOf(objects, item.namespace, host, subset))) continue;
        const what = `${mirror ? 'mirror' : 'host'}+subset in destinationrule`;
        report(item, referencedResourceNotFound(what, `${host}+${subset}`), path);
      }
    }
  },
};

function definedSubsets(objects: AnalyzedObjects): ReadonlySet<string> {
  const defined = new Set<string>();
  for (const { namespace, spec } of objects.all('DestinationRule')) {
    for (const { name = '' } of spec.subsets ?? []) defined.add(keyOf(objects, namespace, spec.host ?? '', name));
  }
  return defined;
}

function keyOf({ domain }: AnalyzedObjects, namespace: string, host: string, subset: string): string {
  return `${fullName(serviceOfHost(namespace, host, domain))}+${subset}`;
}
