// A control plane that writes, against the API server in memory: watches, fold, writer and election as the runtime
// joins them, without a journal. Its wishes are of the tests: a ConfigMap `copy` in every namespace, with the text of
// ConfigMap istio-system/original.

import type { Adapter, Sink } from '../../src/adapters/adapter.ts';
import { KubeAdapter } from '../../src/adapters/kube/kube-adapter.ts';
import { ClusterWriter } from '../../src/adapters/kube/write/cluster-writer.ts';
import { LiveObjects } from '../../src/adapters/kube/write/live-objects.ts';
import type { RawObject, Unrecorded } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { newsOf, newsOfKinds, newsOfList } from '../../src/core/fold/novelty.ts';
import { defaultSettings, type Settings } from '../../src/core/mesh/settings.ts';
import type { Obj } from '../../src/core/model/object.ts';
import type { Reader } from '../../src/core/query/reader.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { tableOf, type WishFeature } from '../../src/core/wishes/table.ts';
import { MANAGER, type Wish } from '../../src/core/wishes/wish.ts';
import { FakeApiServer } from './fake-api-server.ts';
import { drawsOf, VirtualTime } from './virtual-time.ts';

export const CLUSTER = 'Kubernetes';
const ELECTION = 'istio-namespace-controller-election';
export const LOCK_PATH = `/api/v1/namespaces/istio-system/configmaps/${ELECTION}`;

const copies: WishFeature = {
  query: {
    name: 'test-copies',
    run: (reader: Reader): readonly Wish[] => {
      const original = reader.object('ConfigMap', `${CLUSTER}/istio-system/original`) as Obj<'ConfigMap'> | undefined;
      const text = original?.spec.data.text;
      if (text === undefined) return [];
      return reader.objects('Namespace', `${CLUSTER}/`).map(({ name: namespace }) => ({
        cluster: CLUSTER,
        kind: 'ConfigMap',
        namespace,
        name: 'copy',
        subresource: '',
        manager: MANAGER,
        fields: { data: { text } },
        atCreation: { metadata: { labels: { made: 'here' } } },
        verb: 'merge',
        gate: ELECTION,
      }));
    },
  },
  observes: [{ kind: 'ConfigMap', parts: ['data'] }],
};

export function namespace(name: string): RawObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function configMap(namespace: string, name: string, data: RawObject, labels: RawObject = {}): RawObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, labels }, data };
}

export const original = (text: string): RawObject => configMap('istio-system', 'original', { text });

export interface Plane {
  readonly writer: ClusterWriter;
  readonly logged: readonly string[];
  state(): State;
  stop(): Promise<void>;
}

let queries = 0;

/** What the tests replace of a control plane. */
export interface Parts {
  readonly features?: readonly WishFeature[];
  readonly settings?: Settings;
  /** Sources beside the API server, told of every state. */
  readonly further?: readonly Adapter[];
}

/** One replica. */
export function plane(
  server: FakeApiServer,
  time: VirtualTime,
  identity: string,
  isElectionEnabled = true,
  { features = [copies], settings = defaultSettings, further = [] }: Parts = {},
): Plane {
  const logged: string[] = [];
  const log = (level: string, message: string): void => void logged.push(`${level}: ${message}`);
  const live = new LiveObjects(
    features.flatMap(({ observes }) => observes),
    settings,
  );
  const adapter = new KubeAdapter({ cluster: CLUSTER, api: server, chance: time, log, live });
  const table = tableOf(`test-table-${++queries}`, features);
  const common = { cluster: CLUSTER, live, chance: time, log, namespace: 'istio-system', revision: '', identity };
  const writer = new ClusterWriter({ ...common, writes: server, locks: server, isElectionEnabled, table });
  let state: State = { ...emptyState, settings };
  const sinkFor = (source: string): Sink => {
    const take = async (facts: readonly object[]): Promise<void> => {
      for (const fact of facts) {
        const event = { ...(fact as Unrecorded), source, seq: state.seq + 1, time: time.now() };
        state = fold(state, event, new Set()).state;
      }
      if (facts.length === 0) return;
      for (const one of [writer, ...further]) one.onState?.(state);
    };
    return {
      submit: batch => take(newsOf(state, source, batch)),
      relist: (all, unreadable) => take(newsOfList(state, source, all, unreadable)),
      relistKinds: (kinds, all, kept) => take(newsOfKinds(state, source, kinds, all, kept)),
      holds: () => false,
    };
  };
  for (const one of [writer, ...further]) one.onState?.(state);
  const started = adapter.start(sinkFor(adapter.source)).then(async () => {
    for (const one of [...further, writer]) await one.start(sinkFor(one.source));
  });
  started.catch(() => undefined);
  return {
    writer,
    logged,
    state: () => state,
    stop: async () => {
      for (const one of [...further, writer, adapter]) await one.stop();
    },
  };
}

export interface Rig {
  readonly time: VirtualTime;
  readonly server: FakeApiServer;
  /** `namespace=text` of every copy that the server has, sorted. */
  copies(namespaces: readonly string[]): readonly string[];
}

export function rig(seed = 1, before: readonly RawObject[] = [original('one'), namespace('a'), namespace('b')]): Rig {
  const time = new VirtualTime(drawsOf(seed));
  const server = new FakeApiServer(time);
  for (const object of before) server.set(object);
  const copyIn = (name: string): string | undefined => {
    try {
      const { text } = server.object(`/api/v1/namespaces/${name}/configmaps/copy`).data as { readonly text?: string };
      return `${name}=${text}`;
    } catch {
      return undefined;
    }
  };
  return { time, server, copies: names => names.flatMap(name => copyIn(name) ?? []) };
}

/** Writes of anything but the lock. */
export function ownWrites(server: FakeApiServer): readonly string[] {
  return server.writes.filter(write => !write.includes(ELECTION));
}
