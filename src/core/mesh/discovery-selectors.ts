// discoverySelectors of the mesh: objects in namespaces that no selector matches count as absent.
// Source: Istio pkg/kube/namespace/filter.go.

import { type Labels, selects } from '../base/labels.ts';
import { isLabelKey, isLabelValue } from '../kinds/validate/labels.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../schema/istio-types.gen.ts';

/**
 * One selector that matches is enough. With one that cannot be read all is discovered, as by an istiod that starts with
 * it.
 */
export function discovers(selectors: readonly LabelSelector[], labels: Labels): boolean {
  if (!selectors.every(isReadable)) return true;
  return selectors.some(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      selects(matchLabels, labels) && matchExpressions.every(requirement => holds(requirement, labels)),
  );
}

function isReadable({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return [...equal, ...matchExpressions].every(({ key = '', operator = '', values = [] }) => {
    const listed = operator === 'In' || operator === 'NotIn';
    if (!listed && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
    return isLabelKey(key) && values.length > 0 === listed && values.every(isLabelValue);
  });
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
