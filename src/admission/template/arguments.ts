// How functions take their arguments: how many, and as which Go type.

import type { TemplateFunction } from './evaluate.ts';
import { TemplateFault } from './limits.ts';
import { fromJson, isList, isMap, textArgument, typeOf, type Value, type ValueMap, Viewed, ZERO } from './value.ts';

/** A function of `least` to `most` arguments; with one number, exactly that many. */
export function taking(least: number, most: number, call: TemplateFunction): TemplateFunction {
  return (args, context) => {
    if (args.length < least || args.length > most) {
      const wanted =
        least === most ? `${least}` : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
      throw new TemplateFault(`wrong number of args: want ${wanted} got ${args.length}`);
    }
    return call(args, context);
  };
}

export const ANY_NUMBER = Number.POSITIVE_INFINITY;

/** A function of texts alone. */
export function ofTexts(count: number, call: (...texts: string[]) => Value): TemplateFunction {
  return taking(count, count, (args, { budget }) => {
    const value = call(...args.map((arg, i) => textArgument(arg, `argument ${i + 1}`)));
    if (typeof value === 'string') budget.make(value.length);
    return value;
  });
}

/** An argument that Go declares as int; whole floats are taken too. */
export function integerArgument(value: Value): number {
  if (typeof value === 'bigint') return Number(BigInt.asIntN(64, value));
  if (typeof value === 'number' && Number.isInteger(value)) return value;
  throw new TemplateFault(`wrong type for value; expected int; got ${typeOf(value)}`);
}

export function listArgument(value: Value): readonly Value[] {
  if (value === undefined || value === null || value === ZERO) return [];
  if (isList(value)) return value;
  throw new TemplateFault(`wrong type for value; expected a list; got ${typeOf(value)}`);
}

/** A map of any values: a plain one, or a view of one. */
export function mapArgument(value: Value): ValueMap {
  if (value === undefined || value === null || value === ZERO) return {};
  if (isMap(value)) return value;
  if (value instanceof Viewed) {
    const json = fromJson(value.json());
    if (isMap(json)) return json;
  }
  throw new TemplateFault(`wrong type for value; expected a map; got ${typeOf(value)}`);
}

/** map[string]string */
export function textMapArgument(value: Value): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [key, member] of Object.entries(mapArgument(value))) {
    if (typeof member !== 'string')
      throw new TemplateFault(`wrong type for value; expected map[string]string; got ${typeOf(value)}`);
    found.set(key, member);
  }
  return found;
}
