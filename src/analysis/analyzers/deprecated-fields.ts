// Deprecated fields and resource types.
// Source: Istio pkg/config/analysis/analyzers/deprecation/deprecation.go.

import type { Analyzer } from '../analyzer.ts';
import { deprecated } from '../ist-0001-0145.ts';
import { memberOf, textOf } from '../objects.ts';

const REMOVED_GROUP = 'rbac.istio.io';
const REMOVED_KINDS: readonly string[] = ['ClusterRbacConfig', 'RbacConfig', 'ServiceRole', 'ServiceRoleBinding'];

export const deprecatedFields: Analyzer = {
  name: 'deprecation.DeprecationAnalyzer',
  type: 'deprecation.FieldAnalyzer',
  description: 'Checks for deprecated Istio types and fields',
  needs: [],
  analyze: (objects, report) => {
    for (const item of objects.all('VirtualService')) {
      (item.spec.http ?? []).forEach(({ fault }, i) => {
        if ((fault?.delay?.percent ?? 0) <= 0) return;
        const text = 'HTTPRoute.fault.delay.percent is deprecated; use HTTPRoute.fault.delay.percentage';
        report(item, deprecated(text), `spec.http[${i}].fault.delay`);
      });
    }
    for (const item of objects.all('Sidecar')) {
      if (item.spec.outboundTrafficPolicy?.egressProxy === undefined) continue;
      report(item, deprecated('OutboundTrafficPolicy.EgressProxy ignored'), 'spec.outboundTrafficPolicy.egressProxy');
    }
    for (const item of objects.all('CustomResourceDefinition')) {
      const kind = textOf(memberOf(item.spec, 'names', 'kind'));
      if (item.spec.group !== REMOVED_GROUP || !REMOVED_KINDS.includes(kind)) continue;
      report(item, deprecated(`Custom resource type ${REMOVED_GROUP} ${kind} is removed`));
    }
  },
};
