// A cluster as gRPC's xDS client takes it: EDS over the same stream, and of the settings those that it knows. A load
// balancing policy that gRPC does not know would make it refuse the cluster.
// Source: Istio pilot/pkg/networking/grpcgen/cds.go; gRPC A27, A42, A48 (what a client accepts).

import { type Problem, problem } from '../../../core/base/problem.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { LoadBalancerSettings } from '../../../core/schema/istio-types.gen.ts';
import type { ProxylessClusterInputs } from '../../../core/select/cluster/proxyless.ts';
import { any } from '../../proto/any.ts';
import {
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_LbPolicy,
  type ConfigSource,
  HealthStatus,
} from '../../proto/types.gen.ts';
import { providerInstanceTls, TLS_SOCKET } from '../common/provider-instance-tls.ts';
import { type LoadBalancing, loadBalancing } from './load-balancer.ts';

const edsConfig: ConfigSource = { ads: {} };
const sessions = [HealthStatus.HEALTHY, HealthStatus.DRAINING, HealthStatus.UNKNOWN, HealthStatus.DEGRADED];

export const proxylessCluster: Generator<ProxylessClusterInputs, Resource<Cluster>> = {
  name: 'cluster/proxyless',
  run: ({ name, statName, identities, loadBalancer, maxRequests, keepsSessions }) => {
    const { balancing, problems } = knownBalancing(loadBalancer);
    const message: Cluster = {
      name,
      altStatName: `${statName};`,
      type: Cluster_DiscoveryType.EDS,
      edsClusterConfig: { serviceName: name, edsConfig },
      ...balancing,
      ...(maxRequests === 0 ? {} : { circuitBreakers: { thresholds: [{ maxRequests: { value: maxRequests } }] } }),
      ...(keepsSessions ? { commonLbConfig: { overrideHostStatus: { statuses: sessions } } } : {}),
      ...(identities === undefined
        ? {}
        : {
            transportSocket: {
              name: TLS_SOCKET,
              typedConfig: any('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext', {
                commonTlsContext: providerInstanceTls(identities),
              }),
            },
          }),
    };
    return { name, message, problems };
  },
};

interface KnownBalancing {
  readonly balancing: LoadBalancing;
  readonly problems: readonly Problem[];
}

function knownBalancing(settings: LoadBalancerSettings | undefined): KnownBalancing {
  if (settings?.consistentHash !== undefined) {
    const problems = settings.consistentHash.maglev === undefined ? [] : [unknown('maglev', 'a ring hash')];
    const { ringHashLbConfig } = loadBalancing(settings, false);
    return { balancing: { lbPolicy: Cluster_LbPolicy.RING_HASH, ringHashLbConfig }, problems };
  }
  switch (settings?.simple) {
    case 'LEAST_REQUEST':
      return { balancing: { lbPolicy: Cluster_LbPolicy.LEAST_REQUEST }, problems: [] };
    // The old name of the same policy, which Istio does not pass on.
    case 'LEAST_CONN':
    case 'RANDOM':
    case 'PASSTHROUGH':
      return { balancing: {}, problems: [unknown(settings.simple, 'round robin')] };
    default:
      return { balancing: {}, problems: [] };
  }
}

function unknown(policy: string, instead: string): Problem {
  return problem('trafficPolicy.loadBalancer', `gRPC does not know ${policy}: its clients use ${instead}`);
}
