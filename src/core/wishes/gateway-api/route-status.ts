// The status of a route: for each parent that it names whether it is attached, and whether its references resolve.
//
// A reference without a candidate is another controller's, and has no entry. Several candidates of one reference, the
// listeners of a Gateway, share one: one that takes the route is enough.
// Source: Istio pilot/pkg/config/kube/gateway/conditions.go (createRouteStatus).

import type { JsonObject } from '../../base/json.ts';
import { compareText, type Obj } from '../../model/object.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import { type ConfigError, configError } from '../../translate/gateway-api/config-error.ts';
import { type Candidate, isMesh, refText } from '../../translate/gateway-api/parents.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { type RouteKind, routeKinds } from '../../translate/gateway-api/route-kinds.ts';
import { isRead, routeKey, translatedRoute } from '../../translate/gateway-api/routes.ts';
import type { Wish } from '../wish.ts';
import { type Condition, condition, conditionsJson } from './conditions.ts';
import { statusWish, writesStatuses } from './status-wish.ts';
import { waypointCondition } from './waypoint-condition.ts';

/** Argument ''. */
export const routeStatuses: Query<'', readonly Wish[]> = {
  name: 'wishes/routeStatuses',
  run: reader => {
    if (!writesStatuses(reader)) return [];
    return routeKinds.flatMap(kind => {
      if (!isRead(reader, kind)) return [];
      const routes: readonly Obj<RouteKind>[] = allOfRevision(reader, kind);
      return reader.selectEach(statusOf, routes).filter(wish => wish !== undefined);
    });
  },
};

const statusOf: Selection<Obj<RouteKind>, Wish | undefined> = {
  name: 'wishes/statusOfRoute',
  run: (reader, route) => reader.get(routeStatus, { kind: route.kind as RouteKind, key: routeKey(route) }),
};

export const routeStatus: Query<{ readonly kind: RouteKind; readonly key: string }, Wish | undefined> = {
  name: 'wishes/routeStatus',
  key: ({ kind, key }) => `${kind}/${key}`,
  run: (reader, { kind, key }) => {
    const obj = reader.object(kind, key) as Obj | undefined;
    const translated = reader.get(translatedRoute, { kind, key });
    if (obj === undefined || translated === undefined) return undefined;
    const controllerName = reader.feature('PILOT_GATEWAY_API_CONTROLLER_NAME');
    const text = ({ ref }: Candidate): string => refText(ref, obj.namespace);
    const parents = byReference(translated.candidates)
      .sort(([a], [b]) => compareText(text(b!), text(a!)))
      .map((candidates): JsonObject => {
        const error = isMesh(candidates[0]!) ? translated.meshError : translated.gatewayError;
        const conditions = conditionsOf(reader, candidates, error);
        const parentRef = writtenRef(candidates[0]!);
        return { parentRef, controllerName, conditions: conditionsJson(obj.generation, conditions) };
      });
    const { namespace } = obj;
    const rule = { of: 'entries', member: 'parents', controllers: [controllerName], namespace } as const;
    return statusWish(reader, obj, { parents }, rule);
  },
};

/** Never empty lists, by the position of the reference. */
function byReference(candidates: readonly Candidate[]): (readonly Candidate[])[] {
  const found = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const known = found.get(candidate.index);
    if (known === undefined) found.set(candidate.index, [candidate]);
    else known.push(candidate);
  }
  return [...found].sort(([a], [b]) => a - b).map(([, list]) => list);
}

function writtenRef({ ref }: Candidate): JsonObject {
  return { ...ref };
}

function conditionsOf(
  reader: Reader,
  candidates: readonly Candidate[],
  error: ConfigError | undefined,
): readonly Condition[] {
  const attached = candidates.filter(({ denied }) => denied === undefined).length;
  const message = attached > 1 ? `Route was valid, bound to ${attached} parents` : 'Route was valid';
  const denied = attached > 0 ? undefined : gravest(candidates);
  const conditions = [
    condition('Accepted', denied, 'Accepted', message),
    condition('ResolvedRefs', error, 'ResolvedRefs', 'All references resolved'),
  ];
  const waypoint = waypointCondition(reader, candidates[0]!);
  return waypoint === undefined ? conditions : [...conditions, waypoint];
}

/** The gravest first. */
const RANKS: readonly string[] = ['NotAllowedByListeners', 'NoMatchingListenerHostname', 'NoMatchingParent'];

/** The reason that says most, with the messages of all candidates that have it. */
export function gravest(candidates: readonly Candidate[]): ConfigError | undefined {
  const errors = candidates.flatMap(({ denied }) => denied ?? []);
  const reason = RANKS.find(rank => errors.some(error => error.reason === rank)) ?? errors[0]?.reason;
  if (reason === undefined) return undefined;
  const messages = errors.filter(error => error.reason === reason).map(({ message }) => message);
  return configError(reason, messages.join('; '));
}
