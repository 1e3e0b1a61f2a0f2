// The difference of two JSON values as RFC 6902 operations: members one by one, arrays element by index, removals from
// the end. Applied to the first value it gives the second; equal values give no operation.

import { isObject, type Json, type JsonObject, jsonEqual } from '../../core/base/json.ts';

export type PatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

export function jsonPatch(from: Json, to: Json): readonly PatchOperation[] {
  const operations: PatchOperation[] = [];
  compare('', from, to, operations);
  return operations;
}

function compare(path: string, from: Json, to: Json, operations: PatchOperation[]): void {
  if (jsonEqual(from, to)) return;
  if (isObject(from) && isObject(to)) compareMembers(path, from, to, operations);
  else if (Array.isArray(from) && Array.isArray(to)) compareElements(path, from, to, operations);
  else operations.push({ op: 'replace', path, value: to });
}

function compareMembers(path: string, from: JsonObject, to: JsonObject, operations: PatchOperation[]): void {
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const [old, now] = [memberOf(from, name), memberOf(to, name)];
    if (now === undefined) {
      if (old !== undefined) operations.push({ op: 'remove', path: at });
    } else if (old === undefined) operations.push({ op: 'add', path: at, value: now });
    else compare(at, old, now, operations);
  }
}

function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function compareElements(path: string, from: readonly Json[], to: readonly Json[], operations: PatchOperation[]): void {
  const both = Math.min(from.length, to.length);
  for (let i = 0; i < both; i++) compare(`${path}/${i}`, from[i]!, to[i]!, operations);
  for (let i = from.length - 1; i >= both; i--) operations.push({ op: 'remove', path: `${path}/${i}` });
  for (let i = both; i < to.length; i++) operations.push({ op: 'add', path: `${path}/${i}`, value: to[i]! });
}
