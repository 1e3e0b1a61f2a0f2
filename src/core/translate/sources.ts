// The user's objects behind those that a translation made: commands and pages show these names, never the name of the
// translated VirtualService or DestinationRule.

import { PARENTS } from '../model/derived.ts';
import { configKey, type Obj } from '../model/object.ts';
import type { Query } from '../query/reader.ts';
import { derivedDestinationRules } from './gateway-api/derived-destination-rules.ts';
import { derivedVirtualServices } from './gateway-api/merged-routes.ts';
import { policyKinds } from './gateway-api/policies.ts';
import { ingressesOfRoutes } from './ingress/ingress-routes.ts';

/** Argument ''. `Kind/namespace/name` of each translated object → those behind it, likewise and in order. */
export const translationSources: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'translate/sources',
  run: reader => {
    const found = new Map<string, readonly string[]>();
    for (const obj of reader.get(derivedVirtualServices, '')) found.set(keyOf(obj), parentsOf(obj, routeOf));
    for (const [key, ingresses] of reader.get(ingressesOfRoutes, '')) {
      found.set(
        `VirtualService/${key}`,
        ingresses.map(ingress => `Ingress/${ingress}`),
      );
    }
    const namespaces = new Set(policyKinds.flatMap(kind => reader.objects(kind).map(({ namespace }) => namespace)));
    for (const namespace of namespaces) {
      for (const obj of reader.get(derivedDestinationRules, namespace)) found.set(keyOf(obj), parentsOf(obj, policyOf));
    }
    return found;
  },
};

function keyOf({ kind, namespace, name }: Obj): string {
  return `${kind}/${configKey(namespace, name)}`;
}

function parentsOf({ annotations }: Obj, read: (parent: string) => string): readonly string[] {
  const parents = (annotations[PARENTS] ?? '').split(',').filter(parent => parent !== '');
  return [...new Set(parents.map(read))];
}

/** `HTTPRoute/name.namespace`: a name may contain dots, a namespace none. */
function routeOf(parent: string): string {
  const [, kind = '', name = '', namespace = ''] = /^([^/]*)\/(.*)\.([^.]*)$/.exec(parent) ?? [];
  return `${kind}/${configKey(namespace, name)}`;
}

/** `BackendTLSPolicy/namespace.name`. */
function policyOf(parent: string): string {
  const [, kind = '', namespace = '', name = ''] = /^([^/]*)\/([^.]*)\.(.*)$/.exec(parent) ?? [];
  return `${kind}/${configKey(namespace, name)}`;
}
