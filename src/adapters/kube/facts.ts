// From an object of the API server to a fact. Only the projection of its kind is kept: what means nothing to a mesh (the annotations of
// other programs, most of a pod) never reaches the journal.

import type { Fact, RawObject } from '../../core/event.ts';
import { isObject, type JsonObject } from '../../core/json.ts';
import { definitions } from '../../core/kinds/registry.ts';
import type { WatchEvent } from './reflector.ts';
import type { Resource } from './resource.ts';

/** Items of a list say neither their kind nor their version: the list does. */
export function objectOf(resource: Resource, object: JsonObject): RawObject {
  const { apiVersion, objectKind } = resource;
  return definitions[resource.kind].project({ ...object, apiVersion, kind: objectKind });
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
