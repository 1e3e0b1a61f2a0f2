// What may grow in an object of a kind: each path that is a list, a map, a free text or a free object, from the
// constraints of the kind (Istio, Gateway API) or from an example (Kubernetes).

import { isObject, type Json } from '../../src/core/base/json.ts';
import type { Constraint } from '../../src/core/schema/constraints.ts';

/** `[]`: the elements of the list before it; `{}`: the values of the map before it. */
export type Path = readonly string[];

export interface Field {
  readonly path: Path;
  readonly grows: 'list' | 'map' | 'text' | 'free';
  readonly constraint: Constraint;
}

export const ELEMENTS = '[]';
export const VALUES = '{}';

export function fieldsOf(constraint: Constraint, path: Path): readonly Field[] {
  switch (constraint.type) {
    case 'array':
      return [
        { path, grows: 'list', constraint },
        ...(constraint.items === undefined ? [] : fieldsOf(constraint.items, [...path, ELEMENTS])),
      ];
    case 'object': {
      if (constraint.values !== undefined) {
        return [{ path, grows: 'map', constraint }, ...fieldsOf(constraint.values, [...path, VALUES])];
      }
      if (constraint.properties === undefined) return [{ path, grows: 'free', constraint }];
      return Object.entries(constraint.properties).flatMap(([name, one]) => fieldsOf(one, [...path, name]));
    }
    case 'string':
      return constraint.enum === undefined ? [{ path, grows: 'text', constraint }] : [];
    default:
      return [];
  }
}

/** `http[].headers{}` */
export function pathText(path: Path): string {
  return path.reduce(
    (text, part) => text + (part === ELEMENTS || part === VALUES || text === '' ? '' : '.') + part,
    '',
  );
}

/** The shape of an example: an object whose only key has a place for a number is a map. */
export function shapeOf(example: Json): Constraint {
  if (Array.isArray(example)) {
    const [last] = (example as readonly Json[]).slice(-1);
    return last === undefined ? { type: 'array' } : { type: 'array', items: shapeOf(last) };
  }
  if (isObject(example)) {
    const entries = Object.entries(example).map(([key, one]): [string, Constraint] => [key, shapeOf(one ?? null)]);
    const map = Object.keys(example).find(key => key.includes('%'));
    if (map !== undefined) return { type: 'object', values: shapeOf(example[map] ?? null) };
    return { type: 'object', properties: Object.fromEntries(entries) };
  }
  if (typeof example === 'string') return example === '%port' ? { type: 'integer' } : { type: 'string' };
  return { type: typeof example === 'boolean' ? 'boolean' : 'number' };
}
