// The remote clusters of a control plane: what is wanted follows from the state (core/clusters/remote-clusters.ts), and
// is compared with what runs after every batch. A cluster that is not wanted any more loses its objects in one batch,
// also if it was removed while the process was down. Failures of a remote API server are no facts: what is known stays.

import type { Adapter, SourceStatus } from '../adapters/adapter.ts';
import { ANY_REMOTE_KINDS, type RemoteConnection } from '../adapters/kube/remote.ts';
import {
  type ClusterSources,
  clusterSources,
  type RemoteCluster,
  type RemoteClusters,
  remoteClusters,
  sameSources,
} from '../core/clusters/remote-clusters.ts';
import { featureOf } from '../core/mesh/features.ts';
import type { KindName } from '../core/model/kind.ts';
import type { State } from '../core/state.ts';
import type { ClusterCall } from '../identity/cluster-call.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { forgetRights, RemoteAccessSet, rightsIn } from './remote-access.ts';
import { RemoteClusterRunner, type SyncStatus } from './remote-cluster.ts';
import type { RemoteSources, SourceReport } from './sources.ts';
import { sinkOf } from './start.ts';
import type { World } from './world.ts';

export interface RemoteClustersOptions {
  readonly world: Pick<World, 'state' | 'listen' | 'recordNews' | 'record'>;
  /** With several replicas, the world of this one: rights of its own proxies. Default: `world`. */
  readonly own?: Pick<World, 'state' | 'recordNews'>;
  readonly connect: (cluster: RemoteCluster) => Promise<RemoteConnection>;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: (event: RemoteObservation) => void;
  /** Asks a cluster what its accounts may read (source `access/<cluster>`); absent: no cluster is asked. */
  readonly rights?: (cluster: string, call: ClusterCall) => Adapter;
  /** The process is one of several replicas: begins paused, and each term allows writes anew. See `pause`. */
  readonly isPaused?: boolean;
}

export type RemoteObservation =
  | { readonly kind: 'secret'; readonly event: 'add' | 'update' | 'delete' }
  | { readonly kind: 'timeout'; readonly cluster: string };

/** A row of `/debug/clusterz`. */
export interface ClusterRow {
  readonly id: string;
  readonly secretName: string;
  readonly syncStatus: SyncStatus | 'closed';
}

const PREFIX = 'kube/';
const WRITER_PREFIX = 'writer/';
const NO_CONNECTION = { status: 0, body: 'there is no connection to the cluster' };
const WRITER_KINDS: readonly KindName[] = ['Leadership', 'WriteRefusal'];

export class RemoteClusterSet implements RemoteSources {
  readonly #options: RemoteClustersOptions;
  readonly #runners = new Map<string, RemoteClusterRunner>();
  /** Listed in full by an earlier process, and still there. */
  readonly #fromJournal: ReadonlySet<string>;
  /** Removals under way, by id. */
  readonly #removals = new Map<string, Promise<unknown>>();
  #sources: ClusterSources = { secrets: [], configMaps: [], ownIds: [] };
  #wanted: RemoteClusters = { clusters: [], findings: [] };
  #wasReady = false;
  #isStopped = false;
  #isPaused: boolean;
  /** While another replica reads the clusters. */
  #access: RemoteAccessSet | undefined;
  #writes = new Gate();
  /** A status has changed. */
  onChange: () => void = () => undefined;

  constructor(options: RemoteClustersOptions) {
    this.#options = options;
    this.#isPaused = options.isPaused ?? false;
    this.#fromJournal = new Set(recordedClusters(options.world.state));
    options.world.listen({ onFolded: state => this.#follow(state) });
    this.#follow(options.world.state);
  }

  /** The sources in the journal of clusters that are not wanted any more; call it when it is known what is wanted. */
  removeOrphans(): void {
    if (this.#isPaused) return;
    const { clusterId } = this.#options.world.state.settings;
    for (const id of this.#fromJournal) if (id !== clusterId && !this.#runners.has(id)) this.#remove(id);
  }

  isRemote(source: string): boolean {
    return source.startsWith(PREFIX) && source !== `${PREFIX}${this.#options.world.state.settings.clusterId}`;
  }

  mayBeLate(source: string): boolean {
    return this.isRemote(source);
  }

  /** Holds back the first readiness only: a cluster that comes later does not end it. */
  isReady(): boolean {
    if (this.#wasReady) return true;
    return [...this.#runners].every(([id, { status }]) => status !== 'syncing' || this.#fromJournal.has(id));
  }

  becameReady(): void {
    this.#wasReady = true;
  }

  /** Has no effect at a replica: a source may have been listed by another one. */
  allowWrites(): void {
    if (this.#options.isPaused !== true) this.#writes.open();
  }

  /** This replica has listed every source since it leads: until `pause`, what follows from them may be written. */
  allowWritesOfTerm(): void {
    if (!this.#isPaused) this.#writes.open();
  }

  report(): readonly SourceReport[] {
    return [...this.#runners].map(([id, runner]) => ({
      source: `${PREFIX}${id}`,
      fromJournal: this.#fromJournal.has(id),
      ...(runner.report() satisfies SourceStatus),
    }));
  }

  /** Remote clusters by id. */
  rows(): readonly ClusterRow[] {
    return [...this.#runners]
      .map(([id, { status, wanted }]): ClusterRow => ({ id, secretName: wanted.secret, syncStatus: status }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** To the API server of a remote cluster; undefined: there is no such cluster. */
  callOf(id: string): ClusterCall | undefined {
    return this.#runners.get(id)?.call ?? this.#access?.callOf(id);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#runners.values()].map(runner => runner.stop()));
    await this.#access?.stop();
    await Promise.allSettled(this.#removals.values());
  }

  /**
   * No cluster is read, and what is known of them stays: another replica reads them. They are asked about the proxies
   * of this one.
   */
  async pause(): Promise<void> {
    this.#isPaused = true;
    this.#writes = new Gate();
    const runners = [...this.#runners.values()];
    this.#runners.clear();
    this.#sources = { secrets: [], configMaps: [], ownIds: [] };
    await Promise.all(runners.map(runner => runner.stop()));
    this.#follow(this.#options.world.state);
  }

  /** Reads the clusters that are wanted now, and removes what is known of others. */
  resume(): void {
    if (this.#isStopped || !this.#isPaused) return;
    this.#isPaused = false;
    const { log, world } = this.#options;
    this.#access?.stop().catch((error: unknown) => log('error', `rights in remote clusters: ${String(error)}`));
    this.#access = undefined;
    const { state } = world;
    this.#follow(state);
    for (const id of recordedClusters(state)) if (!this.#runners.has(id)) this.#remove(id);
  }

  #follow(state: State): void {
    if (this.#isStopped) return;
    if (this.#isPaused) {
      this.#access ??= new RemoteAccessSet(this.#asking);
      this.#access.follow(state);
      return;
    }
    for (const runner of this.#runners.values()) runner.onState(state);
    const sources = clusterSources(state);
    if (sameSources(sources, this.#sources)) return;
    this.#sources = sources;
    const before = this.#wanted;
    this.#wanted = remoteClusters(sources);
    for (const finding of this.#wanted.findings) {
      if (!before.findings.includes(finding)) this.#options.log('error', finding);
    }
    const ids = new Set(this.#wanted.clusters.map(({ id }) => id));
    for (const id of [...this.#runners.keys()]) if (!ids.has(id)) this.#remove(id);
    for (const cluster of this.#wanted.clusters) this.#want(cluster);
  }

  get #asking() {
    const { own, world, connect, rights, log } = this.#options;
    return { own: own ?? world, connect, rights, log };
  }

  #want(cluster: RemoteCluster): void {
    const known = this.#runners.get(cluster.id);
    if (known !== undefined) {
      if (known.update(cluster)) this.#observe({ kind: 'secret', event: 'update' });
      return;
    }
    // A cluster that went and comes again waits until its objects have gone.
    const going = this.#removals.get(cluster.id);
    if (going !== undefined) {
      void going.finally(() => this.#again(cluster.id));
      return;
    }
    this.#observe({ kind: 'secret', event: 'add' });
    this.#options.log('info', `cluster ${cluster.id}: wanted by Secret ${cluster.secret}`);
    const runner = this.#runner(cluster);
    runner.onState(this.#options.world.state);
    this.#runners.set(cluster.id, runner);
    this.onChange();
  }

  #again(id: string): void {
    const cluster = this.#wanted.clusters.find(one => one.id === id);
    if (cluster !== undefined && !this.#isStopped && !this.#runners.has(id)) this.#want(cluster);
  }

  #runner(cluster: RemoteCluster): RemoteClusterRunner {
    const { world, connect, clock, log } = this.#options;
    // Whichever connection is in use then.
    const call: ClusterCall = async (...request) => this.callOf(cluster.id)?.(...request) ?? NO_CONNECTION;
    return new RemoteClusterRunner(cluster, {
      connect,
      rights: rightsIn(cluster.id, call, this.#asking),
      clock,
      log,
      sink: sinkOf(world, `${PREFIX}${cluster.id}`),
      mayWrite: this.#writes.isOpen,
      writerSink: sinkOf(world, `${WRITER_PREFIX}${cluster.id}`),
      timeoutMs: featureOf(world.state.settings, 'PILOT_REMOTE_CLUSTER_TIMEOUT'),
      changed: () => this.onChange(),
      timedOut: () => this.#observe({ kind: 'timeout', cluster: cluster.id }),
    });
  }

  #remove(id: string): void {
    const { world, log } = this.#options;
    const runner = this.#runners.get(id);
    this.#runners.delete(id);
    if (runner !== undefined) this.#observe({ kind: 'secret', event: 'delete' });
    log('info', `cluster ${id}: not wanted any more; its services and endpoints go`);
    const removal = (runner?.stop() ?? Promise.resolve())
      .then(() => sinkOf(world, `${PREFIX}${id}`).relistKinds(ANY_REMOTE_KINDS, []))
      .then(() => sinkOf(world, `${WRITER_PREFIX}${id}`).relistKinds(WRITER_KINDS, []))
      .then(() => forgetRights(this.#asking.own, id))
      .catch((error: unknown) => log('error', `cluster ${id}: its objects stay: ${String(error)}`))
      .finally(() => this.#removals.delete(id));
    this.#removals.set(id, removal);
    this.onChange();
  }

  #observe(event: RemoteObservation): void {
    this.#options.observe?.(event);
  }
}

/** Closed until it is opened. */
class Gate {
  open: () => void = () => undefined;
  /** Resolves when it is. */
  readonly isOpen = new Promise<void>(resolve => {
    this.open = resolve;
  });
}

/** Clusters of which the journal has objects and a complete list. Linear in the records if there are several. */
function recordedClusters(state: State): readonly string[] {
  const own = `${PREFIX}${state.settings.clusterId}`;
  const known = [...state.synced.keys()].filter(source => source.startsWith(PREFIX) && source !== own);
  if (known.length === 0) return [];
  const present = new Set<string>();
  for (const { source } of state.records.values()) present.add(source);
  return known.filter(source => present.has(source)).map(source => source.slice(PREFIX.length));
}
