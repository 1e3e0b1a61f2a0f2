// DestinationRules for hosts that do not exist, and subsets that no pod belongs to.
// Source: Istio pkg/config/analysis/analyzers/destinationrule/subset.go.

import { type Labels, localityOfNode, selects, withTopology } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { findHost, hostsOf } from '../hosts.ts';
import { destinationRuleSubsetNotSelectPods, unknownDestinationRuleHost } from '../ist-0146-0176.ts';
import { type AnalyzedObjects, textOf } from '../objects.ts';

export const destinationRuleSubsets: Analyzer = {
  name: 'destinationrule.SubsetSelectPodAnalyzer',
  type: 'destinationrule.PodNotSelectedAnalyzer',
  description: 'Checks if pods are selected by subsets in destination rules.',
  needs: ['DestinationRule', 'Service', 'Pod'],
  analyze: (objects, report) => {
    const hosts = hostsOf(objects);
    const pods = podLabels(objects);
    const index = byLabel(pods);
    for (const item of objects.all('DestinationRule')) {
      const { host = '', exportTo = [], subsets = [] } = item.spec;
      const entry = findHost(hosts, { namespace: item.namespace, exportTo, domain: objects.domain }, host);
      if (entry === undefined) {
        report(item, unknownDestinationRuleHost(host), 'spec.host');
        continue;
      }
      subsets.forEach(({ name = '', labels = {} }, i) => {
        const selector = { ...entry.selector, ...labels };
        if (candidates(selector, index, pods).some(pod => selects(selector, pod))) return;
        report(item, destinationRuleSubsetNotSelectPods(name), `spec.subsets[${i}]`);
      });
    }
  },
};

/** `key=value` → the pods with that label: subsets times pods would be quadratic in a mesh. */
function byLabel(pods: readonly Labels[]): ReadonlyMap<string, readonly Labels[]> {
  const index = new Map<string, Labels[]>();
  for (const pod of pods) {
    for (const [key, value] of Object.entries(pod)) {
      const found = index.get(`${key}=${value}`);
      if (found === undefined) index.set(`${key}=${value}`, [pod]);
      else found.push(pod);
    }
  }
  return index;
}

/** The pods with the rarest of the labels. */
function candidates(
  selector: Labels,
  index: ReadonlyMap<string, readonly Labels[]>,
  all: readonly Labels[],
): readonly Labels[] {
  const lists = Object.entries(selector).map(([key, value]) => index.get(`${key}=${value}`) ?? []);
  return lists.reduce((least, list) => (list.length < least.length ? list : least), all);
}

/** With the labels of the place where a pod runs. */
function podLabels(objects: AnalyzedObjects): readonly Labels[] {
  const nodes = new Map(objects.all('Node').map(({ name, labels }) => [name, localityOfNode(labels)]));
  return objects.all('Pod').map(({ labels, spec }) => {
    const node = textOf(spec.nodeName);
    return withTopology(labels, { cluster: '', locality: nodes.get(node) ?? '', node, network: '' });
  });
}
