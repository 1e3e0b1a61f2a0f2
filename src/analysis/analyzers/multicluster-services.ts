// Services of one name that differ between clusters: headless in one, other types or ports in another.
//
// Source: Istio pkg/config/analysis/analyzers/multicluster/service.go. istioctl compares with whichever cluster a Go
// map gives first; here it is the first in alphabetical order.

import { canonicalJson, type Json } from '../../core/base/json.ts';
import { compareText } from '../../core/model/object.ts';
import type { Analyzer } from '../analyzer.ts';
import { multiClusterInconsistentService } from '../ist-0146-0176.ts';
import { fullName, type Item, objectsOf, textOf } from '../objects.ts';

type Service = Item<'Service'>;

export const multiclusterServices: Analyzer = {
  name: 'services.MultiClusterServiceAnalyzer',
  type: 'multicluster.ServiceAnalyzer',
  description: 'Check the validity of services in the multi-cluster environment',
  needs: ['Service'],
  analyze: (objects, report) => {
    const byName = new Map<string, Service[]>();
    for (const item of objects.all('Service')) {
      if (item.made === undefined) byName.set(fullName(item), [...(byName.get(fullName(item)) ?? []), item]);
    }
    for (const items of byName.values()) {
      const sorted = items.sort((a, b) => compareText(a.cluster, b.cluster));
      const first = sorted[0]!;
      if (sorted.every(({ cluster }) => cluster === first.cluster)) continue;
      const { clusters, reasons } = differences(first, sorted);
      if (clusters.size === 0) continue;
      const named = [...clusters].sort();
      report(
        first,
        multiClusterInconsistentService(first.name, first.namespace, named, [...reasons].sort().join('; ')),
      );
    }
  },
};

function differences(first: Service, all: readonly Service[]) {
  const clusters = new Set<string>();
  const reasons = new Set<string>();
  for (const other of all) {
    if (isHeadless(first) !== isHeadless(other)) {
      for (const { cluster } of all) clusters.add(cluster);
      reasons.add('service has mixed mode like headless and clusterIP');
    }
    if (textOf(first.spec.type) !== textOf(other.spec.type)) {
      clusters.add(other.cluster);
      reasons.add('service type is inconsistent');
    }
    if (portsText(first) !== portsText(other)) {
      clusters.add(other.cluster);
      reasons.add('service ports are inconsistent');
    }
  }
  if (clusters.size > 0) clusters.add(first.cluster);
  return { clusters, reasons };
}

function isHeadless({ spec }: Service): boolean {
  return spec.clusterIP === 'None';
}

function portsText({ spec }: Service): string {
  const ports = [...objectsOf(spec.ports)].sort((a, b) => compareText(textOf(a.name), textOf(b.name)));
  return canonicalJson(ports as readonly Json[]);
}
