// What has to be written so that an object fulfils a wish: nothing, if every field that the wish owns is there already.
// Pure; the writer performs it.
//
// Fixed point: the plan for an object that a plan was applied to is `none`. Foreign fields are neither compared nor
// written.

import { isObject, type Json, type JsonObject, jsonEqual } from '../base/json.ts';
import { mergePatch } from '../base/merge-patch.ts';
import { parseTimestamp } from '../base/time.ts';
import { joinedStatus } from './status.ts';
import type { Precondition, Wish } from './wish.ts';

export type Plan =
  | { readonly kind: 'none'; readonly why: Satisfied }
  | { readonly kind: 'create'; readonly object: JsonObject }
  | { readonly kind: 'merge'; readonly patch: JsonObject }
  | { readonly kind: 'apply'; readonly object: JsonObject }
  | { readonly kind: 'delete'; readonly uid: string; readonly resourceVersion: string };

/**
 * `fulfilled`, or what keeps the wish from being written: no object to have that status, another uid or generation, an
 * object that is going away.
 */
export type Satisfied = 'fulfilled' | 'no object' | 'outdated' | 'terminating';

/**
 * `live`: the object as observed, at least its metadata and the parts that are wished for; undefined: there is none.
 * `time`: of transitions that the plan brings about, RFC 3339.
 */
export function planOf(
  wish: Wish,
  live: JsonObject | undefined,
  apiVersion: string,
  objectKind: string,
  time: string = UNKNOWN_TIME,
): Plan {
  const { subresource, verb } = wish;
  const fields = fieldsOf(wish, live, time);
  const head = { apiVersion, kind: objectKind };
  if (live === undefined) {
    if (fields === undefined) return none('fulfilled');
    if (subresource !== '' || wish.precondition?.exists === true) return none('no object');
    if (verb === 'apply') return { kind: 'apply', object: named(wish, head, fields) };
    return { kind: 'create', object: named(wish, head, mergePatch(wish.atCreation ?? {}, fields)) };
  }
  const metadata = isObject(live.metadata) ? live.metadata : {};
  if (!meets(wish, live, metadata)) return none('outdated');
  if (metadata.deletionTimestamp !== undefined && subresource === '') return none('terminating');
  const entry = managedBy(wish, metadata);
  if (fields === undefined) {
    if (entry === undefined) return none('fulfilled');
    if (subresource !== '') return { kind: 'apply', object: named(wish, head, {}) };
    return { kind: 'delete', uid: textOf(metadata.uid), resourceVersion: textOf(metadata.resourceVersion) };
  }
  const isThere = has(live, fields, wish.listKeys ?? {}, '');
  if (verb === 'apply') {
    const isPruned = entry === undefined || !ownsMore(entry, { ...fields, apiVersion, kind: objectKind });
    return isThere && isPruned ? none('fulfilled') : { kind: 'apply', object: named(wish, head, fields) };
  }
  if (isThere) return none('fulfilled');
  // If another client wrote after this version was observed, the server answers with a conflict.
  const patch = mergePatch(fields, { metadata: { resourceVersion: textOf(metadata.resourceVersion) } });
  return { kind: 'merge', patch: patch as JsonObject };
}

/** Where a plan is only shown. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';

function fieldsOf(wish: Wish, live: JsonObject | undefined, time: string): JsonObject | undefined {
  const { fields, statusRule, without } = wish;
  if (without !== undefined && live !== undefined) return remaining(without, live);
  if (statusRule === undefined || fields === undefined || live === undefined) return fields;
  const wished = isObject(fields.status) ? fields.status : {};
  const there = isObject(live.status) ? live.status : {};
  return { ...fields, status: joinedStatus(statusRule, wished, there, time) };
}

function remaining({ part, list, member, value }: NonNullable<Wish['without']>, live: JsonObject): JsonObject {
  const within = isObject(live[part]) ? live[part][list] : undefined;
  const elements: readonly Json[] = Array.isArray(within) ? within : [];
  const left = elements.filter(element => !isObject(element) || element[member] !== value);
  return left.length === elements.length ? {} : { [part]: { [list]: left } };
}

function none(why: Satisfied): Plan {
  return { kind: 'none', why };
}

function named({ namespace, name }: Wish, head: JsonObject, fields: Json): JsonObject {
  const metadata = namespace === '' ? { name } : { name, namespace };
  return mergePatch(mergePatch(head, fields), { metadata }) as JsonObject;
}

function meets({ precondition }: Wish, live: JsonObject, { uid, generation, annotations }: JsonObject): boolean {
  if (precondition?.uid !== undefined && precondition.uid !== uid) return false;
  if (precondition?.read !== undefined && !isAsRead(live, precondition.read)) return false;
  if (precondition?.notLater !== undefined && isLater(annotations, precondition.notLater)) return false;
  return precondition?.generation === undefined || precondition.generation === generation;
}

function isAsRead(live: Json | undefined, read: Json): boolean {
  if (isObject(read)) {
    const object = isObject(live) ? live : {};
    return Object.entries(read).every(([name, value]) => value === undefined || isAsRead(object[name], value));
  }
  return isNone(read) ? isNone(live) : live !== undefined && jsonEqual(live, read);
}

/** What is no time is not later than any. */
function isLater(
  annotations: Json | undefined,
  { at, annotations: names }: NonNullable<Precondition['notLater']>,
): boolean {
  const limit = parseTimestamp(at) ?? 0;
  const times = isObject(annotations) ? names.map(name => parseTimestamp(textOf(annotations[name]))) : [];
  return times.some(time => time !== undefined && time > limit);
}

function isNone(value: Json | undefined): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** True if `live` has every field of `wished`; a wished null is the absence of a field. */
function has(live: Json | undefined, wished: Json, listKeys: Readonly<Record<string, string>>, path: string): boolean {
  if (wished === null) return live === undefined || live === null;
  if (isObject(wished)) {
    if (!isObject(live)) return false;
    return Object.entries(wished).every(
      ([name, value]) =>
        value === undefined || has(live[name], value, listKeys, path === '' ? name : `${path}.${name}`),
    );
  }
  const key = listKeys[path];
  if (!Array.isArray(wished) || key === undefined) return live !== undefined && jsonEqual(live, wished);
  if (!Array.isArray(live)) return false;
  return (wished as readonly Json[]).every(element => {
    const found = (live as readonly Json[]).find(
      one => isObject(one) && isObject(element) && one[key] === element[key],
    );
    return found !== undefined && has(found, element, listKeys, `${path}[]`);
  });
}

/** The fields that the server says the manager owns, by server-side apply or by creating and patching. */
function managedBy({ manager, subresource, verb }: Wish, { managedFields }: JsonObject): JsonObject | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const operation = verb === 'apply' ? 'Apply' : 'Update';
  const entry = (managedFields as readonly Json[]).find(
    one =>
      isObject(one) &&
      one.manager === manager &&
      one.operation === operation &&
      textOf(one.subresource) === subresource,
  );
  if (!isObject(entry)) return undefined;
  return isObject(entry.fieldsV1) ? entry.fieldsV1 : {};
}

/** True if `owned` (fieldsV1 of Kubernetes' managedFields) names a field that is not among the wished ones. */
function ownsMore(owned: JsonObject, wished: Json): boolean {
  return Object.entries(owned).some(([key, below]) => {
    const part = partOf(wished, key);
    if (part === KEPT) return false;
    if (part === undefined) return true;
    return isObject(below) && ownsMore(below, part);
  });
}

const KEPT = Symbol('is no field of its own');

/** `f:name`, `k:{"type":"Ready"}`, `v:"element"`, `i:0` or `.`, the item itself. */
function partOf(wished: Json, key: string): Json | undefined | typeof KEPT {
  if (key === '.') return KEPT;
  const name = key.slice(2);
  if (key.startsWith('f:')) return isObject(wished) ? wished[name] : undefined;
  if (!Array.isArray(wished)) return undefined;
  const elements = wished as readonly Json[];
  if (key.startsWith('i:')) return elements[Number(name)];
  const given = parsed(name);
  if (key.startsWith('v:')) return elements.some(one => jsonEqual(one, given)) ? KEPT : undefined;
  if (!isObject(given)) return KEPT;
  return elements.find(
    one =>
      isObject(one) && Object.entries(given).every(([member, value]) => jsonEqual(one[member] ?? null, value ?? null)),
  );
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
