// Why routes are not attached, or send to nowhere, in one sentence each: for the author of the route, with the words of
// its status.

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { kubernetesHost, matches } from '../../model/hosts.ts';
import type { KindName } from '../../model/kind.ts';
import { configKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { ConfigError } from '../../translate/gateway-api/config-error.ts';
import { translatedGateway, translatedListenerSet } from '../../translate/gateway-api/gateways.ts';
import { CORE_SERVICE } from '../../translate/gateway-api/grants.ts';
import { type Candidate, isLeftTo, isMesh, type RouteHead } from '../../translate/gateway-api/parents.ts';
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

/**
 * Argument: a host name. Why the routes for it do not make it: those that no parent takes, whose rules cannot be used,
 * or that a listener takes and does not serve.
 */
export const routesWithout: Query<string, readonly RouteFinding[]> = {
  name: 'wishes/routesWithout',
  run: (reader, host) => {
    const found: RouteFinding[] = [];
    const told = reader.get(routeFindings, '');
    for (const kind of routeKinds) {
      if (!isRead(reader, kind)) continue;
      for (const route of allOfRevision(reader, kind)) {
        const key = routeKey(route);
        if (!isFor(reader, headOf(route as never), host)) continue;
        found.push(...told.filter(one => one.kind === kind && one.key === key));
        const candidates = reader.get(translatedRoute, { kind, key })?.candidates ?? [];
        for (const candidate of candidates) {
          const message = unserved(reader, candidate, host);
          if (message !== undefined) found.push({ kind, key, path: `spec.parentRefs[${candidate.index}]`, message });
        }
      }
    }
    return found;
  },
};

/** By its host names, or by the Service that is its parent: in full, or as people shorten it. */
function isFor(reader: Reader, { namespace, parentRefs, hostnames }: RouteHead, host: string): boolean {
  if (hostnames.some(name => matches(name, host))) return true;
  const domain = reader.setting('domainSuffix');
  return parentRefs.some(({ group, kind, name, namespace: of = namespace }) => {
    if (`${group}/${kind}` !== CORE_SERVICE) return false;
    return host === name || host === `${name}.${of}` || host === kubernetesHost(name, of, domain);
  });
}

/** Undefined: the candidate does not take the route, or serves it. */
function unserved(reader: Reader, candidate: Candidate, host: string): string | undefined {
  const { type, key, section, denied } = candidate;
  if (isMesh(candidate) || denied !== undefined) return undefined;
  const [, kind = ''] = type.split('/');
  const where = `is attached to ${kind} ${key}, whose listener ${section}`;
  const translated = kind === 'Gateway' ? reader.get(translatedGateway, key) : reader.get(translatedListenerSet, key);
  const listener = translated?.listeners.find(({ name }) => name === section);
  const error = listener?.accepted ?? listener?.resolvedRefs;
  if (listener?.server === undefined) return `${where} is not served${error === undefined ? '' : `: ${error.message}`}`;
  if (isLeftTo(candidate, host)) return undefined;
  return `${where} leaves ${host} to a listener with a more specific host name`;
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
