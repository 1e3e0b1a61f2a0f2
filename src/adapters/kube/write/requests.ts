// From plans and paths to requests. Pure.

import type { JsonObject } from '../../../core/base/json.ts';
import type { Plan } from '../../../core/wishes/plan.ts';
import type { Target } from '../../../core/wishes/wish.ts';
import type { WriteRequest } from '../api.ts';
import type { Resource } from '../resource.ts';

export const MERGE_PATCH = 'application/merge-patch+json';
/** JSON is YAML. */
const APPLY_PATCH = 'application/apply-patch+yaml';

/** `/api/v1/namespaces/default/configmaps/name/status`; the collection without a name. */
export function objectPath({ path }: Pick<Resource, 'path'>, namespace: string, name = '', subresource = ''): string {
  const cut = path.lastIndexOf('/');
  const collection = namespace === '' ? path : `${path.slice(0, cut)}/namespaces/${namespace}${path.slice(cut)}`;
  return [collection, name, subresource].filter(part => part !== '').join('/');
}

/** Undefined: there is nothing to write. */
export function requestOf(resource: Resource, target: Target, plan: Plan): WriteRequest | undefined {
  const { namespace, name, subresource, manager: fieldManager } = target;
  const path = objectPath(resource, namespace, name, subresource);
  switch (plan.kind) {
    case 'none':
      return undefined;
    case 'create':
      return target.subresource === ''
        ? { method: 'POST', path: objectPath(resource, namespace), query: { fieldManager }, body: plan.object }
        : undefined;
    case 'merge':
      return { method: 'PATCH', path, query: { fieldManager }, body: plan.patch, contentType: MERGE_PATCH };
    case 'apply': {
      const query = { fieldManager, force: 'true' };
      return { method: 'PATCH', path, query, body: plan.object, contentType: APPLY_PATCH };
    }
    default:
      return { method: 'DELETE', path, body: deleteOptions(plan) };
  }
}

export function deleteOptions({
  uid,
  resourceVersion,
}: {
  readonly uid?: string;
  readonly resourceVersion?: string;
}): JsonObject {
  const preconditions = {
    ...(uid ? { uid } : {}),
    ...(resourceVersion ? { resourceVersion } : {}),
  };
  return { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
}
