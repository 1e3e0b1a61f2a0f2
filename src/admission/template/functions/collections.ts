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
  fromJson: taking(1, 1, ([text], context) => own(parsed(textArgument(text, 'fromJson')), context)),
  mustFromJson: taking(1, 1, ([text], context) => {
    const value = parsed(textArgument(text, 'mustFromJson'));
    if (value === undefined) throw new TemplateFault('the text is no JSON');
    return own(value, context);
  }),
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
  chunk: taking(2, 2, ([size, list], context) => {
    const [length, whole] = [integerArgument(size), listArgument(list)];
    if (length < 1) throw new TemplateFault('expected a size above 0');
    context.budget.make(whole.length + 1);
    return Array.from({ length: Math.ceil(whole.length / length) }, (_, i) =>
      whole.slice(i * length, (i + 1) * length),
    );
  }),
  until: taking(1, 1, ([count], context) => {
    const to = integerArgument(count);
    return numbers(0, to, to < 0 ? -1 : 1, context);
  }),
  untilStep: taking(3, 3, ([from, to, step], context) =>
    numbers(integerArgument(from), integerArgument(to), integerArgument(step), context),
  ),
  seq: taking(0, ANY_NUMBER, (args, context) => sequence(args.map(integerArgument), context)),
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
    changed(map, context, found => put(found, textArgument(key, 'set'), value, context)),
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
  pluck: taking(1, ANY_NUMBER, ([key, ...maps], context) => {
    const name = textArgument(key, 'pluck');
    return copied(
      maps.map(mapArgument).flatMap(map => (Object.hasOwn(map, name) ? [map[name]] : [])),
      context,
    );
  }),
  merge: taking(1, ANY_NUMBER, (maps, context) => mergedInto(maps, false, context)),
  mergeOverwrite: taking(1, ANY_NUMBER, (maps, context) => mergedInto(maps, true, context)),
  deepCopy: taking(1, 1, ([value], context) => own(copyOf(value), context)),
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
  typeIsLike: taking(2, 2, ([type, value]) => typeOf(value) === type || `*${anyText(type)}` === typeOf(value)),
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

/** `__proto__` is a member as any other. */
function put(map: ValueMap, key: string, value: Value, { budget }: CallContext): void {
  budget.make(key.length + 1);
  Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
}

function changed(value: Value, { budget, made }: CallContext, change: (map: ValueMap) => void): Value {
  if (!isMap(value) || !made.has(value)) throw new TemplateFault('changes a map that this template did not make');
  budget.make(1);
  change(value);
  return value;
}

/** A value that nothing else refers to: all maps within may be changed. */
export function own(value: Value, context: CallContext): Value {
  if (isList(value)) for (const element of value) own(element, context);
  if (!isMap(value)) return value;
  for (const member of Object.values(value)) own(member, context);
  return remembered(value, context);
}

/** Lists and maps are copied, other values shared: nothing changes those. */
function copyOf(value: Value): Value {
  if (isList(value)) return value.map(copyOf);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyOf(member)]));
}

/** A step in the wrong direction gives none. */
function numbers(from: number, to: number, step: number, { budget }: CallContext): readonly Value[] {
  const count = (to < from ? step < 0 : step > 0) ? Math.ceil((to - from) / step) : 0;
  budget.make(count);
  return Array.from({ length: count }, (_, i) => BigInt(from + i * step));
}

/** `seq END`, `seq START END`, `seq START STEP END`, END included. */
function sequence(params: readonly number[], context: CallContext): string {
  if (params.length === 0 || params.length > 3) return '';
  const [from, to] = [params.length === 1 ? 1 : params[0]!, params.at(-1)!];
  const direction = to < from ? -1 : 1;
  const step = params.length === 3 ? params[1]! : direction;
  return counted(numbers(from, to + direction, step, context).join(' '), context);
}

/**
 * Into the first map, if this template made it, else into a copy. Without `overwrites` a member that is there stays,
 * unless it is empty. Source: dario.cat/mergo, deepMerge.
 */
function mergedInto([first, ...others]: readonly Value[], overwrites: boolean, context: CallContext): ValueMap {
  const target = changeable(mapArgument(first), context);
  for (const other of others) mergeMembers(target, mapArgument(other), overwrites, context);
  return target;
}

function changeable(map: ValueMap, context: CallContext): ValueMap {
  return context.made.has(map) ? map : remembered({ ...map }, context);
}

function mergeMembers(target: ValueMap, from: ValueMap, overwrites: boolean, context: CallContext): void {
  for (const [key, value] of Object.entries(from)) {
    const old = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isMap(old) && isMap(value)) {
      const inner = changeable(old, context);
      mergeMembers(inner, value, overwrites, context);
      put(target, key, inner, context);
    } else if (overwrites || (!isTrue(old) && value !== null && value !== undefined)) put(target, key, value, context);
  }
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
