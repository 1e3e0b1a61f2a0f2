// Periplus's configuration for a client of a world, asked by the oracle; and what the oracle says in the words of the
// model.

import type { JsonObject } from '../../../src/core/base/json.ts';
import { Tracker } from '../../../src/core/query/tracker.ts';
import { foldFacts, proxyFacts } from '../../../src/offline/generate.ts';
import { heldBy } from '../../../src/offline/held.ts';
import { type Oracle, oracleOf } from '../../../src/oracle/oracle.ts';
import type { Forwarded, Outcome, Prediction } from '../../../src/oracle/prediction.ts';
import type { ProxyConfig } from '../../../src/oracle/question.ts';
import { nameOf, namespaceOf, SHARE_DIGITS } from './read.ts';
import type { Client } from './services.ts';
import type { World } from './world.ts';

const SOURCE = 'file/Kubernetes';
export const CLIENT_ADDRESS = '10.1.200.1';

/** What the client's sidecar holds, and the world without the objects that were refused. */
export function configured(
  world: World,
  client: Client,
  node: JsonObject = {},
  type: 'sidecar' | 'router' = 'sidecar',
): { readonly world: World; readonly config: ProxyConfig } {
  const { state, effects } = foldFacts([
    { source: 'runtime', kind: 'Engine', settings: {} },
    { source: SOURCE, kind: 'MeshConfig', value: world.mesh },
    ...world.objects.map(object => ({ source: SOURCE, kind: 'Add' as const, object })),
    ...proxyFacts('client', nodeOf(type, client, node)),
  ]);
  const refused = new Set(
    effects.flatMap(effect => (effect.kind === 'Verdict' && !effect.accepted ? [effect.object] : [])),
  );
  const accepted = world.objects.filter(
    object => !refused.has(`${String(object.kind)}/${namespaceOf(object)}/${nameOf(object)}`),
  );
  const proxy = state.proxies.get('client');
  if (proxy === undefined) throw new Error('the client was refused');
  return { world: { ...world, objects: accepted }, config: heldBy(new Tracker(), state, proxy) };
}

function nodeOf(type: string, { namespace, labels }: Client, node: JsonObject): JsonObject {
  return {
    id: `${type}~${CLIENT_ADDRESS}~client.${namespace}~${namespace}.svc.cluster.local`,
    metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', LABELS: labels, INSTANCE_IPS: CLIENT_ADDRESS, ...node },
  };
}

export function asked(config: ProxyConfig): Oracle {
  return oracleOf(config);
}

/** Branches that differ in the endpoint only are one: what they go to is the set of their endpoints. */
export function shares({ branches }: Prediction): ReadonlyMap<string, number> {
  const endpoints = new Map<string, Set<string>>();
  const keyed = branches.map(({ probability, outcome }) => ({ probability, outcome, key: keyOf(outcome) }));
  for (const { key, outcome } of keyed) {
    if (outcome.kind !== 'forwarded') continue;
    const known = endpoints.get(key) ?? new Set();
    endpoints.set(key, known.add(`${outcome.endpoint.address}:${outcome.endpoint.port}`));
  }
  const out = new Map<string, number>();
  for (const { key, probability } of keyed) {
    const text = key.replace('ENDPOINTS', [...(endpoints.get(key) ?? [])].sort().join());
    out.set(text, (out.get(text) ?? 0) + probability);
  }
  return out;
}

function keyOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'forwarded':
      return forwardedKey(outcome);
    case 'answered':
      return outcome.location === undefined ? `${outcome.status}` : `${outcome.status} ${outcome.location}`;
    case 'closed':
      return 'closed';
    default:
      return `${outcome.kind}: ${outcome.why}`;
  }
}

function forwardedKey({ cluster, request, timeout, retryPolicy, mirrors, protocol, endpoint }: Forwarded): string {
  if (cluster === 'PassthroughCluster') return `passthrough ${endpoint.address}:${endpoint.port}`;
  const to = `${destinationOf(cluster)} [ENDPOINTS]`;
  if (protocol === 'tcp') return to;
  const seconds = (timeout?.seconds ?? 0) + (timeout?.nanos ?? 0) / 1e9;
  const copies = mirrors
    .map(mirror => ` mirror ${destinationOf(mirror.cluster)} ${mirror.share.toFixed(SHARE_DIGITS)}`)
    .join('');
  const attempts = retryPolicy?.numRetries?.value ?? 0;
  return `${to} ${request?.authority} ${request?.path} timeout ${seconds} retries ${attempts}${copies}`;
}

/** outbound|80|v1|host as host:80/v1. */
function destinationOf(cluster: string): string {
  const [, port, subset, host] = cluster.split('|');
  return `${host}:${port}/${subset}`;
}

/** Sorted lines, for comparison and for people. */
export function lines(found: ReadonlyMap<string, number>): readonly string[] {
  return [...found]
    .filter(([, share]) => share > 0)
    .map(([what, share]) => `${share.toFixed(SHARE_DIGITS)} ${what}`)
    .sort();
}
