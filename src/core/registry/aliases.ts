// ExternalName Services are other names of services: chains are followed to the first name that is no alias, loops lead
// nowhere. Source: Istio pilot/pkg/model/push_context.go (resolveServiceAliases).

import { groupsOf } from '../base/groups.ts';
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
  run: (reader, hostname) => reader.get(aliasesByTarget, '').get(hostname) ?? [],
};

/** Made of all ExternalName Services. */
export const aliasesByTarget: Query<'', ReadonlyMap<string, Service['aliases']>> = {
  name: 'registry/aliasesByTarget',
  run: reader => {
    const found = new Map<string, Service['aliases']>();
    for (const [target, aliases] of groupsOf(reader.get(resolvedAliases, ''), alias => alias.target)) {
      aliases.sort((a, b) => compareText(a.namespace, b.namespace) || compareText(a.hostname, b.hostname));
      found.set(
        target,
        aliases.map(({ hostname, namespace }) => ({ hostname, namespace })),
      );
    }
    return found;
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
    const ends = endsOf(direct);
    return [...direct.values()].flatMap(alias => {
      const target = ends.get(alias.hostname);
      return target === undefined ? [] : [{ ...alias, target }];
    });
  },
};

/** The first name that is no alias, by alias; undefined where the chain is a loop. Each name is looked at once. */
function endsOf(direct: ReadonlyMap<string, Alias>): ReadonlyMap<string, string | undefined> {
  const ends = new Map<string, string | undefined>();
  for (const host of direct.keys()) {
    const path = new Set<string>();
    let at = host;
    for (let next = direct.get(at); next !== undefined && !ends.has(at) && !path.has(at); next = direct.get(at)) {
      path.add(at);
      at = next.target;
    }
    const end = ends.has(at) ? ends.get(at) : direct.has(at) ? undefined : at;
    for (const name of path) ends.set(name, end);
  }
  return ends;
}
