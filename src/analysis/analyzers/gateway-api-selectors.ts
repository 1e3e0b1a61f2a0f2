// Policies that select pods of a Kubernetes Gateway by label: there only targetRef counts.
// Source: Istio pkg/config/analysis/analyzers/k8sgateway/workloadselector.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { ineffectiveSelector } from '../ist-0146-0176.ts';

const GATEWAY_LABEL = 'gateway.networking.k8s.io/gateway-name';
const KINDS = ['AuthorizationPolicy', 'RequestAuthentication', 'Telemetry', 'WasmPlugin'] as const;

export const gatewayApiSelectors: Analyzer = {
  name: 'k8sgateway.SelectorAnalyzer',
  description: 'Check that selectors are effective for Kubernetes gateway',
  needs: ['Pod'],
  analyze: (objects, report) => {
    const pods = objects.all('Pod').filter(({ labels }) => labels[GATEWAY_LABEL] !== undefined);
    for (const item of KINDS.flatMap(kind => objects.all(kind))) {
      const { selector, targetRef } = item.spec;
      if (selector === undefined || targetRef !== undefined) continue;
      for (const { namespace, labels } of pods) {
        if (namespace !== item.namespace || !selects(selector.matchLabels ?? {}, labels)) continue;
        report(item, ineffectiveSelector(labels[GATEWAY_LABEL] ?? ''), 'spec.selector');
      }
    }
  },
};
