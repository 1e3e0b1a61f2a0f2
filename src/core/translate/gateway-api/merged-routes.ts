// The rules of all HTTPRoutes and GRPCRoutes with one parent and host, merged into one VirtualService in the order that
// the Gateway API prescribes: the most specific match first, then the oldest route.
//
// Invariant: a merge depends on its members alone, so one changed route makes one new VirtualService and leaves the
// others as they are.
// Source: Istio pilot/pkg/config/kube/gateway/route_collections.go (mergeHTTPRoutes),
// pilot/pkg/config/kube/gateway/conversion.go (sortHTTPRoutes).

import { utf8 } from '../../base/base64.ts';
import { blocksOf } from '../../base/groups.ts';
import { PARENTS } from '../../model/derived.ts';
import { compareText, type Obj } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import type { HTTPMatchRequest, HTTPRoute } from '../../schema/istio-types.gen.ts';
import { allOfRevision } from './revision.ts';
import { type RouteKind, routeKinds } from './route-kinds.ts';
import { type TranslatedRoute, translatedRouteObject } from './routes.ts';

/** Argument ''. In the order of kinds and keys; merged ones by key. */
export const derivedVirtualServices: Query<'', readonly Obj<'VirtualService'>[]> = {
  name: 'translate/derivedVirtualServices',
  run: reader => {
    const byKey = reader.get(routesByKey, '');
    const done = [...(byKey.get('') ?? [])];
    const ofMany = byKey.size > HOSTS_ALONE_MAX ? aloneInBlocks(reader, byKey) : undefined;
    for (const [key, members] of byKey) {
      if (key === '') continue;
      const [only] = members;
      if (members.length === 1) done.push(ofMany?.get(key) ?? mergedAlone(key, only!));
      else done.push(reader.make(mergedRoutes, { key, members: [...members].sort(byAgeAndNamespace) }));
    }
    return done;
  },
};

/** Of each parent and host; under '' what is not merged. In the order of kinds and keys. */
const routesByKey: Query<'', ReadonlyMap<string, readonly Obj<'VirtualService'>[]>> = {
  name: 'translate/routesByKey',
  run: reader => {
    const byKey = new Map<string, Obj<'VirtualService'>[]>();
    for (const kind of routeKinds) {
      const routes: readonly Obj<RouteKind>[] = allOfRevision(reader, kind);
      for (const translated of translationsOf(reader, routes)) {
        for (const { key, object } of translated?.derived ?? []) addTo(byKey, key, object);
      }
    }
    return byKey;
  },
};

/** More routes are gone through in blocks, of which interrupted work finds each again as one value. */
const ROUTES_ALONE_MAX = 512;
const ROUTES_TOGETHER = 128;

type Translations = readonly (TranslatedRoute | undefined)[];

function translationsOf(reader: Reader, routes: readonly Obj<RouteKind>[]): Translations {
  if (routes.length <= ROUTES_ALONE_MAX) return reader.selectEach(translatedRouteObject, routes);
  return blocksOf(routes, ROUTES_TOGETHER).flatMap(block => reader.select(translatedBlock, { routes: block }));
}

const translatedBlock: Selection<{ readonly routes: readonly Obj<RouteKind>[] }, Translations> = {
  name: 'translate/translatedBlock',
  run: (reader, { routes }) => reader.selectEach(translatedRouteObject, routes),
};

function addTo<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [item]);
  else known.push(item);
}

function byAgeAndNamespace(a: Obj, b: Obj): number {
  return a.creationTime - b.creationTime || compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
}

interface Merge {
  readonly key: string;
  /** In order; never empty. */
  readonly members: readonly Obj<'VirtualService'>[];
}

const mergedRoutes: Generator<Merge, Obj<'VirtualService'>> = {
  name: 'translate/mergedRoutes',
  run: merge,
  work: (_, { members }) => members.length / MERGED_PER_WORK_UNIT,
};

/** Routes that are merged in about the time of one run of a query. */
const MERGED_PER_WORK_UNIT = 4;

/** Most hosts have one route; its content is the key of the merge. */
const alone = new WeakMap<Obj<'VirtualService'>, Obj<'VirtualService'>>();

function mergedAlone(key: string, only: Obj<'VirtualService'>): Obj<'VirtualService'> {
  const known = alone.get(only) ?? merge({ key, members: [only] });
  alone.set(only, known);
  return known;
}

/** More parents and hosts are merged in blocks, between which the work may be interrupted. */
const HOSTS_ALONE_MAX = 512;
const HOSTS_TOGETHER = 128;

/** Those that have one route, by key. */
function aloneInBlocks(
  reader: Reader,
  byKey: ReadonlyMap<string, readonly Obj<'VirtualService'>[]>,
): ReadonlyMap<string, Obj<'VirtualService'>> {
  const found = new Map<string, Obj<'VirtualService'>>();
  const keysAlone = [...byKey].flatMap(([key, members]) => (key !== '' && members.length === 1 ? [key] : []));
  for (const keys of blocksOf(keysAlone, HOSTS_TOGETHER)) {
    const made = reader.make(mergedAloneBlock, { keys, routes: keys.map(key => byKey.get(key)![0]!) });
    for (const [i, key] of keys.entries()) found.set(key, made[i]!);
  }
  return found;
}

const mergedAloneBlock: Generator<
  { readonly keys: readonly string[]; readonly routes: readonly Obj<'VirtualService'>[] },
  readonly Obj<'VirtualService'>[]
> = {
  name: 'translate/mergedAloneBlock',
  run: ({ keys, routes }) => keys.map((key, i) => mergedAlone(key, routes[i]!)),
  work: (_, { keys }) => keys.length / MERGED_PER_WORK_UNIT,
};

function merge({ key, members }: Merge): Obj<'VirtualService'> {
  const first = members[0]!;
  const parents = members.map(({ annotations }) => annotations[PARENTS] ?? '').join(',');
  const rules = members.flatMap(({ spec }) => spec.http ?? []);
  return {
    ...first,
    name: key.replaceAll('/', '~'),
    annotations: { ...first.annotations, [PARENTS]: parents },
    spec: { ...first.spec, http: inPrecedence(rules) },
  };
}

/** Of a rule, in the order in which they decide: what is greater comes first. */
type Precedence = readonly [pathRank: number, pathLength: number, method: number, headers: number, params: number];

const NO_MATCH: Precedence = [-1, 0, 0, 0, 0];

/** Stable: rules that are equal here stay in the order of their routes. Each is measured once. */
function inPrecedence(rules: readonly HTTPRoute[]): readonly HTTPRoute[] {
  if (rules.length < 2) return rules;
  const measured = rules.map(rule => ({ rule, by: precedenceOf(rule.match?.[0]) }));
  return measured.sort((a, b) => byPrecedence(a.by, b.by)).map(({ rule }) => rule);
}

function precedenceOf(match: HTTPMatchRequest | undefined): Precedence {
  if (match === undefined) return NO_MATCH;
  const { method, headers, queryParams } = match;
  return [pathRank(match), pathLength(match), Number(method !== undefined), sizeOf(headers), sizeOf(queryParams)];
}

function byPrecedence(a: Precedence, b: Precedence): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return b[i]! - a[i]!;
  return 0;
}

function pathRank({ uri }: HTTPMatchRequest): number {
  if (uri?.exact !== undefined) return 3;
  if (uri?.prefix !== undefined) return 2;
  return uri?.regex === undefined ? 0 : 1;
}

/** In bytes, as Go counts. */
function pathLength({ uri }: HTTPMatchRequest): number {
  return utf8(uri?.exact ?? uri?.prefix ?? uri?.regex ?? '').length;
}

function sizeOf(map: Readonly<Record<string, unknown>> | undefined): number {
  return map === undefined ? 0 : Object.keys(map).length;
}
