// Ports of a Gateway that no Service of its workloads exposes, and Gateways that select no workload.
// Source: Istio pkg/config/analysis/analyzers/gateway/gateway.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { referencedResourceNotFound } from '../ist-0001-0145.ts';
import { gatewayPortNotDefinedOnService } from '../ist-0146-0176.ts';
import { type AnalyzedObjects, type Item, objectsOf, selectorText, textsOf } from '../objects.ts';

export const gatewayPorts: Analyzer = {
  name: 'gateway.IngressGatewayPortAnalyzer',
  description: "Checks a gateway's ports against the gateway's Kubernetes service ports",
  needs: ['Gateway', 'Pod', 'Service'],
  analyze: (objects, report) => {
    for (const item of objects.all('Gateway')) {
      const { selector = {}, servers = [] } = item.spec;
      const text = selectorText(selector);
      const pods = objects.all('Pod').filter(({ labels }) => selects(selector, labels));
      if (pods.length === 0) {
        report(item, referencedResourceNotFound('selector', text), 'spec.selector');
        continue;
      }
      const ports = exposedPorts(objects, pods);
      for (const { port } of servers) {
        if (port === undefined || ports.has(port.number ?? 0)) continue;
        report(item, gatewayPortNotDefinedOnService(port.number ?? 0, text), 'spec.selector');
      }
    }
  },
};

/** Ports of Services over these pods, and the ports that those lead to. */
function exposedPorts(objects: AnalyzedObjects, pods: readonly Item<'Pod'>[]): ReadonlySet<number> {
  const exposed = new Set<number>();
  for (const { namespace, spec } of objects.all('Service')) {
    const selector = textsOf(spec.selector);
    if (!pods.some(pod => pod.namespace === namespace && selects(selector, pod.labels))) continue;
    for (const { protocol, port, targetPort } of objectsOf(spec.ports)) {
      if (protocol !== 'TCP') continue;
      exposed.add(Number(port));
      const target = Number(targetPort);
      if (Number.isInteger(target)) exposed.add(target);
    }
  }
  return exposed;
}
