// Why routes are not attached, or send to nowhere, in one sentence each: for the author of the route, with the words of
// its status.

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import type { KindName } from '../../model/kind.ts';
import { configKey } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import type { ConfigError } from '../../translate/gateway-api/config-error.ts';
import type { Candidate } from '../../translate/gateway-api/parents.ts';
import { allOfRevision } from '../../translate/gateway-api/revision.ts';
import { type RouteKind, routeKinds } from '../../translate/gateway-api/route-kinds.ts';
import { headOf, isRead, routeKey, type TranslatedRoute, translatedRoute } from '../../translate/gateway-api/routes.ts';
import { gravest } from './route-status.ts';

export interface RouteFinding {
  readonly kind: KindName;
  readonly key: string;
  readonly path: string;
  readonly message: string;
}

/** Argument ''. In the order of kinds, routes and references. */
export const routeFindings: Query<'', readonly RouteFinding[]> = {
  name: 'wishes/routeFindings',
  run: reader =>
    routeKinds.flatMap(kind =>
      allOfRevision(reader, kind).flatMap(route => {
        const key = routeKey(route);
        if (!isRead(reader, kind)) return [];
        const translated = reader.get(translatedRoute, { kind, key });
        return translated === undefined ? [] : findingsOf(kind, key, headOf(route as never), translated);
      }),
    ),
};

function findingsOf(
  kind: RouteKind,
  key: string,
  { namespace, parentRefs }: ReturnType<typeof headOf>,
  { candidates, gatewayError, meshError }: TranslatedRoute,
): readonly RouteFinding[] {
  const found: RouteFinding[] = [];
  for (const [index, ref] of parentRefs.entries()) {
    const parent = `${ref.kind} ${configKey(ref.namespace ?? namespace, ref.name)}`;
    const why = detachment(
      candidates.filter(one => one.index === index),
      `${ref.group}/${ref.kind}`,
    );
    const path = `spec.parentRefs[${index}]`;
    if (why !== undefined) found.push({ kind, key, path, message: `is not attached to ${parent}: ${why}` });
  }
  const error: ConfigError | undefined = gatewayError ?? meshError;
  if (error !== undefined) found.push({ kind, key, path: 'spec.rules', message: error.message });
  return found;
}

/** Undefined: a candidate takes the route, or the parent is of no concern to us. */
function detachment(candidates: readonly Candidate[], type: string): string | undefined {
  if (candidates.some(({ denied }) => denied === undefined)) return undefined;
  const denied = gravest(candidates);
  if (denied !== undefined) return denied.message;
  if (!type.startsWith(`${GATEWAY_API}/`)) return undefined;
  return 'there is no such parent, or another controller serves its class';
}

/** Argument ''. `Kind namespace/name` of a route, with the parents that take it. */
export const attachments: Query<'', ReadonlyMap<string, readonly string[]>> = {
  name: 'wishes/attachments',
  run: reader => {
    const found = new Map<string, readonly string[]>();
    for (const kind of routeKinds) {
      for (const route of allOfRevision(reader, kind)) {
        const key = routeKey(route);
        const candidates = reader.get(translatedRoute, { kind, key })?.candidates ?? [];
        const taken = candidates.filter(({ denied }) => denied === undefined);
        found.set(`${kind} ${key}`, [...new Set(taken.map(({ ref, key: parent }) => `${ref.kind} ${parent}`))].sort());
      }
    }
    return found;
  },
};
