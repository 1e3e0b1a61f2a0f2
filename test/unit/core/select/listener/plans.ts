// Plans of outbound listeners as short texts, and questions about a proxy alone.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import type { ChainPlan } from '../../../../../src/core/select/listener/outbound-chains.ts';
import { outboundListenerPlans } from '../../../../../src/core/select/listener/outbound-listeners.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldOptions, type WorldPart, world } from '../../../world.ts';

/** `http PORT` or `http? PORT` where inspection detects HTTP; `tcp NAMES RANGES > CLUSTERS`. */
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

/** What a question about a proxy in a mesh without objects is asked with. */
export interface EmptyMesh {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly networks?: JsonObject;
  readonly metadata?: JsonObject;
  readonly node?: NodeOptions;
  /** An Envoy without the filters of Istio. */
  readonly stock?: boolean;
}

/** The answer of `run` for a proxy in a mesh without objects. */
export function ofEmptyMesh<R>(run: (reader: ProxyReader) => R, options: EmptyMesh = {}): R {
  const { env = {}, mesh = {}, networks = {}, metadata = {}, node = {}, stock = false } = options;
  const record = proxyOf(nodeOf({ ...node, metadata }));
  const proxy = stock ? { ...record, extensions: new Set(['envoy.filters.http.router']) } : record;
  return ask(world([], { mesh, networks, settings: { env } }), reading('test/listenerInputs', run), '', proxy);
}
