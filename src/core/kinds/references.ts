// What objects refer to: other objects by name, hosts with their subsets, workloads by label, providers of the mesh
// configuration. Only as written: whether there is such a thing is a question to the state (select/references.ts). For
// saying that something refers to nothing.

import type { Labels } from '../base/labels.ts';
import type { KindName } from '../model/kind.ts';

export interface ObjectReference {
  /** Path inside the object that refers. */
  readonly path: string;
  readonly kind: KindName;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** Of a kind that every cluster has its own of: which; absent: the config cluster, of Services any. */
  readonly cluster?: string;
}
export interface HostReference {
  readonly path: string;
  /** As written: it may be short, and then it is beside the object. */
  readonly host: string;
  /** Empty if none is named. */
  readonly subset: string;
}
export interface WorkloadReference {
  readonly path: string;
  readonly labels: Labels;
  /** Where: beside the object; there, and everywhere if the object is in the root namespace; everywhere. */
  readonly scope: 'namespace' | 'policy' | 'mesh';
}
/** Of an extension provider in the mesh configuration. */
export interface ProviderReference {
  readonly path: string;
  readonly provider: string;
}
export type Reference = ObjectReference | HostReference | WorkloadReference | ProviderReference;

export interface Referring<S> {
  readonly namespace: string;
  readonly spec: S;
}

/** Workloads that a selector is for; none if it has no labels, for then it is for all. */
export function workloads(
  path: string,
  labels: Labels | undefined,
  scope: WorkloadReference['scope'],
): readonly Reference[] {
  return labels === undefined || Object.keys(labels).length === 0 ? [] : [{ path, labels, scope }];
}

/**
 * A Secret in the object's namespace; any other form (a file, another provider, another namespace) is not a reference.
 */
export function secret(path: string, namespace: string, name: string | undefined): readonly Reference[] {
  if (name === undefined || name === '' || name.includes(':') || name.includes('/')) return [];
  return [{ path, kind: 'Secret', namespace, name }];
}

export function host(path: string, destination: { readonly host?: string; readonly subset?: string } | undefined) {
  const { host: named = '', subset = '' } = destination ?? {};
  return named === '' ? [] : [{ path, host: named, subset }];
}

export function account(path: string, namespace: string, name: string | undefined): readonly Reference[] {
  return name === undefined || name === '' ? [] : [{ path, kind: 'ServiceAccount', namespace, name }];
}

/** For each element with its path. */
export function each<T>(
  path: string,
  list: readonly T[] | undefined,
  refer: (path: string, element: T) => readonly Reference[],
): readonly Reference[] {
  return (list ?? []).flatMap((element, i) => refer(`${path}[${i}]`, element));
}
