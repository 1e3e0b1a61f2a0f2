// What a replica that follows asks remote clusters itself: whose tokens its proxies present (TokenReview), and what
// their accounts may read (SubjectAccessReview). The leader, which reads those clusters, cannot ask about proxies that
// it does not have.
//
// Invariants: nothing of a cluster is listed here. Answers are facts of this replica alone, as those of its own
// cluster. A cluster is asked by one RemoteAccess at a time, which begins when the rights of an earlier one are gone.

import type { Adapter } from '../adapters/adapter.ts';
import type { RemoteConnection } from '../adapters/kube/remote.ts';
import {
  type ClusterSources,
  clusterSources,
  type RemoteCluster,
  remoteClusters,
  sameConnection,
  sameSources,
} from '../core/clusters/remote-clusters.ts';
import type { State } from '../core/state.ts';
import type { ClusterCall } from '../identity/cluster-call.ts';
import type { Log } from './log.ts';
import { sinkOf } from './start.ts';
import type { World } from './world.ts';

export interface RemoteAccessOptions {
  /** Of this replica: what it records here is in no other one's journal. */
  readonly own: Pick<World, 'state' | 'recordNews'>;
  readonly connect: (cluster: RemoteCluster) => Promise<RemoteConnection>;
  /** The source `access/<cluster>`; absent: no cluster is asked about rights. */
  readonly rights?: (cluster: string, call: ClusterCall) => Adapter;
  readonly log: Log;
}

const ACCESS_PREFIX = 'access/';
const NO_CONNECTION = { status: 0, body: 'there is no connection to the cluster' };

/** The source of the rights in a cluster, and where it records them. */
export function rightsIn(
  cluster: string,
  call: ClusterCall,
  { own, rights }: Pick<RemoteAccessOptions, 'own' | 'rights'>,
) {
  return rights && { adapter: rights(cluster, call), sink: sinkOf(own, `${ACCESS_PREFIX}${cluster}`) };
}

/** The rights of a cluster that is not wanted any more. */
export function forgetRights(own: RemoteAccessOptions['own'], cluster: string): Promise<void> {
  return sinkOf(own, `${ACCESS_PREFIX}${cluster}`).relistKinds(['SecretAccess'], []);
}

export class RemoteAccessSet {
  readonly #options: RemoteAccessOptions;
  readonly #clusters = new Map<string, RemoteAccess>();
  /** Clusters whose rights are being forgotten. */
  readonly #leaving = new Set<string>();
  #sources: ClusterSources = { secrets: [], configMaps: [], ownIds: [] };
  #wanted: readonly RemoteCluster[] = [];
  #isStopped = false;

  constructor(options: RemoteAccessOptions) {
    this.#options = options;
  }

  /** Undefined: there is no such cluster, or no connection to it yet. */
  callOf(id: string): ClusterCall | undefined {
    return this.#clusters.get(id)?.call;
  }

  follow(state: State): void {
    if (this.#isStopped) return;
    for (const access of this.#clusters.values()) access.onState(state);
    const sources = clusterSources(state);
    if (sameSources(sources, this.#sources)) return;
    this.#sources = sources;
    this.#wanted = remoteClusters(sources).clusters;
    const ids = new Set(this.#wanted.map(({ id }) => id));
    for (const [id, access] of this.#clusters) if (!ids.has(id)) this.#forget(id, access);
    for (const cluster of this.#wanted) this.#want(cluster, state);
  }

  #want(cluster: RemoteCluster, state: State): void {
    const known = this.#clusters.get(cluster.id);
    known?.update(cluster);
    // A cluster that went and comes again waits until its rights are forgotten.
    if (known !== undefined || this.#isStopped || this.#leaving.has(cluster.id)) return;
    const access = new RemoteAccess(cluster, this.#options);
    this.#clusters.set(cluster.id, access);
    access.onState(state);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#clusters.values()].map(access => access.stop()));
  }

  #forget(id: string, access: RemoteAccess): void {
    const { own, log } = this.#options;
    this.#clusters.delete(id);
    this.#leaving.add(id);
    void access
      .stop()
      .then(() => forgetRights(own, id))
      .catch((error: unknown) => log('error', `cluster ${id}: its rights stay: ${String(error)}`))
      .then(() => {
        this.#leaving.delete(id);
        const again = this.#wanted.find(cluster => cluster.id === id);
        if (again !== undefined) this.#want(again, own.state);
      });
  }
}

class RemoteAccess {
  readonly #options: RemoteAccessOptions;
  readonly #rights: ReturnType<typeof rightsIn>;
  #wanted: RemoteCluster;
  #connection: RemoteConnection | undefined;
  #isStopped = false;

  constructor(wanted: RemoteCluster, options: RemoteAccessOptions) {
    this.#options = options;
    this.#wanted = wanted;
    const { id } = wanted;
    const { log } = options;
    // Whichever connection is in use then.
    const call: ClusterCall = async (...request) => this.call?.(...request) ?? NO_CONNECTION;
    this.#rights = rightsIn(id, call, options);
    this.#rights?.adapter
      .start(this.#rights.sink)
      .catch((error: unknown) => log('error', `cluster ${id}: ${String(error)}`));
    void this.#connect();
  }

  get call(): ClusterCall | undefined {
    return this.#connection?.call;
  }

  onState(state: State): void {
    this.#rights?.adapter.onState?.(state);
  }

  update(wanted: RemoteCluster): void {
    const before = this.#wanted.kubeconfig;
    const now = wanted.kubeconfig;
    if (now === undefined || (before !== undefined && sameConnection(before, now))) return;
    this.#wanted = wanted;
    void this.#connect();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#connection?.close();
    this.#connection = undefined;
    await this.#rights?.adapter.stop();
  }

  /** The connection before is used until there is the new one. */
  async #connect(): Promise<void> {
    const { connect, log } = this.#options;
    const wanted = this.#wanted;
    if (wanted.kubeconfig === undefined) return;
    try {
      const connection = await connect(wanted);
      if (this.#isStopped || wanted !== this.#wanted) return connection.close();
      this.#connection?.close();
      this.#connection = connection;
    } catch (error) {
      log('error', `cluster ${wanted.id}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
