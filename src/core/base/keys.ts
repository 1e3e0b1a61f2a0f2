// Keys of objects, those of wide ones listed once. V8 keeps an object of thousands of members as a hash table: to list
// its keys it puts them in the order of insertion, which costs as much as ten looks at each. A fact is gone through a
// dozen times on its way (encoding, limits, constraints, decoding, rules), so the first one keeps the list.
//
// Lists are kept only of what is never changed: facts as received, and what was decoded of them.

import { MEMBERS_PER_STEP, type Steps } from './steps.ts';

/** Below it listing keys costs no more than finding the list of them. */
export const WIDE_MIN = 1_024;
/** Most objects have few members, and nearly sorted: insertion beats a general sort there. */
const INSERTION_SORT_MAX = 24;

interface Listed {
  readonly keys: readonly string[];
  /** `keys` themselves if they are in order. */
  sorted?: readonly string[];
}

const wide = new WeakMap<object, Listed>();

/** As `Object.keys`; the list is kept if the object is wide. */
export function listKeys(object: object): readonly string[] {
  const known = wide.get(object);
  if (known !== undefined) return known.keys;
  const keys = Object.keys(object);
  if (keys.length >= WIDE_MIN) wide.set(object, { keys });
  return keys;
}

/** As `Object.keys`, from the list if one is kept. */
export function keysOf(object: object): readonly string[] {
  return wide.get(object)?.keys ?? Object.keys(object);
}

/** The keys by UTF-16 code unit. */
export function sortedKeysOf(object: object): readonly string[] {
  const known = wide.get(object);
  if (known === undefined) return sorted(Object.keys(object));
  known.sorted ??= isSorted(known.keys) ? known.keys : [...known.keys].sort();
  return known.sorted;
}

/** The object is wide, and its keys were found to be in order. */
export function isInOrder(object: object): boolean {
  const known = wide.get(object);
  return known !== undefined && known.keys === known.sorted;
}

/** The list of keys that is kept, if any. */
export function keptKeys(object: object): readonly string[] | undefined {
  return wide.get(object)?.keys;
}

/** Keeps the list of keys that a wide object was made with. */
export function keepSorted(object: object, keys: readonly string[]): void {
  if (keys.length >= WIDE_MIN) wide.set(object, { keys, sorted: keys });
}

/** An object with these keys, which are sorted and differ; their list is kept as above. */
export function objectOf<T>(keys: readonly string[], memberOf: (key: string) => T): Record<string, T> {
  const object: Record<string, T> = {};
  putAll(object, keys, memberOf, 0, keys.length);
  keepSorted(object, keys);
  return object;
}

/** `objectOf` in steps, for objects of tens of thousands of members. */
export function* makingObject<T>(
  keys: readonly string[],
  memberOf: (key: string) => T,
): Steps<Readonly<Record<string, T>>> {
  const object: Record<string, T> = {};
  for (let from = 0; from < keys.length; from += MEMBERS_PER_STEP) {
    if (from > 0) yield;
    putAll(object, keys, memberOf, from, Math.min(keys.length, from + MEMBERS_PER_STEP));
  }
  keepSorted(object, keys);
  return object;
}

function putAll<T>(
  object: Record<string, T>,
  keys: readonly string[],
  memberOf: (key: string) => T,
  from: number,
  to: number,
): void {
  for (let i = from; i < to; i++) put(object, keys[i]!, memberOf(keys[i]!));
}

/** A key may be `__proto__`, which cannot be assigned to. */
export function put<T>(object: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') Object.defineProperty(object, key, { value, ...PLAIN_MEMBER });
  else object[key] = value;
}

const PLAIN_MEMBER = { enumerable: true, configurable: true, writable: true };

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false;
  return true;
}

function sorted(keys: string[]): readonly string[] {
  if (keys.length > INSERTION_SORT_MAX) return isSorted(keys) ? keys : keys.sort();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!;
    let at = i;
    while (at > 0 && keys[at - 1]! > key) {
      keys[at] = keys[at - 1]!;
      at--;
    }
    keys[at] = key;
  }
  return keys;
}
