// Where a route leads to: clusters with their shares, a redirect, an answer of Envoy's own. Read from the JSON of a
// route (envoy.config.route.v3.Route), as text for people and as data.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import type { RouteShare } from './answers.ts';

export function actionOf(route: JsonObject): JsonObject {
  return isObject(route.route) ? route.route : {};
}

/** In the order of the route; shares of weights that add up to 0 are 0. Empty: it leads to no cluster. */
export function sharesOf(route: JsonObject): readonly RouteShare[] {
  const { cluster, weightedClusters } = actionOf(route);
  const weighted = isObject(weightedClusters) ? objectsIn(weightedClusters.clusters) : [];
  return routeShares(
    typeof cluster === 'string' ? cluster : undefined,
    weighted.map(({ name, weight }) => [String(name), Number(weight ?? 0)]),
  );
}

/** `weighted`: cluster and weight; if there are any, `cluster` does not count. */
export function routeShares(
  cluster: string | undefined,
  weighted: readonly (readonly [string, number])[],
): readonly RouteShare[] {
  if (weighted.length === 0) return cluster === undefined ? [] : [{ cluster, share: 1 }];
  const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  return weighted.map(([name, weight]) => ({ cluster: name, share: total === 0 ? 0 : weight / total }));
}

/** `80 % to v1, 20 % to v3`: subset names where there are some, else the cluster. */
export function actionText(route: JsonObject | undefined): string {
  if (route === undefined) return '';
  const shares = sharesOf(route);
  if (shares.length > 0)
    return shares.map(({ cluster, share }) => `${Math.round(1_000 * share) / 10} % to ${target(cluster)}`).join(', ');
  if (isObject(route.redirect)) return 'a redirect';
  if (isObject(route.directResponse)) return `status ${String(route.directResponse.status ?? 200)} at once`;
  return 'something else';
}

function target(cluster: string): string {
  const [, port, subset, host] = cluster.split('|');
  if (host === undefined) return cluster;
  return subset === '' ? `${host}:${port}` : String(subset);
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
