// Remote clusters over API servers in memory: a world without a journal, and the set that connects them to it. Sets
// that a test opens are stopped after it.

import { afterEach } from 'vitest';
import { KubeAdapter } from '../../../src/adapters/kube/kube-adapter.ts';
import { REMOTE_KINDS } from '../../../src/adapters/kube/remote.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { mergePushRequests, noPush, type PushRequest } from '../../../src/core/push-request.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import type { ClusterCall } from '../../../src/identity/cluster-call.ts';
import { AccessAdapter } from '../../../src/identity/sources/access-adapter.ts';
import { foldFacts } from '../../../src/offline/generate.ts';
import type { WorldListener } from '../../../src/runtime/fold-batch.ts';
import type { News } from '../../../src/runtime/news.ts';
import { RemoteClusterSet, type RemoteObservation } from '../../../src/runtime/remote-clusters.ts';
import { sinkOf } from '../../../src/runtime/start.ts';
import { FakeApiServer } from '../../adapters/fake-api-server.ts';
import { VirtualTime } from '../../adapters/virtual-time.ts';
import { kubeconfigText, remoteSecret } from '../core/clusters/secrets.ts';

export const SECOND = 1_000;
const CONFIG = 'kube/Kubernetes';
const opened: RemoteClusterSet[] = [];

afterEach(async () => {
  for (const set of opened.splice(0)) await set.stop();
});

/** The runtime's world without a journal. */
export class MemoryWorld {
  state: State = emptyState;
  /** Each batch that changed something: how many facts. */
  readonly batches: (readonly Unrecorded[])[] = [];
  readonly #listeners: WorldListener[] = [];
  pushes: PushRequest = noPush;

  listen(listener: WorldListener): void {
    this.#listeners.push(listener);
  }

  record(facts: readonly Unrecorded[]): Promise<State> {
    return this.recordNews(() => facts);
  }

  async recordNews(news: News): Promise<State> {
    const facts = [...news(this.state)].filter(fact => fact !== undefined);
    if (facts.length > 0) this.batches.push(facts);
    const { state, effects } = foldFacts(facts, this.state);
    this.state = state;
    for (const effect of effects) {
      if (effect.kind === 'Push') this.pushes = mergePushRequests(this.pushes, effect.request);
    }
    for (const listener of this.#listeners) listener.onFolded(state, noPush, effects, 0);
    return state;
  }

  get endpoints(): readonly string[] {
    return [...this.state.objects.EndpointSlice.values()].map(({ cluster, name }) => `${cluster}/${name}`);
  }
}

export const service = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'shop' },
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] },
});
export const slice = (name: string, address = '10.9.0.1'): JsonObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  endpoints: [{ addresses: [address], conditions: { ready: true } }],
  ports: [{ name: 'http', port: 80 }],
});

export const keysOf = (...tables: readonly { keys(): Iterable<string> }[]): readonly string[] =>
  tables.flatMap(table => [...table.keys()]);

export function bench(env: Readonly<Record<string, string>> = {}, world = new MemoryWorld()) {
  const time = new VirtualTime();
  const logged: string[] = [];
  const observed: RemoteObservation[] = [];
  /** By the name of the server in the kubeconfig. */
  const servers = new Map<string, FakeApiServer>();
  /** Servers that let every account list Secrets. */
  const granting = new Set<string>();
  const server = (name: string): FakeApiServer => {
    const known = servers.get(name) ?? new FakeApiServer(time);
    servers.set(name, known);
    return known;
  };
  const settings = { env };
  world.state = foldFacts([{ source: 'runtime', kind: 'Engine', settings }], world.state).state;
  const log = (_: string, message: string): void => void logged.push(message);
  const set = new RemoteClusterSet({
    world,
    clock: { now: () => time.now(), after: (ms, run) => time.after(ms, run) },
    log,
    observe: event => observed.push(event),
    connect: async ({ id, kubeconfig }) => {
      const name = new URL(kubeconfig!.server).hostname;
      const remote = { kinds: new Set(REMOTE_KINDS), systemNamespace: 'istio-system' };
      const adapter = new KubeAdapter({ cluster: id, api: server(name), chance: time, log, remote });
      const call: ClusterCall = async method => {
        if (method === 'GET') return { status: 200, body: name };
        return { status: 201, body: { status: { allowed: granting.has(name) } } };
      };
      return { adapter, call, shown: name, close: () => undefined };
    },
    rights: (cluster, call) => new AccessAdapter({ cluster, call, after: (ms, run) => time.after(ms, run), log }),
  });
  opened.push(set);
  const put = (object: JsonObject): Promise<void> => sinkOf(world, CONFIG).submit([{ kind: 'Update', object }]);
  const drop = (name: string): Promise<void> => {
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'istio-system', name };
    return sinkOf(world, CONFIG).submit([{ kind: 'Delete', ref }]);
  };
  const statuses = (): readonly string[] => set.rows().map(({ id, syncStatus }) => `${id} ${syncStatus}`);
  return { time, world, set, server, granting, put, drop, statuses, logged, observed };
}

export const east = (server: string, name = 'east'): JsonObject => remoteSecret(name, { east: kubeconfigText(server) });
