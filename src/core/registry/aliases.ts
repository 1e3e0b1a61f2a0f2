// ExternalName Services are other names of services: chains are followed to the first name that is no alias, loops lead
// nowhere. Source: Istio pilot/pkg/model/push_context.go (resolveServiceAliases).

import { compareText } from '../model/object.ts';
import type { Service } from '../model/service.ts';
import type { Query } from '../query/reader.ts';
import { clusterSetService, hasClusterSet } from './cluster-set.ts';
import { mergedService } from './kubernetes-service.ts';

interface Alias {
  readonly hostname: string;
  readonly namespace: string;
  readonly target: string;
}

/** Argument: a hostname. The aliases that resolve to it, by namespace, hostname. */
export const aliasesOf: Query<string, Service['aliases']> = {
  name: 'registry/aliasesOf',
  run: (reader, hostname) => {
    return reader
      .get(resolvedAliases, '')
      .filter(alias => alias.target === hostname)
      .map(({ hostname: name, namespace }) => ({ hostname: name, namespace }))
      .sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.hostname, b.hostname));
  },
};

/** All aliases with the names they come down to. */
const resolvedAliases: Query<'', readonly Alias[]> = {
  name: 'registry/resolvedAliases',
  run: reader => {
    const direct = new Map<string, Alias>();
    const queries = hasClusterSet(reader) ? [mergedService, clusterSetService] : [mergedService];
    for (const obj of reader.indexed('servicesByType', 'ExternalName')) {
      for (const query of queries) {
        const service = reader.get(query, `${obj.namespace}/${obj.name}`);
        if (service?.resolution !== 'Alias' || service.externalName === undefined) continue;
        const { hostname, namespace, externalName } = service;
        direct.set(hostname, { hostname, namespace, target: externalName });
      }
    }
    const resolved: Alias[] = [];
    for (const alias of direct.values()) {
      const target = follow(direct, alias);
      if (target !== undefined) resolved.push({ ...alias, target });
    }
    return resolved;
  },
};

function follow(direct: ReadonlyMap<string, Alias>, from: Alias): string | undefined {
  const seen = new Set([from.hostname]);
  let { target } = from;
  for (;;) {
    if (seen.has(target)) return undefined;
    const next = direct.get(target);
    if (next === undefined) return target;
    seen.add(target);
    target = next.target;
  }
}
