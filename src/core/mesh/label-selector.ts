// Label selectors of Kubernetes with expressions: which of them can be read, and which labels they select.
// Source: Kubernetes apimachinery pkg/apis/meta/v1/helpers.go (LabelSelectorAsSelector), pkg/labels/selector.go.

import { type Labels, selects } from '../base/labels.ts';
import { isLabelKey, isLabelValue } from '../kinds/validate/labels.ts';

export interface LabelSelector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly LabelRequirement[];
}

export interface LabelRequirement {
  readonly key?: string;
  readonly operator?: string;
  readonly values?: readonly string[];
}

export function isReadable({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean {
  const equal = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  return [...equal, ...matchExpressions].every(({ key = '', operator = '', values = [] }) => {
    const listed = operator === 'In' || operator === 'NotIn';
    if (!listed && operator !== 'Exists' && operator !== 'DoesNotExist') return false;
    return isLabelKey(key) && values.length > 0 === listed && values.every(isLabelValue);
  });
}

/** Of a readable selector. */
export function selectsAll({ matchLabels = {}, matchExpressions = [] }: LabelSelector, labels: Labels): boolean {
  return selects(matchLabels, labels) && matchExpressions.every(requirement => holds(requirement, labels));
}

function holds({ key = '', operator, values = [] }: LabelRequirement, labels: Labels): boolean {
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
