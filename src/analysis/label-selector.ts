// A Kubernetes label selector: matchLabels and matchExpressions, all of which must hold.
// Source: Kubernetes API conventions, LabelSelector (meta/v1); a selector with an unknown operator matches nothing.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { type Labels, selects } from '../core/base/labels.ts';
import { objectsOf, textOf, textsOf } from './objects.ts';

/** An absent selector matches everything. */
export function selectorMatches(selector: Json | undefined, labels: Labels): boolean {
  if (!isObject(selector)) return true;
  if (!selects(textsOf(selector.matchLabels), labels)) return false;
  return objectsOf(selector.matchExpressions).every(one => expressionHolds(one, labels));
}

function expressionHolds(expression: JsonObject, labels: Labels): boolean {
  const value = labels[textOf(expression.key)];
  const values = textList(expression.values);
  switch (expression.operator) {
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

export function textList(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(one => typeof one === 'string') : [];
}
