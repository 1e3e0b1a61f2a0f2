// Telemetries: a selector that selects no pod, two that select one pod, two without a selector in a namespace.
// Source: Istio pkg/config/analysis/analyzers/telemetry/selector.go, default_selector.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { referencedResourceNotFound } from '../ist-0001-0145.ts';
import {
  conflictingTelemetryWorkloadSelectors,
  multipleTelemetriesWithoutWorkloadSelectors,
} from '../ist-0146-0176.ts';
import { type Item, selectorText } from '../objects.ts';

type Telemetry = Item<'Telemetry'>;

export const telemetrySelectors: Analyzer = {
  name: 'telemetry.SelectorAnalyzer',
  description:
    "Validates that telemetries select at least one pod, and that there aren't multiple telemetry resources that select overlapping pods",
  needs: ['Telemetry', 'Pod'],
  analyze: (objects, report) => {
    const ofPod = new Map<Item<'Pod'>, Telemetry[]>();
    for (const item of objects.all('Telemetry')) {
      const labels = item.spec.selector?.matchLabels ?? {};
      if (Object.keys(labels).length === 0) continue;
      const pods = objects.all('Pod').filter(pod => pod.namespace === item.namespace && selects(labels, pod.labels));
      for (const pod of pods) ofPod.set(pod, [...(ofPod.get(pod) ?? []), item]);
      if (pods.length > 0) continue;
      report(item, referencedResourceNotFound('selector', selectorText(labels)), 'spec.selector.matchLabels');
    }
    for (const [pod, items] of ofPod) {
      if (items.length < 2) continue;
      const names = items.map(({ name }) => name).sort();
      for (const item of items) {
        report(item, conflictingTelemetryWorkloadSelectors(names, pod.namespace, pod.name), 'metadata.name');
      }
    }
  },
};

export const telemetryDefaults: Analyzer = {
  name: 'telemetry.DefaultSelectorAnalyzer',
  description: "Validates that there aren't multiple telemetry resources that have no selector",
  needs: ['Telemetry'],
  analyze: (objects, report) => {
    const byNamespace = new Map<string, Telemetry[]>();
    for (const item of objects.all('Telemetry')) {
      if (item.spec.selector !== undefined) continue;
      byNamespace.set(item.namespace, [...(byNamespace.get(item.namespace) ?? []), item]);
    }
    for (const [namespace, items] of byNamespace) {
      if (items.length < 2) continue;
      const names = items.map(({ name }) => name).sort();
      for (const item of items) report(item, multipleTelemetriesWithoutWorkloadSelectors(names, namespace));
    }
  },
};
