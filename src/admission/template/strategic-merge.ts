// Kubernetes' strategic merge patch: maps member by member, some lists element by element, everything else replaced.
//
// null deletes a member; a member that is new loses its nulls, and every map in it that has a `$patch`. Elements of the
// patch come first in its order; one that only the object has stands before an element of the patch only if the object
// had both, in that order.
// Source: Kubernetes apimachinery pkg/util/strategicpatch/patch.go (mergeMap, mergeSlice, normalizeElementOrder).

import { isObject, type Json, type JsonObject, jsonEqual } from '../../core/base/json.ts';

/** patchMergeKey of the lists of the kinds that are merged here: Pod and its template, Service, ServiceAccount. */
const MERGE_KEYS: ReadonlyMap<string, string> = new Map([
  ['conditions', 'type'],
  ['containers', 'name'],
  ['env', 'name'],
  ['ephemeralContainers', 'name'],
  ['hostAliases', 'ip'],
  ['hostIPs', 'ip'],
  ['imagePullSecrets', 'name'],
  ['initContainers', 'name'],
  ['ownerReferences', 'uid'],
  ['podIPs', 'ip'],
  ['resourceClaims', 'name'],
  ['schedulingGates', 'name'],
  ['secrets', 'name'],
  ['topologySpreadConstraints', 'topologyKey'],
  ['volumeDevices', 'devicePath'],
  ['volumeMounts', 'mountPath'],
  ['volumes', 'name'],
]);
/** Lists of texts that are united. */
const UNITED: readonly string[] = ['finalizers'];

/** `kind` decides what ports are found by. Neither argument is changed. */
export function strategicMerge(object: JsonObject, patch: JsonObject, kind: string): JsonObject {
  return merged(object, patch, new Map([...MERGE_KEYS, ['ports', kind === 'Service' ? 'port' : 'containerPort']]));
}

type Keys = ReadonlyMap<string, string>;

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const ORDER = '$setElementOrder/';
const DELETE_FROM = '$deleteFromPrimitiveList/';

function merged(object: JsonObject, patch: JsonObject, keys: Keys): JsonObject {
  if (patch[DIRECTIVE] === 'replace') return withoutDirectives(patch) as JsonObject;
  if (patch[DIRECTIVE] === 'delete') return {};
  const result = new Map<string, Json>();
  const retained = patch[RETAIN_KEYS];
  for (const [name, value] of Object.entries(object)) {
    if (value !== undefined && (!Array.isArray(retained) || retained.includes(name))) result.set(name, value);
  }
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined || name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(ORDER)) continue;
    if (name.startsWith(DELETE_FROM)) {
      const field = name.slice(DELETE_FROM.length);
      result.set(
        field,
        listOf(result.get(field)).filter(one => !listOf(value).some(gone => jsonEqual(one, gone))),
      );
      continue;
    }
    const old = result.get(name);
    if (value === null) result.delete(name);
    else if (old === undefined || kindOf(old) !== kindOf(value)) setOrDelete(result, name, added(value));
    else result.set(name, mergedValue(name, old, value, keys));
  }
  for (const [name, value] of Object.entries(patch)) {
    if (!name.startsWith(ORDER)) continue;
    const field = name.slice(ORDER.length);
    const list = listOf(result.get(field));
    if (list.length > 0) result.set(field, ordered(list, listOf(value), listOf(object[field]), keys.get(field)));
  }
  return Object.fromEntries(result) as JsonObject;
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function setOrDelete(map: Map<string, Json>, name: string, value: Json | undefined): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}

function kindOf(value: Json): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
}

/** `old` and `value` are of one kind. */
function mergedValue(name: string, old: Json, value: Json, keys: Keys): Json {
  if (isObject(old) && isObject(value)) return merged(old, value, keys);
  if (!Array.isArray(old) || !Array.isArray(value)) return value;
  const key = keys.get(name);
  if (key === undefined) {
    if (!UNITED.includes(name)) return withoutDirectives(value);
    const both = [...listOf(old), ...listOf(value)];
    return ordered(
      both.filter((one, i) => both.findIndex(other => jsonEqual(one, other)) === i),
      listOf(value),
      listOf(old),
      undefined,
    );
  }
  return mergedList(listOf(old), listOf(value), key, keys);
}

function mergedList(old: readonly Json[], patch: readonly Json[], key: string, keys: Keys): Json {
  const elements = patch.filter(isObject);
  const real = elements.filter(element => element[DIRECTIVE] !== 'delete' && element[DIRECTIVE] !== 'replace');
  if (elements.some(element => element[DIRECTIVE] === 'replace')) return real.map(withoutDirectives);
  const deleted = new Set(
    elements.filter(element => element[DIRECTIVE] === 'delete').map(element => idOf(element, key)),
  );
  const result = new Map<string, Json>();
  const repeated: Json[] = [];
  for (const element of old) {
    const id = idOf(element, key);
    if (deleted.has(id)) continue;
    if (result.has(id)) repeated.push(element);
    else result.set(id, element);
  }
  for (const element of real) {
    const known = result.get(idOf(element, key));
    result.set(idOf(element, key), isObject(known) ? merged(known, element, keys) : withoutDirectives(element));
  }
  return ordered([...result.values(), ...repeated], real, old, key);
}

/** One text for each value of the key; elements of which it is missing are one. */
function idOf(element: Json, key: string | undefined): string {
  const value = key === undefined ? element : isObject(element) ? element[key] : undefined;
  return `${typeof value} ${value === null || typeof value !== 'object' ? String(value) : `${JSON.stringify(value)}`}`;
}

function ordered(list: readonly Json[], patch: readonly Json[], old: readonly Json[], key: string | undefined): Json {
  const places = (elements: readonly Json[]): ReadonlyMap<string, number> =>
    new Map(elements.map((element, i) => [idOf(element, key), i] as const).reverse());
  const [inPatch, inOld] = [places(patch), places(old)];
  const placeIn = (where: ReadonlyMap<string, number>, element: Json): number => where.get(idOf(element, key)) ?? -1;
  const right = list.filter(element => inPatch.has(idOf(element, key)));
  right.sort((a, b) => placeIn(inPatch, a) - placeIn(inPatch, b));
  const left = list.filter(element => !inPatch.has(idOf(element, key)));
  left.sort((a, b) => placeIn(inOld, a) - placeIn(inOld, b));
  const result: Json[] = [];
  let at = 0;
  for (const element of right) {
    const place = placeIn(inOld, element);
    while (at < left.length && place >= 0 && placeIn(inOld, left[at]!) >= 0 && placeIn(inOld, left[at]!) < place) {
      result.push(left[at++]!);
    }
    result.push(element);
  }
  return [...result, ...left.slice(at)];
}

/**
 * A value that the object did not have: nulls of its maps vanish, and so does a map with a directive. Undefined: it is
 * one itself.
 */
function added(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map(added).filter(element => element !== undefined);
  }
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const members = Object.entries(value)
    .filter(([name, member]) => !isDirective(name) && member !== null && member !== undefined)
    .map(([name, member]) => [name, added(member!)] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined)) as JsonObject;
}

/** Taken as it is: directives of its maps are no members, and a null says that there is no member. */
function withoutDirectives(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutDirectives);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([name, member]) => !isDirective(name) && member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutDirectives(member!)])) as JsonObject;
}

function isDirective(name: string): boolean {
  return name === DIRECTIVE || name === RETAIN_KEYS || name.startsWith(ORDER) || name.startsWith(DELETE_FROM);
}
