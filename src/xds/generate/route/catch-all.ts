// The last virtual host of a sidecar's route configuration: it takes the requests that no other virtual host matches,
// and passes them through or answers 502.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildCatchAllVirtualHost).

import type { Generator } from '../../../core/query/memo.ts';
import { PASSTHROUGH_CLUSTER } from '../../../core/select/cluster/cluster-names.ts';
import type { CatchAllInputs } from '../../../core/select/route/catch-all.ts';
import type { VirtualHost } from '../../proto/types.gen.ts';
import { ZERO_DURATION } from '../common/duration.ts';

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
  return {
    cluster: egressCluster === '' ? PASSTHROUGH_CLUSTER : egressCluster,
    timeout: ZERO_DURATION,
    maxGrpcTimeout: ZERO_DURATION,
    ...(appendXForwardedHost ? { appendXForwardedHost: true } : {}),
  };
}
