// The route configuration of a proxyless gRPC client. It is called after a cluster, and has the virtual hosts of all
// services on the cluster's port; gRPC chooses one by the name that its channel dials.
// Source: Istio pilot/pkg/networking/grpcgen/rds.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Query } from '../../../core/query/reader.ts';
import { parseClusterName } from '../../../core/select/cluster/cluster-names.ts';
import { proxylessRoute } from '../../generate/route/route-configuration.ts';
import type { RouteConfiguration } from '../../proto/types.gen.ts';
import { virtualHostsOfPort } from './sidecar.ts';

/** Argument: the name of a route configuration. Undefined: it does not name a host and a port. */
export const proxylessRouteNamed: Query<string, Resource<RouteConfiguration> | undefined> = {
  name: 'route/proxylessRouteNamed',
  run: (reader, name) => {
    const { hostname = '', port = 0 } = parseClusterName(name) ?? {};
    if (hostname === '' || port === 0) return undefined;
    const { virtualHosts, problems } = virtualHostsOfPort(reader, port);
    return reader.make(proxylessRoute, {
      name,
      virtualHosts,
      problems: problems.map(({ path, message }) => [path, message] as const),
    });
  },
};
