// Where an API server serves its built-in kinds, from its discovery documents. Pure.

import { isObject, type Json } from '../../core/base/json.ts';
import { builtInKinds, isRequired, pathOf, type Resource, resourceOf } from './resource.ts';

/** Paths of the documents, e.g. `/api/v1`. Sorted. */
export const documentPaths: readonly string[] = [
  ...new Set(builtInKinds.flatMap(({ group, versions }) => versions.map(version => pathOf(group, version)))),
].sort();

export interface BuiltIns {
  readonly resources: readonly Resource[];
  /** Required kinds that no document lists. */
  readonly missing: readonly string[];
}

/** `documents`: path → APIResourceList; absent ones are not served. */
export function builtIns(documents: ReadonlyMap<string, Json>): BuiltIns {
  const resources: Resource[] = [];
  const missing: string[] = [];
  for (const definition of builtInKinds) {
    const { kind, objectKind = kind, group, versions } = definition;
    const found = versions.flatMap(version => {
      const plural = pluralIn(documents.get(pathOf(group, version)), objectKind);
      return plural === undefined ? [] : [resourceOf(definition, version, plural)];
    })[0];
    if (found !== undefined) resources.push(found);
    else if (isRequired(definition)) missing.push(kind);
  }
  return { resources, missing };
}

function pluralIn(document: Json | undefined, kind: string): string | undefined {
  if (!isObject(document) || !Array.isArray(document.resources)) return undefined;
  for (const resource of document.resources as readonly Json[]) {
    // Skip subresources such as `pods/status`.
    if (!isObject(resource) || resource.kind !== kind || typeof resource.name !== 'string') continue;
    if (!resource.name.includes('/')) return resource.name;
  }
  return undefined;
}
