// What a write makes of an object, as an API server has it: versions as preconditions, merge patches, and server-side
// apply of maps with the fields that each manager owns. Lists are replaced as a whole.

import type { WriteRequest } from '../../src/adapters/kube/api.ts';
import { CONFLICT, KubeFault, NOT_FOUND } from '../../src/adapters/kube/failure.ts';
import { isObject, type Json, type JsonObject, jsonEqual } from '../../src/core/base/json.ts';
import { mergePatch } from '../../src/core/base/merge-patch.ts';

/** The object after the write, the same if nothing changes; undefined: it is gone. Throws a KubeFault. */
export function written({ method, path, query, body, contentType }: WriteRequest, before: JsonObject | undefined) {
  const given = isObject(body) ? body : {};
  if (method === 'POST') {
    if (before !== undefined) throw fault(CONFLICT, 'AlreadyExists', path);
    return given;
  }
  const isApply = contentType === 'application/apply-patch+yaml';
  if (before === undefined && !(isApply && !path.endsWith('/status'))) throw fault(NOT_FOUND, 'NotFound', path);
  const metadata = isObject(before?.metadata) ? before.metadata : {};
  const wanted = method === 'DELETE' ? given.preconditions : given.metadata;
  const version = isObject(wanted) ? wanted.resourceVersion : undefined;
  if (typeof version === 'string' && version !== '' && version !== metadata.resourceVersion) {
    throw fault(CONFLICT, 'Conflict', path);
  }
  if (method === 'DELETE') return undefined;
  const after =
    method === 'PUT'
      ? given
      : isApply
        ? applied(before ?? {}, given, query?.fieldManager ?? '', path)
        : mergePatch(before ?? {}, given);
  const isSame = jsonEqual(unversioned(after as JsonObject), unversioned(before ?? {}));
  return isSame ? before : (after as JsonObject);
}

function applied(before: JsonObject, given: JsonObject, manager: string, path: string): JsonObject {
  const { apiVersion: _, kind: __, metadata: ___, ...fields } = given;
  const subresource = path.endsWith('/status') ? 'status' : undefined;
  const managed = (before.metadata as JsonObject | undefined)?.managedFields;
  const entries = (Array.isArray(managed) ? managed : []) as readonly JsonObject[];
  const isOwn = (entry: JsonObject): boolean => entry.manager === manager && entry.subresource === subresource;
  const owned = entries.find(isOwn)?.fieldsV1;
  const pruned = isObject(owned) ? without(before, owned, fields) : before;
  const merged = mergePatch(pruned, given) as JsonObject;
  const entry = { manager, operation: 'Apply', subresource, fieldsV1: fieldsOf(fields) };
  const managedFields = [...entries.filter(one => !isOwn(one)), ...(Object.keys(fields).length === 0 ? [] : [entry])];
  return { ...merged, metadata: { ...(merged.metadata as JsonObject), managedFields } };
}

function fieldsOf(value: Json): JsonObject {
  if (!isObject(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([name, below]) => [`f:${name}`, fieldsOf(below ?? null)]));
}

function without(object: JsonObject, owned: JsonObject, kept: Json): JsonObject {
  const left = { ...object } as { [name: string]: Json | undefined };
  for (const [field, below] of Object.entries(owned)) {
    const name = field.slice(2);
    const [now, wished] = [left[name], isObject(kept) ? kept[name] : undefined];
    if (isObject(now) && isObject(below) && Object.keys(below).length > 0) {
      left[name] = without(now, below, wished ?? null);
      if (Object.keys(left[name] as JsonObject).length === 0) delete left[name];
    } else if (wished === undefined) delete left[name];
  }
  return left;
}

function unversioned(object: JsonObject): JsonObject {
  const { resourceVersion: _, ...metadata } = isObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata };
}

function fault(status: number, reason: string, path: string): KubeFault {
  return new KubeFault({ status, reason, message: `${path}: ${reason}` });
}
