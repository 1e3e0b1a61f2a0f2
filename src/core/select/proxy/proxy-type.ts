// The type of a proxy, which decides what resources it has at all (Istio pilot/pkg/model/context.go, NodeType).

import type { NodeFacets } from '../../model/proxy.ts';
import type { ProxyReader } from '../../query/reader.ts';

export function proxyType(reader: ProxyReader): NodeFacets['type'] {
  return reader.facet('type');
}

/** A waypoint of ambient mode; without that mode (PILOT_ENABLE_AMBIENT) no service and no workload is behind it. */
export function isWaypoint(reader: ProxyReader): boolean {
  return proxyType(reader) === 'waypoint';
}
