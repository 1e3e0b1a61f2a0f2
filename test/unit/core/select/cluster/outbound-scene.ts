// The inputs of the outbound clusters of one service in a small world.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { type OutboundClusterInputs, selectOutboundClusters } from '../../../../../src/core/select/cluster/outbound.ts';
import type { UpstreamTlsInputs } from '../../../../../src/core/select/cluster/upstream-tls.ts';
import type { AssignmentInputs } from '../../../../../src/core/select/endpoint/assignment.ts';
import { destinationRule as ruleFor } from '../../../../../src/core/select/scope/destination-rules.ts';
import { scopeService } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';

export type Inputs = OutboundClusterInputs<UpstreamTlsInputs, AssignmentInputs>;
export const WEB = 'web.default.svc.cluster.local';

export interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly node?: NodeOptions;
  readonly sniDnat?: boolean;
}

/** The clusters of the service with this host. */
export function clustersOf(hostname: string, parts: readonly WorldPart[], options: Options = {}): readonly Inputs[] {
  const { env = {}, mesh = {}, node = {}, sniDnat = false } = options;
  const query: Query<'', readonly Inputs[]> = {
    name: 'test/outboundClusters',
    run: reader => {
      const rule = reader.get(ruleFor, { hostname, direction: 'outbound' });
      const same = { sockets: (inputs: UpstreamTlsInputs) => inputs, assignment: (inputs: AssignmentInputs) => inputs };
      return selectOutboundClusters(reader, same, reader.get(scopeService, hostname)!, rule, sniDnat);
    },
  };
  return ask(world(parts, { mesh, settings: { env } }), query, '', proxyOf(nodeOf(node)));
}

export const only = (...args: Parameters<typeof clustersOf>): Inputs => clustersOf(...args)[0]!;
export const ROUTER: NodeOptions = { type: 'router' };
