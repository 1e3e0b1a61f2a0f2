// How many routes are attached to each listener. A route counts once for a listener, whether its backends resolve or
// not; a ListenerSet and a Gateway of one name in one namespace add up, as in istiod.
// Source: Istio pilot/pkg/config/kube/gateway/route_collections.go (gatewayRouteAttachmentCountCollection).

import type { Obj } from '../../model/object.ts';
import type { Query, Selection } from '../../query/reader.ts';
import { isMesh } from '../../translate/gateway-api/parents.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { type RouteKind, routeKinds } from '../../translate/gateway-api/route-kinds.ts';
import { translatedRouteObject } from '../../translate/gateway-api/routes.ts';

/** A listener that takes a route. */
interface Attachment {
  /** `namespace/name` of the parent. */
  readonly key: string;
  readonly section: string;
}

/** Of one route, each once. */
const attachmentsOf: Selection<Obj<RouteKind>, readonly Attachment[]> = {
  name: 'wishes/attachmentsOf',
  run: (reader, route) => {
    const found = new Map<string, Attachment>();
    for (const candidate of reader.select(translatedRouteObject, route)?.candidates ?? []) {
      const { key, section } = candidate;
      if (!isMesh(candidate) && candidate.denied === undefined) found.set(`${key}/${section}`, { key, section });
    }
    return [...found.values()];
  },
};

/** `namespace/name` of the parent → listener → routes. */
const allAttachments: Query<'', ReadonlyMap<string, Readonly<Record<string, number>>>> = {
  name: 'wishes/allAttachments',
  run: reader => {
    const counts = new Map<string, Map<string, number>>();
    for (const kind of routeKinds) {
      const routes: readonly Obj<RouteKind>[] = allOfRevision(reader, kind);
      for (const attachments of reader.selectEach(attachmentsOf, routes)) {
        for (const { key, section } of attachments) {
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
