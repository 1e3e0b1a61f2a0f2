// References shared by several Kubernetes kinds; each object refers to others in its own cluster.

import type { Obj } from '../../model/object.ts';
import type { Reference } from '../references.ts';

interface Target {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The pod behind an address: while it is not there, neither is the endpoint. */
export function podReference(path: string, obj: Obj, target: Target | undefined): readonly Reference[] {
  if (target?.kind !== 'Pod') return [];
  const { cluster } = obj;
  return [{ path, cluster, kind: 'Pod', namespace: target.namespace || obj.namespace, name: target.name }];
}

export function serviceReference(
  path: string,
  { cluster, namespace }: Obj,
  name: string | undefined,
): readonly Reference[] {
  return name === undefined ? [] : [{ path, cluster, kind: 'Service', namespace, name }];
}
