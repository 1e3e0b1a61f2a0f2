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
    for (const item of objects.all('DestinationRule')) {
      const { host = '', exportTo = [], subsets = [] } = item.spec;
      const entry = findHost(hosts, { namespace: item.namespace, exportTo, domain: objects.domain }, host);
      if (entry === undefined) {
        report(item, unknownDestinationRuleHost(host), 'spec.host');
        continue;
      }
      subsets.forEach(({ name = '', labels = {} }, i) => {
        const selector = { ...entry.selector, ...labels };
        if (pods.some(pod => selects(selector, pod))) return;
        report(item, destinationRuleSubsetNotSelectPods(name), `spec.subsets[${i}]`);
      });
    }
  },
};

/** With the labels of the place where a pod runs. */
function podLabels(objects: AnalyzedObjects): readonly Labels[] {
  const nodes = new Map(objects.all('Node').map(({ name, labels }) => [name, localityOfNode(labels)]));
  return objects.all('Pod').map(({ labels, spec }) => {
    const node = textOf(spec.nodeName);
    return withTopology(labels, { cluster: '', locality: nodes.get(node) ?? '', node, network: '' });
  });
}
