// Delegation of HTTP routes: the rules of a delegate take the place of the root's rule that names it, matches
// multiplied. Pairs of matches that cannot both hold are left out. One level only: the delegate's own delegates are not
// followed.
// Source: Istio pilot/pkg/model/virtualservice.go (MergeHTTPRoutes, mergeHTTPMatchRequests).

import { ROUTE_DESTINATIONS_MAX } from '../../kinds/istio/validate/http-route.ts';
import type { Generator } from '../../query/memo.ts';
import type { HTTPMatchRequest, HTTPRoute, StringMatch } from '../../schema/istio-types.gen.ts';

/**
 * Pairs of a root's match and a delegate's match that one VirtualService may compare. Every rule of a root may name the
 * same delegate, and matches multiply: two objects that an API server stores could come to billions. Rules that are
 * past the limit are left out.
 */
export const DELEGATED_PAIRS_MAX = 50_000;

/** What one VirtualService may still compare, and make of routes times destinations. */
export interface MergeBudget {
  pairs: number;
  routeDestinations: number;
}

export function fullBudget(): MergeBudget {
  return { pairs: DELEGATED_PAIRS_MAX, routeDestinations: ROUTE_DESTINATIONS_MAX };
}

/**
 * Those of a delegate's rules that the budget allows to replace one rule of a root. The first that exceeds it and all
 * after it are left out, and what was left of it is spent.
 */
export function affordable(root: HTTPRoute, leaves: readonly HTTPRoute[], budget: MergeBudget): readonly HTTPRoute[] {
  const ofRoot = Math.max(1, root.match?.length ?? 0);
  for (const [i, leaf] of leaves.entries()) {
    const pairs = ofRoot * Math.max(1, leaf.match?.length ?? 0);
    budget.pairs -= pairs;
    budget.routeDestinations -= pairs * Math.max(1, leaf.route?.length ?? 0);
    if (isSpent(budget)) return leaves.slice(0, i);
  }
  return leaves;
}

/**
 * The rules that replace one rule of a root, in the order of its delegate's rules. Memoised by rule: a root of
 * thousands is merged in slices, and a changed delegate leaves the rules of others as they are.
 */
export const delegatedRules: Generator<
  { readonly root: HTTPRoute; readonly leaves: readonly HTTPRoute[] },
  readonly HTTPRoute[]
> = { name: 'scope/delegatedRules', run: ({ root, leaves }) => mergeDelegate(root, leaves) };

export function mergeDelegate(root: HTTPRoute, leaves: readonly HTTPRoute[]): readonly HTTPRoute[] {
  const merged: HTTPRoute[] = [];
  for (const leaf of leaves) {
    const match = mergeMatches(root.match ?? [], leaf.match ?? []);
    if (match !== undefined) merged.push(mergeRule(root, leaf, match));
  }
  return merged;
}

export function isSpent({ pairs, routeDestinations }: MergeBudget): boolean {
  return pairs < 0 || routeDestinations < 0;
}

function mergeRule(root: HTTPRoute, leaf: HTTPRoute, match: readonly HTTPMatchRequest[]): HTTPRoute {
  const { delegate: _delegate, ...own } = leaf;
  return {
    ...own,
    name: joinNames(root.name, leaf.name),
    match,
    rewrite: leaf.rewrite ?? root.rewrite,
    directResponse: leaf.directResponse ?? root.directResponse,
    timeout: leaf.timeout ?? root.timeout,
    retries: leaf.retries ?? root.retries,
    fault: leaf.fault ?? root.fault,
    mirror: leaf.mirror ?? root.mirror,
    mirrorPercent: leaf.mirrorPercent ?? root.mirrorPercent,
    mirrorPercentage: leaf.mirrorPercentage ?? root.mirrorPercentage,
    corsPolicy: leaf.corsPolicy ?? root.corsPolicy,
    mirrors: leaf.mirrors === undefined || leaf.mirrors.length === 0 ? root.mirrors : leaf.mirrors,
    headers: leaf.headers ?? root.headers,
  };
}

/** Undefined: no request can satisfy both, and the rule is dropped. */
function mergeMatches(
  roots: readonly HTTPMatchRequest[],
  leaves: readonly HTTPMatchRequest[],
): readonly HTTPMatchRequest[] | undefined {
  if (roots.length === 0) return leaves;
  if (leaves.length === 0) return roots;
  const merged: HTTPMatchRequest[] = [];
  for (const leaf of leaves) {
    const partners = roots.filter(root => !conflict(root, leaf));
    if (partners.length === 0) return undefined;
    for (const root of partners) merged.push(mergeMatch(root, leaf));
  }
  return merged;
}

function mergeMatch(root: HTTPMatchRequest, leaf: HTTPMatchRequest): HTTPMatchRequest {
  return {
    name: joinNames(root.name, leaf.name),
    uri: leaf.uri ?? root.uri,
    scheme: leaf.scheme ?? root.scheme,
    method: leaf.method ?? root.method,
    authority: leaf.authority ?? root.authority,
    headers: unite(root.headers, leaf.headers),
    withoutHeaders: unite(root.withoutHeaders, leaf.withoutHeaders),
    queryParams: unite(root.queryParams, leaf.queryParams),
    sourceLabels: unite(root.sourceLabels, leaf.sourceLabels),
    port: leaf.port || root.port,
    gateways: leaf.gateways === undefined || leaf.gateways.length === 0 ? root.gateways : leaf.gateways,
    sourceNamespace: leaf.sourceNamespace || root.sourceNamespace,
    statPrefix: leaf.statPrefix || root.statPrefix,
    ignoreUriCase: leaf.ignoreUriCase,
  };
}

function conflict(root: HTTPMatchRequest, leaf: HTTPMatchRequest): boolean {
  return (
    stringsConflict(root.uri, leaf.uri) ||
    stringsConflict(root.scheme, leaf.scheme) ||
    stringsConflict(root.method, leaf.method) ||
    stringsConflict(root.authority, leaf.authority) ||
    mapsConflict(root.headers, leaf.headers) ||
    mapsConflict(root.withoutHeaders, leaf.withoutHeaders) ||
    mapsConflict(root.queryParams, leaf.queryParams) ||
    (root.ignoreUriCase ?? false) !== (leaf.ignoreUriCase ?? false) ||
    portsConflict(root.port ?? 0, leaf.port ?? 0) ||
    (!!root.sourceNamespace && root.sourceNamespace !== (leaf.sourceNamespace ?? '')) ||
    labelsConflict(root.sourceLabels, leaf.sourceLabels) ||
    gatewaysConflict(root.gateways ?? [], leaf.gateways ?? [])
  );
}

/**
 * Both must be able to hold: a prefix of the root can be narrowed, an exact value only repeated, a regular expression
 * neither.
 */
function stringsConflict(root: StringMatch | undefined, leaf: StringMatch | undefined): boolean {
  if (root === undefined || leaf === undefined) return false;
  if (root.exact) return root.exact !== leaf.exact;
  const value = leaf.exact || leaf.prefix || '';
  return !root.prefix || !value.startsWith(root.prefix);
}

function mapsConflict(
  root: Readonly<Record<string, StringMatch>> = {},
  leaf: Readonly<Record<string, StringMatch>> = {},
): boolean {
  return Object.keys(leaf).some(key => Object.hasOwn(root, key) && stringsConflict(root[key], leaf[key]));
}

function portsConflict(root: number, leaf: number): boolean {
  return root > 0 && leaf > 0 && root !== leaf;
}

/** A longer list conflicts even where it only repeats names, as in Istio. */
function gatewaysConflict(root: readonly string[], leaf: readonly string[]): boolean {
  if (root.length === 0) return false;
  return root.length < leaf.length || !leaf.every(gateway => root.includes(gateway));
}

function labelsConflict(
  root: Readonly<Record<string, string>> = {},
  leaf: Readonly<Record<string, string>> = {},
): boolean {
  return Object.keys(leaf).some(key => Object.hasOwn(root, key) && root[key] !== leaf[key]);
}

function unite<V>(
  root: Readonly<Record<string, V>> | undefined,
  leaf: Readonly<Record<string, V>> | undefined,
): Readonly<Record<string, V>> | undefined {
  if (root === undefined) return leaf;
  return leaf === undefined ? root : { ...root, ...leaf };
}

function joinNames(root: string | undefined, leaf: string | undefined): string | undefined {
  if (!root) return leaf;
  return leaf ? `${root}-${leaf}` : root;
}
