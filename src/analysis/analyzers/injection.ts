// Sidecar injection by namespace: namespaces without it, with contradicting labels, and pods that lack the proxy.
// Source: Istio pkg/config/analysis/analyzers/injection/injection.go.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { DATAPLANE_MODE_LABEL, INJECT, INJECTION_LABEL, proxyImage, REVISION_LABEL } from '../in-mesh.ts';
import { injectorConfigMap, injectorValues } from '../injector.ts';
import { namespaceMultipleInjectionLabels, namespaceNotInjected, podMissingProxy } from '../ist-0001-0145.ts';
import { namespaceInjectionEnabledByDefault } from '../ist-0146-0176.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, fullName, type Item, memberOf } from '../objects.ts';

const ENABLED = 'enabled';

export const injection: Analyzer = {
  name: 'injection.Analyzer',
  description: 'Checks conditions related to Istio sidecar injection',
  needs: ['Namespace'],
  analyze: (objects, report) => {
    const injected = new Set<string>();
    for (const item of objects.all('Namespace')) {
      if (item.name !== 'istio-system' && checkNamespace(objects, item, report)) injected.add(item.name);
    }
    for (const pod of objects.all('Pod')) {
      if (pod.made !== undefined || !injected.has(pod.namespace) || isExempt(pod)) continue;
      const { containers, initContainers } = pod.spec;
      if (proxyImage(containers) !== '' || proxyImage(initContainers) !== '') continue;
      report(pod, podMissingProxy(fullName(pod)));
    }
  },
};

/** True: pods of this namespace are to have the proxy. */
function checkNamespace(objects: AnalyzedObjects, item: Item<'Namespace'>, report: Report): boolean {
  const { labels, name } = item;
  const { [INJECTION_LABEL]: said, [REVISION_LABEL]: revision } = labels;
  const present = labelsOf(item);
  if (present.length > 1) report(item, namespaceMultipleInjectionLabels(present), 'metadata.labels');
  if (labels[DATAPLANE_MODE_LABEL] === 'ambient') return false;
  if ((said ?? '') !== '' || revision !== undefined) return said === ENABLED;
  if (enabledByDefault(objects, revision)) report(item, namespaceInjectionEnabledByDefault());
  else report(item, namespaceNotInjected(name, name), 'metadata.name');
  return false;
}

/** The labels that say how pods join the mesh; others than the first count only beside an enabled injection. */
function labelsOf({ labels }: Item): readonly string[] {
  const said = labels[INJECTION_LABEL];
  const present = said === undefined ? [] : [`${INJECTION_LABEL}=${said}`];
  for (const label of [REVISION_LABEL, DATAPLANE_MODE_LABEL]) {
    const value = labels[label];
    if (value !== undefined && (said === undefined || said === ENABLED)) present.push(`${label}=${value}`);
  }
  return present;
}

function enabledByDefault(objects: AnalyzedObjects, revision: string | undefined): boolean {
  const map = objects.all('ConfigMap').find(({ name }) => name === injectorConfigMap(revision));
  const values: JsonObject | undefined = map === undefined ? undefined : injectorValues(map);
  const webhook = isObject(values) ? memberOf(values, 'sidecarInjectorWebhook') : undefined;
  return memberOf(webhook, 'enableNamespacesByDefault') === true;
}

function isExempt({ annotations, labels, spec }: Item<'Pod'>): boolean {
  return (labels[INJECT] ?? annotations[INJECT] ?? '').toLowerCase() === 'false' || spec.hostNetwork === true;
}
