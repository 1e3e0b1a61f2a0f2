// An example in which one field has grown: to a number of elements, or to a text of a length. What cannot be set beside
// the field is left out; what lies on the way to it and is missing is made.

import { isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import type { Constraint } from '../../src/core/schema/constraints.ts';
import { ELEMENTS, type Field, type Path, VALUES } from './fields.ts';
import { fill, spoilt, withText } from './template.ts';
import { validFor } from './values.ts';

export type Sort = 'valid' | 'wrong-type' | 'wrong-value';

/**
 * Templates of members and of the elements of lists and maps whose constraint does not say enough, by the field's name,
 * or by its path's end where one name has several meanings.
 */
export type Elements = Readonly<Record<string, Json>>;

export interface Growing {
  readonly constraint: Constraint;
  /** Of what the constraint describes; a template. */
  readonly example: Json;
  /** Of which at most one is set, beyond what constraints say. */
  readonly exclusive?: readonly (readonly string[])[];
  readonly elements?: Elements;
}

/** A template whose field has `size` elements or characters. */
export function grown(growing: Growing, field: Field, sort: Sort, size: number): Json {
  return along(growing, growing.constraint, growing.example, field.path, [], (json, at) => {
    switch (field.grows) {
      case 'list':
        return list(growing, field.constraint, json, at, sort, size);
      case 'map':
        return map(growing, field.constraint, json, at, sort, size);
      case 'free':
        return free(sort, size);
      case 'text':
        return withText(
          String(json ?? validFor(field.constraint, nameOf(at))),
          (sort === 'valid' ? 'a' : '!').repeat(size),
        );
    }
  });
}

function list(
  growing: Growing,
  { items = { type: 'string' } }: Constraint,
  json: Json | undefined,
  at: Path,
  sort: Sort,
  size: number,
): Json {
  const given = Array.isArray(json) ? (json as readonly Json[]) : [];
  const told = meant(growing, at);
  const kept = sort === 'valid' && told === undefined ? given.slice(0, -1) : [];
  return [...kept, ...repeated(told ?? given.at(-1) ?? validFor(items, nameOf(at)), sort, size)];
}

function map(
  growing: Growing,
  { values = { type: 'string' } }: Constraint,
  json: Json | undefined,
  at: Path,
  sort: Sort,
  size: number,
): Json {
  const given = isObject(json) ? Object.entries(json) : [];
  const place = given.find(([key]) => key.includes('%'));
  const key = place?.[0] ?? (meant(growing, [...at, VALUES]) as string | undefined) ?? 'k%';
  const value = place?.[1] ?? meant(growing, at) ?? validFor(values, nameOf(at));
  const others = given.filter(entry => entry !== place);
  const added = repeated(value, sort, size).map((one, i): [string, Json] => [String(fill(key, i)), one]);
  return Object.fromEntries([...others, ...added]);
}

function repeated(template: Json, sort: Sort, size: number): readonly Json[] {
  const element = sort === 'valid' ? template : spoilt(template, sort === 'wrong-type' ? 'type' : 'value');
  return Array.from({ length: size }, (_, i) => fill(element, i));
}

/** An object that may hold anything: many members; as wrong as can be, a number as a name. */
function free(sort: Sort, size: number): Json {
  return Object.fromEntries(Array.from({ length: size }, (_, i) => [`k${i}`, sort === 'valid' ? 'v' : [null, -i]]));
}

function along(
  growing: Growing,
  constraint: Constraint,
  json: Json | undefined,
  path: Path,
  at: Path,
  make: (json: Json | undefined, at: Path) => Json,
): Json {
  const [head, ...rest] = path;
  if (head === undefined) return make(json, at);
  if (head === ELEMENTS) {
    const given = Array.isArray(json) ? (json as readonly Json[]) : [];
    const element = given.at(-1) ?? meant(growing, at) ?? validFor(constraint.items!, nameOf(at));
    return [...given.slice(0, -1), along(growing, constraint.items!, element, rest, [...at, head], make)];
  }
  if (head === VALUES) {
    const [key, value] = (isObject(json) ? Object.entries(json).at(-1) : undefined) ?? ['k%', undefined];
    const element = value ?? meant(growing, at) ?? validFor(constraint.values!, nameOf(at));
    return {
      ...(isObject(json) ? json : {}),
      [key]: along(growing, constraint.values!, element, rest, [...at, head], make),
    };
  }
  const given = isObject(json) ? json : (meant(growing, at) ?? validFor(constraint, nameOf(at)));
  const member = constraint.properties![head]!;
  const kept = without(isObject(given) ? given : {}, head, [
    ...(constraint.atMostOne ?? []),
    ...(constraint.exactlyOne ?? []),
    ...(growing.exclusive ?? []),
  ]);
  return { ...kept, [head]: along(growing, member, kept[head], rest, [...at, head], make) };
}

function without(json: JsonObject, member: string, groups: readonly (readonly string[])[]): JsonObject {
  const others = new Set(groups.filter(group => group.includes(member)).flat());
  others.delete(member);
  return Object.fromEntries(Object.entries(json).filter(([key]) => !others.has(key)));
}

/** The template of the path: of several, that of its longest end. */
function meant({ elements = {} }: Growing, at: Path): Json | undefined {
  const names = at.filter(part => part !== ELEMENTS && (part !== VALUES || part === at.at(-1)));
  const last = names.at(-1) === VALUES ? names.slice(-2).join('') : names.at(-1);
  const before = names.slice(0, names.at(-1) === VALUES ? -2 : -1);
  for (let from = 0; from <= before.length; from++) {
    const found = elements[[...before.slice(from), last].join('.')];
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameOf(at: Path): string {
  return at.findLast(part => part !== ELEMENTS && part !== VALUES) ?? '';
}
