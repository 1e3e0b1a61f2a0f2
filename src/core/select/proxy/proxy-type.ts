// The type of a proxy, which decides what resources it has at all (Istio pilot/pkg/model/context.go, NodeType).

import type { NodeFacets } from '../../model/proxy.ts';
import type { ProxyReader } from '../../query/reader.ts';

export function proxyType(reader: ProxyReader): NodeFacets['type'] {
  return reader.facet('type');
}
