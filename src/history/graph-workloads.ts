// The workloads of a mesh's graph: proxies of one owner, represented by the first of them.

import type { ProxyRecord } from '../core/model/proxy.ts';
import { workloadOf } from './proxies.ts';

export interface Workload {
  readonly id: string;
  readonly namespace: string;
  /** At least one. */
  readonly proxies: readonly ProxyRecord[];
}

/** By namespace and name. */
export function workloadsOf(proxies: readonly ProxyRecord[]): readonly Workload[] {
  const found = new Map<string, ProxyRecord[]>();
  for (const proxy of proxies) {
    const id = `workload/${proxy.facets.namespace}/${workloadOf(proxy)}`;
    const own = found.get(id);
    if (own === undefined) found.set(id, [proxy]);
    else own.push(proxy);
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, own]) => ({ id, namespace: own[0]!.facets.namespace, proxies: own }));
}
