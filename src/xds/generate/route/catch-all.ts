// The last virtual host of a sidecar's route configuration: where requests go that no other virtual host knows.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildCatchAllVirtualHost); spec-routes-visibility §5.

import type { Generator } from '../../../core/query/memo.ts';
import { PASSTHROUGH_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';

export interface CatchAllInputs {
  /** REGISTRY_ONLY blocks what is not in the registry. */
  readonly allowAny: boolean;
  /** Cluster of the Sidecar's egressProxy; '' if there is none. */
  readonly egressCluster: string;
  readonly attemptCount: boolean;
  readonly appendXForwardedHost: boolean;
}

const BLOCKED_STATUS = 502;

export const catchAll: Generator<CatchAllInputs, VirtualHost> = {
  name: 'route/catchAll',
  run: inputs => {
    const name = inputs.allowAny ? 'allow_any' : 'block_all';
    const match = { prefix: '/' };
    return {
      name,
      domains: ['*'],
      routes: [
        inputs.allowAny
          ? { name, match, route: passthrough(inputs) }
          : { name, match, directResponse: { status: BLOCKED_STATUS } },
      ],
      ...(inputs.attemptCount ? { includeRequestAttemptCount: true } : {}),
    };
  },
};

function passthrough({
  egressCluster,
  appendXForwardedHost,
}: CatchAllInputs): NonNullable<VirtualHost['routes']>[number]['route'] {
  const never = { seconds: 0, nanos: 0 };
  return {
    cluster: egressCluster === '' ? PASSTHROUGH_CLUSTER : egressCluster,
    timeout: never,
    maxGrpcTimeout: never,
    ...(appendXForwardedHost ? { appendXForwardedHost: true } : {}),
  };
}
