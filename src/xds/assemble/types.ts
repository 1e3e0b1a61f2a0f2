// The resource types that are generated, and the queries that make them. The protocol's rules of a type are in
// session/types.ts.

import { GRPC_GENERATOR } from '../../core/select/proxy/proxyless.ts';
import { apiSources } from './api/resources.ts';
import { proxylessClusterNamed } from './cluster/proxyless.ts';
import { clusterNamed, clusterPieces, clusters } from './cluster/resources.ts';
import { waypointPieces } from './cluster/waypoint.ts';
import { endpointPieces, endpointsOf } from './endpoint/resources.ts';
import { extensionNamed } from './extension/resources.ts';
import { proxylessListenerNamed, proxylessListeners } from './listener/proxyless.ts';
import { listeners } from './listener/resources.ts';
import { nameTables } from './nametable/resources.ts';
import { proxylessRouteNamed } from './route/proxyless.ts';
import { routeNamed } from './route/resources.ts';
import { secretNamed } from './secret/resources.ts';
import { trustBundles } from './secret/trust-bundle.ts';
import { findSource, type ResourceSource, sourceKey } from './source.ts';
import { addresses, addressesNamed, workloadAuthorizations, workloads, workloadsNamed } from './workload/resources.ts';

const PREFIX = 'type.googleapis.com/';

export const resourceSources: readonly ResourceSource[] = [
  {
    url: `${PREFIX}envoy.config.cluster.v3.Cluster`,
    all: clusters,
    named: clusterNamed,
    pieces: [clusterPieces, waypointPieces],
  },
  { url: `${PREFIX}envoy.config.endpoint.v3.ClusterLoadAssignment`, named: endpointsOf, pieces: [endpointPieces] },
  { url: `${PREFIX}envoy.config.listener.v3.Listener`, all: listeners },
  { url: `${PREFIX}envoy.config.route.v3.RouteConfiguration`, named: routeNamed },
  { url: `${PREFIX}envoy.extensions.transport_sockets.tls.v3.Secret`, named: secretNamed },
  { url: `${PREFIX}envoy.config.core.v3.TypedExtensionConfig`, named: extensionNamed },
  { url: `${PREFIX}istio.networking.nds.v1.NameTable`, all: nameTables },
  { url: `${PREFIX}istio.mesh.v1alpha1.ProxyConfig`, all: trustBundles },
  { url: `${PREFIX}istio.workload.Address`, all: addresses, listed: addressesNamed },
  { url: `${PREFIX}istio.workload.Workload`, all: workloads, listed: workloadsNamed },
  { url: `${PREFIX}istio.security.Authorization`, all: workloadAuthorizations },
  {
    url: `${PREFIX}envoy.config.listener.v3.Listener`,
    generator: GRPC_GENERATOR,
    named: proxylessListenerNamed,
    listed: proxylessListeners,
  },
  { url: `${PREFIX}envoy.config.route.v3.RouteConfiguration`, generator: GRPC_GENERATOR, named: proxylessRouteNamed },
  { url: `${PREFIX}envoy.config.cluster.v3.Cluster`, generator: GRPC_GENERATOR, named: proxylessClusterNamed },
  ...apiSources,
];

const byKey: ReadonlyMap<string, ResourceSource> = new Map(
  resourceSources.map(source => [sourceKey(source.url, source.generator ?? ''), source] as const),
);

/** Undefined: this type has no resources. `generator`: the one that the client names in its node metadata. */
export function resourceSource(url: string, generator = ''): ResourceSource | undefined {
  return findSource(byKey, url, generator);
}
