// Which Gateways have routes to which InferencePools: by the parents that the status of each HTTPRoute names, whether
// they take the route or not.
//
// istiod reads the written status of routes; this reads what is about to be written, so a pool need not wait for it.
// Source: Istio pilot/pkg/config/kube/gateway/inferencepool_collection.go (findGatewayParents).

import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { INFERENCE_POOL } from './grants.ts';
import type { Candidate } from './parents.ts';
import { allOfRevision, ofRevision } from './revision.ts';
import { routeKey, translatedRoute } from './routes.ts';

export interface PoolParent {
  /** `namespace/name`; istiod takes every parent for a Gateway. */
  readonly key: string;
  /** `namespace/name` of the HTTPRoute. */
  readonly route: string;
  /** What one reference of the route may mean; never empty. */
  readonly candidates: readonly Candidate[];
}

/** Argument: `namespace/name` of an InferencePool. In the order of routes and references; one for each parent. */
export const parentsOfPool: Query<string, readonly PoolParent[]> = {
  name: 'translate/parentsOfPool',
  run: (reader, pool) => (poolOf(reader, pool) === undefined ? [] : (reader.get(allParents, '').get(pool) ?? [])),
};

/** Argument: `namespace/name` of a Gateway. The pools of its routes that a Service stands for, likewise. */
export const poolsOfParent: Query<string, readonly string[]> = {
  name: 'translate/poolsOfParent',
  run: (reader, gateway) =>
    [...reader.get(allParents, '')]
      .filter(([pool, parents]) => isServed(reader, pool) && parents.some(({ key }) => key === gateway))
      .map(([pool]) => pool)
      .sort(),
};

/** A pool whose picker has no port is not served. */
function isServed(reader: Reader, pool: string): boolean {
  return poolOf(reader, pool)?.spec.endpointPickerRef.port !== undefined;
}

export function poolOf(reader: Reader, key: string): Obj<'InferencePool'> | undefined {
  if (!reader.feature('ENABLE_GATEWAY_API_INFERENCE_EXTENSION')) return undefined;
  return ofRevision(reader, reader.object('InferencePool', key));
}

const allParents: Query<'', ReadonlyMap<string, readonly PoolParent[]>> = {
  name: 'translate/parentsOfPools',
  run: reader => {
    const found = new Map<string, Map<string, PoolParent>>();
    for (const route of allOfRevision(reader, 'HTTPRoute')) {
      const pools = poolsNamedBy(route);
      if (pools.length === 0) continue;
      const candidates = reader.get(translatedRoute, { kind: 'HTTPRoute', key: routeKey(route) })?.candidates ?? [];
      for (const pool of pools) {
        const parents = found.get(pool) ?? new Map<string, PoolParent>();
        found.set(pool, parents);
        for (const { index, key } of candidates) {
          if (parents.has(key)) continue;
          const ofRef = candidates.filter(one => one.index === index);
          parents.set(key, { key, route: routeKey(route), candidates: ofRef });
        }
      }
    }
    return new Map([...found].map(([pool, parents]) => [pool, [...parents.values()]]));
  },
};

function poolsNamedBy({ namespace, spec }: Obj<'HTTPRoute'>): readonly string[] {
  const refs = spec.rules.flatMap(({ backendRefs = [] }) => backendRefs);
  const pools = refs.filter(({ group, kind }) => `${group}/${kind}` === INFERENCE_POOL);
  return [...new Set(pools.map(ref => configKey(ref.namespace ?? namespace, ref.name)))];
}
