// Sidecars: a selector that selects no pod, two that select one pod, two without a selector in a namespace, and
// Sidecars over workloads that have none because they are in ambient mode.
// Source: Istio pkg/config/analysis/analyzers/sidecar/selector.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { isNamespaceAmbient, isPodAmbient } from '../in-mesh.ts';
import {
  conflictingSidecarWorkloadSelectors,
  multipleSidecarsWithoutWorkloadSelectors,
  referencedResourceNotFound,
} from '../ist-0001-0145.ts';
import { ineffectivePolicy } from '../ist-0146-0176.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, type Item, selectorText } from '../objects.ts';

type Sidecar = Item<'Sidecar'>;

const POD_AMBIENT = 'selected workload is in ambient mode, the policy has no impact';
const NAMESPACE_AMBIENT = 'namespace is in ambient mode, the policy has no impact';

export const sidecars: Analyzer = {
  name: 'sidecar.SelectorAnalyzer',
  description:
    "Validates that sidecars select at least one pod, and that there aren't multiple sidecar resources that select overlapping pods",
  needs: ['Sidecar', 'Pod'],
  analyze: (objects, report) => {
    const ofNamespace = new Map<string, Sidecar[]>();
    const ofPod = new Map<Item<'Pod'>, Sidecar[]>();
    for (const item of objects.all('Sidecar')) {
      const labels = item.spec.workloadSelector?.labels ?? {};
      if (Object.keys(labels).length === 0) {
        ofNamespace.set(item.namespace, [...(ofNamespace.get(item.namespace) ?? []), item]);
        continue;
      }
      const pods = objects.all('Pod').filter(pod => pod.namespace === item.namespace && selects(labels, pod.labels));
      for (const pod of pods) ofPod.set(pod, [...(ofPod.get(pod) ?? []), item]);
      if (pods.length > 0) continue;
      report(item, referencedResourceNotFound('selector', selectorText(labels)), 'spec.workloadSelector.labels');
    }
    reportPods(ofPod, report);
    reportNamespaces(objects, ofNamespace, report);
  },
};

function reportPods(ofPod: ReadonlyMap<Item<'Pod'>, readonly Sidecar[]>, report: Report): void {
  for (const [pod, items] of ofPod) {
    const names = items.map(({ name }) => name).sort();
    for (const item of items) {
      if (isPodAmbient(pod)) report(item, ineffectivePolicy(POD_AMBIENT));
      else if (items.length > 1) {
        report(item, conflictingSidecarWorkloadSelectors(names, pod.namespace, pod.name), 'metadata.name');
      }
    }
  }
}

function reportNamespaces(
  objects: AnalyzedObjects,
  ofNamespace: ReadonlyMap<string, readonly Sidecar[]>,
  report: Report,
): void {
  for (const [namespace, items] of ofNamespace) {
    const names = items.map(({ name }) => name).sort();
    const ambient = isNamespaceAmbient(objects.find('Namespace', { namespace: '', name: namespace }));
    for (const item of items) {
      if (ambient) report(item, ineffectivePolicy(NAMESPACE_AMBIENT));
      else if (items.length > 1) report(item, multipleSidecarsWithoutWorkloadSelectors(names, namespace));
    }
  }
}
