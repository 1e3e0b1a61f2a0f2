// What a sidecar does with requests that match no virtual host: outboundTrafficPolicy of its Sidecar, else of the mesh.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildCatchAllVirtualHost).

import type { ProxyReader } from '../../query/reader.ts';
import { outboundClusterName } from '../cluster/cluster-names.ts';
import { type RouteHeaderOptions, routeHeaderOptions } from '../proxy/proxy-headers.ts';
import { scopeSettings } from '../scope/sidecar-scope.ts';

export interface CatchAllInputs extends RouteHeaderOptions {
  /** ALLOW_ANY; REGISTRY_ONLY blocks what is not in the registry. */
  readonly allowAny: boolean;
  /** Cluster of the Sidecar's egressProxy; '' if there is none. */
  readonly egressCluster: string;
}

export function selectCatchAll(reader: ProxyReader): CatchAllInputs {
  const { mode, egressProxy } = reader.get(scopeSettings, '').outboundTrafficPolicy;
  const egressCluster =
    egressProxy === undefined
      ? ''
      : outboundClusterName(egressProxy.host ?? '', egressProxy.subset ?? '', egressProxy.port?.number ?? 0);
  return { allowAny: mode === 'ALLOW_ANY', egressCluster, ...reader.derived(routeHeaderOptions) };
}
