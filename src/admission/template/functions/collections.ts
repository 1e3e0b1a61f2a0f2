// sprig's functions on lists and maps, defaults and types. A map is changed only if a function of the same execution
// made it: the data of the template is shared. Source: Masterminds/sprig list.go, dict.go, defaults.go, reflect.go.

import type { Json } from '../../../core/base/json.ts';
import { ANY_NUMBER, integerArgument, listArgument, mapArgument, taking } from '../arguments.ts';
import type { CallContext, TemplateFunction } from '../evaluate.ts';
import { goJson } from '../go-json.ts';
import { TemplateFault } from '../limits.ts';
import {
  anyText,
  fromJson,
  isList,
  isMap,
  isTrue,
  textArgument,
  toJson,
  typeOf,
  type Value,
  type ValueMap,
  Viewed,
} from '../value.ts';

export const collections: { readonly [name: string]: TemplateFunction } = {
  default: taking(1, 2, ([fallback, value]) => (isTrue(value) ? value : fallback)),
  empty: taking(1, 1, ([value]) => !isTrue(value)),
  coalesce: taking(0, ANY_NUMBER, args => args.find(isTrue) ?? null),
  all: taking(0, ANY_NUMBER, args => args.every(isTrue)),
  any: taking(0, ANY_NUMBER, args => args.some(isTrue)),
  ternary: taking(3, 3, ([yes, no, condition]) => (condition === true ? yes : no)),
  fail: taking(1, 1, ([why]) => {
    throw new TemplateFault(textArgument(why, 'fail'));
  }),
  toJson: taking(1, 1, ([value], context) => counted(goJson(toJson(value)), context)),
  toRawJson: taking(1, 1, ([value], context) => counted(goJson(toJson(value), { escapesHtml: false }), context)),
  toPrettyJson: taking(1, 1, ([value], context) => counted(goJson(toJson(value), { indent: 2 }), context)),
  fromJson: taking(1, 1, ([text]) => parsed(textArgument(text, 'fromJson'))),
  list: taking(0, ANY_NUMBER, args => [...args]),
  tuple: taking(0, ANY_NUMBER, args => [...args]),
  first: taking(1, 1, ([list]) => listArgument(list)[0]),
  last: taking(1, 1, ([list]) => listArgument(list).at(-1)),
  rest: taking(1, 1, ([list], context) => copied(listArgument(list).slice(1), context)),
  initial: taking(1, 1, ([list], context) => copied(listArgument(list).slice(0, -1), context)),
  append: taking(2, 2, ([list, value], context) => copied([...listArgument(list), value], context)),
  push: taking(2, 2, ([list, value], context) => copied([...listArgument(list), value], context)),
  prepend: taking(2, 2, ([list, value], context) => copied([value, ...listArgument(list)], context)),
  concat: taking(0, ANY_NUMBER, (args, context) => copied(args.flatMap(listArgument), context)),
  reverse: taking(1, 1, ([list], context) => copied([...listArgument(list)].reverse(), context)),
  uniq: taking(1, 1, ([list], context) => {
    const seen = new Map(
      listArgument(list)
        .map(element => [goJson(toJson(element)), element] as const)
        .reverse(),
    );
    return copied([...seen.values()].reverse(), context);
  }),
  compact: taking(1, 1, ([list], context) => copied(listArgument(list).filter(isTrue), context)),
  without: taking(1, ANY_NUMBER, ([list, ...omitted], context) => {
    const keys = new Set(omitted.map(element => goJson(toJson(element))));
    return copied(
      listArgument(list).filter(element => !keys.has(goJson(toJson(element)))),
      context,
    );
  }),
  has: taking(2, 2, ([value, list]) => {
    const key = goJson(toJson(value));
    return listArgument(list).some(element => goJson(toJson(element)) === key);
  }),
  until: taking(1, 1, ([count], context) => numbers(0, integerArgument(count), 1, context)),
  untilStep: taking(3, 3, ([from, to, step], context) =>
    numbers(integerArgument(from), integerArgument(to), integerArgument(step), context),
  ),
  dict: taking(0, ANY_NUMBER, (args, context) => {
    const pairs = args.flatMap((arg, i) =>
      i % 2 === 0 ? [[anyText(arg), i + 1 < args.length ? args[i + 1] : ''] as const] : [],
    );
    return remembered(Object.fromEntries(pairs), context);
  }),
  get: taking(2, 2, ([map, key]) => {
    const name = textArgument(key, 'get');
    const found = mapArgument(map);
    return Object.hasOwn(found, name) ? found[name] : '';
  }),
  set: taking(3, 3, ([map, key, value], context) =>
    changed(map, context, found => {
      Object.defineProperty(found, textArgument(key, 'set'), {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }),
  ),
  unset: taking(2, 2, ([map, key], context) =>
    changed(map, context, found => {
      Reflect.deleteProperty(found, textArgument(key, 'unset'));
    }),
  ),
  hasKey: taking(2, 2, ([map, key]) => Object.hasOwn(mapArgument(map), textArgument(key, 'hasKey'))),
  keys: taking(1, ANY_NUMBER, (maps, context) =>
    copied(
      maps.flatMap(map => Object.keys(mapArgument(map)).sort()),
      context,
    ),
  ),
  values: taking(1, 1, ([map], context) => {
    const found = mapArgument(map);
    return copied(
      Object.keys(found)
        .sort()
        .map(key => found[key]),
      context,
    );
  }),
  pick: taking(1, ANY_NUMBER, ([map, ...keys], context) => {
    const wanted = new Set(keys.map(anyText));
    return remembered(Object.fromEntries(Object.entries(mapArgument(map)).filter(([key]) => wanted.has(key))), context);
  }),
  merge: taking(1, ANY_NUMBER, (maps, context) =>
    remembered(deepMerged([...maps].reverse().map(mapArgument)), context),
  ),
  mergeOverwrite: taking(1, ANY_NUMBER, (maps, context) => remembered(deepMerged(maps.map(mapArgument)), context)),
  deepCopy: taking(1, 1, ([value], context) => {
    const copy = fromJson(toJson(value));
    return isMap(copy) ? remembered({ ...copy }, context) : copy;
  }),
  dig: taking(3, ANY_NUMBER, args => {
    let found: Value = args.at(-1);
    for (const key of args.slice(0, -2)) {
      const map = mapArgument(found);
      if (!Object.hasOwn(map, anyText(key))) return args.at(-2);
      found = map[anyText(key)];
    }
    return found;
  }),
  kindOf: taking(1, 1, ([value]) => kindOf(value)),
  kindIs: taking(2, 2, ([kind, value]) => kindOf(value) === kind),
  typeOf: taking(1, 1, ([value]) => typeOf(value)),
  typeIs: taking(2, 2, ([type, value]) => typeOf(value) === type),
  deepEqual: taking(2, 2, ([a, b]) => goJson(toJson(a)) === goJson(toJson(b))),
};

function counted(text: string, { budget }: CallContext): string {
  budget.make(text.length);
  return text;
}

function copied(list: readonly Value[], { budget }: CallContext): readonly Value[] {
  budget.make(list.length + 1);
  return list;
}

function remembered(map: ValueMap, { budget, made }: CallContext): ValueMap {
  budget.make(Object.keys(map).length + 1);
  made.add(map);
  return map;
}

function changed(value: Value, { budget, made }: CallContext, change: (map: ValueMap) => void): Value {
  if (!isMap(value) || !made.has(value)) throw new TemplateFault('changes a map that this template did not make');
  budget.make(1);
  change(value);
  return value;
}

function numbers(from: number, to: number, step: number, { budget }: CallContext): readonly Value[] {
  const by = step === 0 ? 0 : to < from && step > 0 ? -step : step;
  const count = by === 0 ? 0 : Math.max(0, Math.ceil((to - from) / by));
  budget.make(count);
  return Array.from({ length: count }, (_, i) => BigInt(from + i * by));
}

/** Later maps overwrite earlier ones, member by member. */
function deepMerged(maps: readonly ValueMap[]): ValueMap {
  const merged = new Map<string, Value>();
  for (const map of maps) {
    for (const [key, value] of Object.entries(map)) {
      const old = merged.get(key);
      merged.set(key, isMap(old) && isMap(value) ? deepMerged([old, value]) : value);
    }
  }
  return Object.fromEntries(merged);
}

/** The value of a JSON text; nil if it is none. */
export function parsed(text: string): Value {
  try {
    return fromJson(JSON.parse(text) as Json);
  } catch {
    return undefined;
  }
}

function kindOf(value: Value): string {
  if (value instanceof Viewed) return value.entries() === undefined ? 'struct' : 'map';
  if (isList(value)) return 'slice';
  return value === undefined || value === null ? 'invalid' : typeof value === 'object' ? 'map' : typeOf(value);
}
