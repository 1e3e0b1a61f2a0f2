// Inputs of the default route of a service: its consistent hash and the mesh's retry policy.
// Source: Istio pilot/pkg/networking/core/route/route.go (BuildDefaultHTTPOutboundRoute).

import type { ProxyReader } from '../../query/reader.ts';
import type { HTTPRetry, LoadBalancerSettings_ConsistentHashLB } from '../../schema/istio-types.gen.ts';
import { hashLookup } from './consistent-hash.ts';

export interface DefaultRouteInputs {
  readonly hostname: string;
  readonly port: number;
  /** Undefined: the outbound one of the host and port. */
  readonly cluster?: string;
  readonly hash: LoadBalancerSettings_ConsistentHashLB | undefined;
  /** MeshConfig.defaultHttpRetryPolicy. */
  readonly retry: HTTPRetry | undefined;
}

/** The inputs of a host and port; what all hosts share is read once. */
export function defaultRouteSelector(reader: ProxyReader): (hostname: string, port: number) => DefaultRouteInputs {
  const hashes = hashLookup(reader);
  const retry = reader.mesh('defaultHttpRetryPolicy');
  return (hostname, port) => ({ hostname, port, hash: hashes.of(hostname, '', port), retry });
}
