// How many routes are attached to each listener. A route counts once for a listener, whether its backends resolve or
// not; a ListenerSet and a Gateway of one name in one namespace add up, as in istiod.
// Source: Istio pilot/pkg/config/kube/gateway/route_collections.go (gatewayRouteAttachmentCountCollection).

import type { Query } from '../../query/reader.ts';
import { isMesh } from '../../translate/gateway-api/parents.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { routeKinds } from '../../translate/gateway-api/route-kinds.ts';
import { routeKey, translatedRoute } from '../../translate/gateway-api/routes.ts';

/** `namespace/name` of the parent → listener → routes. */
const allAttachments: Query<'', ReadonlyMap<string, Readonly<Record<string, number>>>> = {
  name: 'wishes/allAttachments',
  run: reader => {
    const counts = new Map<string, Map<string, number>>();
    for (const kind of routeKinds) {
      for (const route of allOfRevision(reader, kind)) {
        const seen = new Set<string>();
        for (const candidate of reader.get(translatedRoute, { kind, key: routeKey(route) })?.candidates ?? []) {
          const { key, section } = candidate;
          const once = `${key}/${section}`;
          if (isMesh(candidate) || candidate.denied !== undefined || seen.has(once)) continue;
          seen.add(once);
          const ofParent = counts.get(key) ?? new Map<string, number>();
          counts.set(key, ofParent.set(section, (ofParent.get(section) ?? 0) + 1));
        }
      }
    }
    return new Map([...counts].map(([key, ofParent]) => [key, Object.fromEntries(ofParent)]));
  },
};

/** Argument `namespace/name` of a parent: its listeners that have any. */
export const attachedRoutes: Query<string, Readonly<Record<string, number>>> = {
  name: 'wishes/attachedRoutes',
  run: (reader, key) => reader.get(allAttachments, '').get(key) ?? {},
};
