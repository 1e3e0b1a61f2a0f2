// Two VirtualServices of the mesh gateway for one host: which of them routes is undefined.
//
// Source: Istio pkg/config/analysis/analyzers/virtualservice/conflictingmeshgatewayhosts.go. Where a VirtualService
// conflicts over several hosts, istioctl reports whichever it meets first; here it is the first in alphabetical order.

import { matches } from '../../core/model/hosts.ts';
import { compareText } from '../../core/model/object.ts';
import type { Analyzer } from '../analyzer.ts';
import { ALL_NAMESPACES, fullHost, isExportedToAll } from '../hosts.ts';
import { conflictingMeshGatewayVirtualServiceHosts } from '../ist-0001-0145.ts';
import { type AnalyzedObjects, fullName, type Item } from '../objects.ts';

type VirtualServices = readonly Item<'VirtualService'>[];

export const virtualServiceMeshHosts: Analyzer = {
  name: 'virtualservice.ConflictingMeshGatewayHostsAnalyzer',
  description: 'Checks if multiple virtual services associated with the mesh gateway have conflicting hosts',
  needs: ['VirtualService'],
  analyze: (objects, report) => {
    const hosts = meshHosts(objects);
    const shared = [...hosts].filter(([{ scope }]) => scope === ALL_NAMESPACES);
    const reported = new Set<Item>();
    for (const [{ scope, host }, own] of hosts) {
      const covering = scope === ALL_NAMESPACES ? [] : shared.filter(([other]) => matches(host, other.host));
      const all = [...own, ...covering.flatMap(([, items]) => items)];
      if (all.length < 2) continue;
      const names = all.map(fullName).sort().join(',');
      for (const item of all) {
        if (reported.has(item)) continue;
        reported.add(item);
        report(item, conflictingMeshGatewayVirtualServiceHosts(names, `${scope}/${host}`), 'metadata.name');
      }
    }
  },
};

interface ScopedHost {
  readonly scope: string;
  readonly host: string;
}

function meshHosts(objects: AnalyzedObjects): readonly (readonly [ScopedHost, VirtualServices])[] {
  const found = new Map<string, Item<'VirtualService'>[]>();
  for (const item of objects.all('VirtualService')) {
    const { gateways = [], hosts = [], exportTo = [] } = item.spec;
    if (gateways.length > 0 && !gateways.includes('mesh')) continue;
    const own = exportTo.map(ns => (ns === '.' ? item.namespace : ns));
    const scopes = isExportedToAll(exportTo) ? [ALL_NAMESPACES] : new Set(own);
    for (const scope of scopes) {
      for (const host of hosts) {
        const key = `${scope}/${fullHost(item.namespace, host, objects.domain)}`;
        found.set(key, [...(found.get(key) ?? []), item]);
      }
    }
  }
  return [...found]
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, items]) => {
      const slash = key.indexOf('/');
      return [{ scope: key.slice(0, slash), host: key.slice(slash + 1) }, items] as const;
    });
}
