// What differs between two JSON values, field by field, as people look at it: lists of named things are compared by
// name, not by place, so that one virtual host more does not make all that follow look changed. A list whose elements
// only changed places is reported as reordered.

import { canonicalJson, isObject, type Json, type JsonObject, jsonEqual } from '../core/base/json.ts';
import type { JsonChange } from './answers.ts';

/** In the order of the fields' names; elements in the order of the old list, then the new ones. */
export function jsonDiff(before: Json | undefined, after: Json | undefined): readonly JsonChange[] {
  const changes: JsonChange[] = [];
  compare('', before, after, changes);
  return changes;
}

function compare(path: string, before: Json | undefined, after: Json | undefined, into: JsonChange[]): void {
  if (before !== undefined && after !== undefined && jsonEqual(before, after)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()) {
      compare(path === '' ? key : `${path}.${key}`, before[key], after[key], into);
    }
    return;
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    compareLists(path, before, after, into);
    return;
  }
  if (before === undefined && after === undefined) return;
  into.push({
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  });
}

function compareLists(path: string, before: readonly Json[], after: readonly Json[], into: JsonChange[]): void {
  const [left, right] = [keyed(before), keyed(after)];
  if (left === undefined || right === undefined) {
    for (let i = 0; i < Math.max(before.length, after.length); i++) compare(`${path}[${i}]`, before[i], after[i], into);
    return;
  }
  const found = into.length;
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    compare(`${path}[${key}]`, left.get(key), right.get(key), into);
  }
  if (into.length === found) into.push({ path, before, after, reordered: true });
}

/** Elements by what they call themselves; undefined if they have no names, or share one. */
function keyed(list: readonly Json[]): ReadonlyMap<string, Json> | undefined {
  const found = new Map<string, Json>();
  for (const element of list) {
    const key = keyOf(element);
    if (key === undefined || found.has(key)) return undefined;
    found.set(key, element);
  }
  return found;
}

function keyOf(element: Json): string | undefined {
  if (typeof element === 'string') return element;
  if (!isObject(element)) return undefined;
  if (typeof element.name === 'string') return element.name;
  if (isObject(element.endpoint)) return canonicalAddress(element.endpoint);
  if (isObject(element.locality)) return canonicalJson(element.locality);
  if (Array.isArray(element.lbEndpoints)) return 'no locality';
  return undefined;
}

function canonicalAddress({ address }: JsonObject): string | undefined {
  if (!isObject(address)) return undefined;
  const socket = address.socketAddress;
  if (isObject(socket)) return `${String(socket.address)}:${String(socket.portValue ?? 0)}`;
  return canonicalJson(address);
}
