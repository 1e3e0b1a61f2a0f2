// The part of a request that selects its endpoint, from a DestinationRule's consistentHash block.
// Source: Istio pilot/pkg/networking/core/route/route.go (consistentHashToHashPolicy).

import type { LoadBalancerSettings_ConsistentHashLB } from '../../../core/schema/istio-types.gen.ts';
import type { RouteAction_HashPolicy } from '../../proto/types.gen.ts';

/** undefined: the block has no key (it only sizes a ring, say). */
export function hashPolicy(hash: LoadBalancerSettings_ConsistentHashLB): RouteAction_HashPolicy | undefined {
  if (hash.httpHeaderName !== undefined) return { header: { headerName: hash.httpHeaderName } };
  if (hash.httpCookie !== undefined) {
    const { name, ttl, path, attributes } = hash.httpCookie;
    return { cookie: { name: name || undefined, ttl, path: path || undefined, attributes } };
  }
  if (hash.useSourceIp !== undefined) return { connectionProperties: hash.useSourceIp ? { sourceIp: true } : {} };
  if (hash.httpQueryParameterName !== undefined) return { queryParameter: { name: hash.httpQueryParameterName } };
  return undefined;
}
