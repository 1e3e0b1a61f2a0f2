// ProxyConfig: proxy settings of a namespace or workload. Rules: Istio pkg/config/validation (ValidateProxyConfig).

import type { NetworkingProxyConfig } from '../../schema/istio-types.gen.ts';
import { istioKind, NETWORKING } from './istio-kind.ts';
import { policyReferences } from './policy-targets.ts';
import { checkSelector } from './validate/selectors.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly ProxyConfig: { readonly spec: NetworkingProxyConfig; readonly push: 'config' };
  }
}

export const proxyConfig = istioKind({
  kind: 'ProxyConfig',
  group: NETWORKING,
  versions: ['v1beta1'],
  push: 'config',
  type: 'istio.networking.v1beta1.ProxyConfig',
  references: policyReferences,
  rules: (spec, report) => {
    checkSelector(spec.selector?.matchLabels, 'spec.selector.matchLabels', report);
    const { concurrency = 0 } = spec;
    if (concurrency < 0) report('spec.concurrency', `${concurrency} is negative`);
  },
});
