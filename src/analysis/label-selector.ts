// A Kubernetes label selector as text of an object that is analysed; unlike in the core, it may hold anything.
// Source: Kubernetes API conventions, LabelSelector (meta/v1); a selector with an unknown operator matches nothing.

import { isObject, type Json } from '../core/base/json.ts';
import type { Labels } from '../core/base/labels.ts';
import { selectsAll } from '../core/mesh/label-selector.ts';
import { objectsOf, textOf, textsOf } from './objects.ts';

/** An absent selector matches everything. */
export function selectorMatches(selector: Json | undefined, labels: Labels): boolean {
  if (!isObject(selector)) return true;
  const matchExpressions = objectsOf(selector.matchExpressions).map(({ key, operator, values }) => ({
    key: textOf(key),
    operator: textOf(operator),
    values: textList(values),
  }));
  return selectsAll({ matchLabels: textsOf(selector.matchLabels), matchExpressions }, labels);
}

export function textList(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(one => typeof one === 'string') : [];
}
