// Templates of objects: JSON with places for a number, so that the elements of a list differ from each other. In a text,
// a key too, `%ip` becomes the i-th address of 10.0.0.0/8 and `%` the number itself; a text that is `%port` becomes the
// i-th port, a number.

import type { Json, JsonObject } from '../../src/core/base/json.ts';

const PORTS = 65_535;
const PORT = '%port';

export function fill(template: Json, i: number): Json {
  return filled(
    template,
    text => (text === PORT ? 1 + (i % PORTS) : withNumber(text, i)),
    text => withNumber(text, i),
  );
}

export function fillObject(template: JsonObject, i: number): JsonObject {
  return fill(template, i) as JsonObject;
}

/** The text with `put` in the place of each number. */
export function withText(template: string, put: string): string {
  return template.includes('%') ? template.replace('%ip', put).replace('%', put) : template + put;
}

function withNumber(text: string, i: number): string {
  return text.includes('%') ? text.replaceAll('%ip', ip(i)).replaceAll('%', String(i)) : text;
}

function ip(i: number): string {
  return `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`;
}

function filled(json: Json, text: (text: string) => Json, key: (key: string) => string): Json {
  if (typeof json === 'string') return text(json);
  if (Array.isArray(json)) return (json as readonly Json[]).map(one => filled(one, text, key));
  if (typeof json !== 'object' || json === null) return json;
  return Object.fromEntries(
    Object.entries(json as JsonObject).map(([name, one]) => [key(name), filled(one ?? null, text, key)]),
  );
}

/** The first number or text, places for numbers first, replaced by what it must not be; the same JSON without any. */
export function spoilt(template: Json, how: 'type' | 'value'): Json {
  const state = { done: false };
  const first = spoilFirst(template, how, state, true);
  return state.done ? first : spoilFirst(template, how, state, false);
}

const OUT_OF_RANGE = 99_999_999;

function spoilFirst(json: Json, how: 'type' | 'value', state: { done: boolean }, onlyPlaces: boolean): Json {
  if (state.done) return json;
  if (Array.isArray(json)) return (json as readonly Json[]).map(one => spoilFirst(one, how, state, onlyPlaces));
  if (typeof json === 'object' && json !== null) {
    return Object.fromEntries(
      Object.entries(json as JsonObject).map(([key, one]) => [key, spoilFirst(one ?? null, how, state, onlyPlaces)]),
    );
  }
  const isPlace = typeof json === 'string' && json.includes('%');
  if (json === null || (onlyPlaces && !isPlace)) return json;
  state.done = true;
  const isNumber = typeof json === 'number' || json === PORT;
  if (how === 'type') return isNumber ? 'x%' : typeof json === 'string' ? 7 : 'x%';
  return isNumber ? OUT_OF_RANGE : typeof json === 'string' ? '!! %' : 7;
}
