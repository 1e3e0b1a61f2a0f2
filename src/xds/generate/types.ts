// The resource types that are generated, and the queries that make them. What the protocol does with a type is in session/types.ts.

import type { Query } from '../../core/reader.ts';
import type { Resource } from '../../core/resource.ts';
import { clusters } from './cluster/resources.ts';
import { endpointsOf } from './endpoint/resources.ts';
import { routeNamed } from './route/resources.ts';

/** `all`: the proxy's whole set, by name. `named`: one resource; undefined where there is none of the name. */
export type GeneratedType =
  | { readonly url: string; readonly kind: 'all'; readonly query: Query<'', readonly Resource<object>[]> }
  | { readonly url: string; readonly kind: 'named'; readonly query: Query<string, Resource<object> | undefined> };

const PREFIX = 'type.googleapis.com/';

export const generatedTypes: readonly GeneratedType[] = [
  { url: `${PREFIX}envoy.config.cluster.v3.Cluster`, kind: 'all', query: clusters },
  { url: `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`, kind: 'named', query: endpointsOf },
  { url: `${PREFIX}envoy.config.route.v3.RouteConfiguration`, kind: 'named', query: routeNamed },
];

const byUrl: ReadonlyMap<string, GeneratedType> = new Map(generatedTypes.map(type => [type.url, type] as const));

export function generatedType(url: string): GeneratedType | undefined {
  return byUrl.get(url);
}
