// The route of a service that no VirtualService took: everything to its cluster.
// Source: Istio pilot/pkg/networking/core/route/route.go (BuildDefaultHTTPOutboundRoute).

import type { Generator } from '../../../core/query/memo.ts';
import { outboundClusterName } from '../../../core/select/cluster/cluster-names.ts';
import type { DefaultRouteInputs } from '../../../core/select/route/default-route.ts';
import { ZERO_DURATION } from '../common/duration.ts';
import { hashPolicy } from './consistent-hash.ts';
import { retryPolicy } from './retry.ts';
import type { GeneratedRoutes } from './virtual-service-routes.ts';

export const defaultRoutes: Generator<DefaultRouteInputs, GeneratedRoutes> = {
  name: 'route/defaultRoutes',
  run: ({ hostname, port, hash, retry, cluster = outboundClusterName(hostname, '', port) }) => {
    const policy = hash === undefined ? undefined : hashPolicy(hash);
    // Unlike on the route of a VirtualService, a retry goes to another host even where requests are hashed.
    const retries = retryPolicy(retry, false);
    const route = {
      name: 'default',
      match: { prefix: '/' },
      decorator: { operation: `${hostname}:${port}/*` },
      route: {
        cluster,
        timeout: ZERO_DURATION,
        retryPolicy: retries,
        hashPolicy: policy === undefined ? undefined : [policy],
        maxGrpcTimeout: ZERO_DURATION,
      },
    };
    return { routes: [route], problems: [] };
  },
};
