// Plans of outbound listeners as short texts.

import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import type { ChainPlan } from '../../../../../src/core/select/listener/outbound-chains.ts';
import { outboundListenerPlans } from '../../../../../src/core/select/listener/outbound-listeners.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldOptions, type WorldPart, world } from '../../../world.ts';

/** `http PORT` or `http? PORT` where HTTP is told by inspection; `tcp NAMES RANGES > CLUSTERS`. */
function chainText(chain: ChainPlan): string {
  if (chain.kind === 'http') return `http${chain.sniffed ? '?' : ''} ${chain.routeName}`;
  const to = chain.route.clusters.map(cluster => cluster.replace('.default.svc.cluster.local', '')).join(' ');
  return ['tcp', ...chain.serverNames, ...chain.cidrs, '>', to].join(' ');
}

/** Each outbound listener: its addresses and port, and its chains. */
export function plans(
  parts: readonly WorldPart[],
  node: NodeOptions = {},
  options: WorldOptions = {},
): readonly (readonly [at: string, ...chains: readonly string[]])[] {
  const found = ask(world(parts, options), outboundListenerPlans, '', proxyOf(nodeOf(node)));
  return found.map(({ binds, port, chains }) => [`${binds.join(' ')} ${port}`, ...chains.map(chainText)]);
}

/** A query of a function that reads. */
export function reading<R>(name: string, run: (reader: ProxyReader) => R): Query<'', R> {
  return { name, run };
}
