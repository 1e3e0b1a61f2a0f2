// The cluster of a service that an extension provider of MeshConfig names. The whole registry is searched, regardless
// of visibility: providers belong to the mesh, not to a workload.
// Source: Istio pilot/pkg/model/telemetry_logging.go (LookupCluster).

import type { Reader } from '../../query/reader.ts';
import { servicesOfHost } from '../../registry/services.ts';
import { outboundClusterName } from '../cluster/cluster-names.ts';

export interface ProviderCluster {
  readonly cluster: string;
  readonly hostname: string;
}

/** `host` or `namespace/host`; a host that services of several namespaces share is not found without its namespace. */
export function providerCluster(reader: Reader, service: string, port: number): ProviderCluster | undefined {
  const slash = service.indexOf('/');
  const namespace = slash < 0 ? undefined : service.slice(0, slash);
  const hostname = service.slice(slash + 1);
  const found = reader.get(servicesOfHost, hostname);
  const namespaces = new Set(found.map(candidate => candidate.namespace));
  const known = namespace === undefined ? namespaces.size === 1 : namespaces.has(namespace);
  return known ? { cluster: outboundClusterName(hostname, '', port), hostname } : undefined;
}
