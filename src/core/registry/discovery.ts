// discoverySelectors of the mesh: objects of namespaces that none of them selects are as good as absent.
// Rules: spec-events-pushes-protocol §2.1 item 4; Istio pkg/kube/namespace/filter.go.

import type { LabelSelector, LabelSelectorRequirement } from '../schema/istio-types.gen.ts';
import { type Labels, selects } from './labels.ts';

/** One selector that matches is enough. */
export function discovers(selectors: readonly LabelSelector[], labels: Labels): boolean {
  return selectors.some(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      selects(matchLabels, labels) && matchExpressions.every(requirement => holds(requirement, labels)),
  );
}

function holds({ key = '', operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
