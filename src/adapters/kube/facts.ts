// From an object of the API server to a fact. Only the projection of its kind is kept: what means nothing to a mesh
// (annotations of other programs, most of a pod) never reaches the journal. Beside it, one entry of
// metadata.managedFields tells who wrote last, and when, and of Istio's objects metadata.generation which version it
// is; both are outside every projection, so a write that changes nothing else is no change.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { Fact, RawObject } from '../../core/event.ts';
import { definitions } from '../../core/kinds/registry.ts';
import type { WatchEvent } from './reflector.ts';
import type { Resource } from './resource.ts';

/** Items of a list have no kind and apiVersion; the list has. */
export function objectOf(resource: Resource, object: JsonObject): RawObject {
  const { apiVersion, objectKind } = resource;
  const definition = definitions[resource.kind];
  const kept = definition.project({ ...object, apiVersion, kind: objectKind });
  if (!isObject(object.metadata) || !isObject(kept.metadata)) return kept;
  const { managedFields, generation } = object.metadata;
  const writer = lastWriter(managedFields);
  const isVersioned = typeof generation === 'number' && definition.group.endsWith(ISTIO);
  if (writer === undefined && !isVersioned) return kept;
  const beside = {
    ...(isVersioned ? { generation } : {}),
    ...(writer === undefined ? {} : { managedFields: [writer] }),
  };
  return { ...kept, metadata: { ...kept.metadata, ...beside } };
}

const ISTIO = '.istio.io';

const WRITER = ['manager', 'operation', 'subresource', 'time'] as const;

/** The last entry of the newest second; writes of a status subresource only count if there is no other. */
function lastWriter(managedFields: Json | undefined): JsonObject | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  const rank = (entry: JsonObject): string => `${String(entry.time ?? '')} ${entry.subresource === undefined ? 1 : 0}`;
  let last: JsonObject | undefined;
  for (const entry of managedFields as readonly Json[]) {
    if (isObject(entry) && (last === undefined || rank(entry) >= rank(last))) last = entry;
  }
  if (last === undefined) return undefined;
  const writer = last;
  return Object.fromEntries(WRITER.flatMap(key => (writer[key] === undefined ? [] : [[key, writer[key]]])));
}

export function added(resource: Resource, object: JsonObject): Fact {
  return { kind: 'Add', object: objectOf(resource, object) };
}

/** Undefined for an object without a name. */
export function factOf(resource: Resource, { type, object }: WatchEvent): Fact | undefined {
  const { metadata } = object;
  if (!isObject(metadata) || typeof metadata.name !== 'string') return undefined;
  if (type !== 'DELETED') return { kind: type === 'ADDED' ? 'Add' : 'Update', object: objectOf(resource, object) };
  const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : '';
  const { apiVersion, objectKind: kind } = resource;
  return { kind: 'Delete', ref: { apiVersion, kind, namespace, name: metadata.name } };
}
