// One remote cluster: its connection, and the exchange of it for another when its credentials change.
//
// Make before break: the connection in use stays until a new one has listed everything. What the new one lists is a
// list of the same source, so only differences become facts, and no endpoint is lost on the way. A new connection that
// never gets so far leaves the old one in use.

import type { Adapter, Sink, SourceStatus } from '../adapters/adapter.ts';
import { REGISTRY_KINDS, type RemoteConnection } from '../adapters/kube/remote.ts';
import { type RemoteCluster, sameConnection } from '../core/clusters/remote-clusters.ts';
import type { State } from '../core/state.ts';
import type { ClusterCall } from '../identity/cluster-call.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export type SyncStatus = 'syncing' | 'synced' | 'timeout';

export interface RemoteParts {
  readonly connect: (cluster: RemoteCluster) => Promise<RemoteConnection>;
  readonly sink: Sink;
  /** Resolves when every source has been listed in this process. */
  readonly mayWrite: Promise<void>;
  /** Of what its writer says. */
  readonly writerSink: Sink;
  /** Asks the cluster what its accounts may read; absent: nothing is asked. */
  readonly rights?: { readonly adapter: Adapter; readonly sink: Sink };
  /** After which a cluster that was never listed is `timeout`; 0: never. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The status has changed. */
  readonly changed: () => void;
  readonly timedOut: () => void;
}

interface Attempt {
  readonly wanted: RemoteCluster;
  connection?: RemoteConnection;
  /** Its facts count. */
  isLive: boolean;
  isEnded: boolean;
  trouble?: string;
  isWriting?: boolean;
}

const NOTHING: SourceStatus = { synced: false, waiting: [], troubles: [], unreadable: [] };

export class RemoteClusterRunner {
  readonly #parts: RemoteParts;
  #wanted: RemoteCluster;
  #status: SyncStatus = 'syncing';
  #state: State | undefined;
  /** The connection whose facts count. */
  #active: Attempt | undefined;
  /** One that has not listed everything yet. */
  #pending: Attempt | undefined;
  readonly #timer: { cancel(): void } | undefined;
  readonly #ending = new Set<Promise<void>>();

  constructor(wanted: RemoteCluster, parts: RemoteParts) {
    this.#parts = parts;
    this.#wanted = wanted;
    const { timeoutMs, clock } = parts;
    if (timeoutMs > 0) this.#timer = clock.after(timeoutMs, () => this.#timeOut());
    this.#try(wanted);
    const { rights, log } = parts;
    rights?.adapter
      .start(rights.sink)
      .catch((error: unknown) => log('error', `cluster ${wanted.id}: ${String(error)}`));
  }

  get status(): SyncStatus {
    return this.#status;
  }

  get wanted(): RemoteCluster {
    return this.#wanted;
  }

  /** Undefined: there is no connection. */
  get call(): ClusterCall | undefined {
    return (this.#active ?? this.#pending)?.connection?.call;
  }

  /** What is wished of the cluster may have changed. */
  onState(state: State): void {
    this.#state = state;
    this.#parts.rights?.adapter.onState?.(state);
    if (this.#active?.isWriting === true) this.#active.connection?.writer?.onState?.(state);
  }

  /** What is wanted of the same cluster now. */
  update(wanted: RemoteCluster): boolean {
    const before = (this.#pending ?? this.#active)?.wanted.kubeconfig;
    const now = wanted.kubeconfig;
    this.#wanted = wanted;
    if (now === undefined || (before !== undefined && sameConnection(before, now))) return false;
    this.#try(wanted);
    return true;
  }

  report(): SourceStatus {
    const attempt = this.#active ?? this.#pending;
    const known = attempt?.connection?.adapter.status() ?? NOTHING;
    const { refused, secret } = this.#wanted;
    const troubles = [
      ...known.troubles,
      ...(this.#parts.rights?.adapter.status().troubles ?? []),
      ...(attempt?.isWriting === true ? (attempt.connection?.writer?.status().troubles ?? []) : []),
      ...(attempt?.trouble === undefined ? [] : [attempt.trouble]),
      ...(refused === undefined ? [] : [`Secret ${secret}: ${refused}`]),
      ...(this.#active === undefined || this.#pending === undefined
        ? []
        : [`the new kubeconfig of Secret ${secret} has not been used yet: ${whyPending(this.#pending)}`]),
    ];
    return { ...known, synced: this.#status === 'synced', troubles };
  }

  /** Resolves when nothing more comes from it. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#parts.rights?.adapter.stop();
    for (const attempt of [this.#active, this.#pending]) if (attempt !== undefined) this.#end(attempt);
    await Promise.all(this.#ending);
  }

  #try(wanted: RemoteCluster): void {
    if (wanted.kubeconfig === undefined) return;
    if (this.#pending !== undefined) this.#end(this.#pending);
    const attempt: Attempt = { wanted, isLive: false, isEnded: false };
    this.#pending = attempt;
    void this.#run(attempt);
  }

  async #run(attempt: Attempt): Promise<void> {
    const { connect, log } = this.#parts;
    const { id } = attempt.wanted;
    try {
      const connection = await connect(attempt.wanted);
      attempt.connection = connection;
      if (attempt.isEnded) return void this.#closeLater(attempt);
      log('info', `cluster ${id}: Kubernetes at ${connection.shown}`);
      this.#showInPart(attempt);
      await connection.adapter.start(this.#sinkOf(attempt));
      if (attempt.isEnded) return;
      this.#use(attempt);
      if (this.#status !== 'synced') log('info', `cluster ${id}: everything has been listed`);
      this.#become('synced');
      await this.#write(attempt);
    } catch (error) {
      if (attempt.isEnded) return;
      attempt.trouble = error instanceof Error ? error.message : String(error);
      log('error', `cluster ${id}: ${attempt.trouble}`);
    }
  }

  async #write(attempt: Attempt): Promise<void> {
    const writer = attempt.connection?.writer;
    if (writer === undefined) return;
    await this.#parts.mayWrite;
    if (attempt.isEnded) return;
    attempt.isWriting = true;
    if (this.#state !== undefined) writer.onState?.(this.#state);
    await writer.start(this.#parts.writerSink);
  }

  /** The first facts of an attempt end the one before; facts of one that has ended are dropped. */
  #sinkOf(attempt: Attempt): Sink {
    const { sink } = this.#parts;
    const through = async (run: () => Promise<void>): Promise<void> => {
      if (attempt.isEnded) return;
      this.#use(attempt);
      await run();
    };
    return {
      submit: batch => through(() => sink.submit(batch)),
      relist: (all, unreadable) => through(() => sink.relist(all, unreadable)),
      relistKinds: (kinds, all, kept) => through(() => sink.relistKinds(kinds, all, kept)),
      holds: what => sink.holds(what),
    };
  }

  #use(attempt: Attempt): void {
    if (attempt.isLive) return;
    attempt.isLive = true;
    const before = this.#active;
    this.#active = attempt;
    if (this.#pending === attempt) this.#pending = undefined;
    if (before !== undefined) this.#end(before);
  }

  #end(attempt: Attempt): void {
    if (attempt.isEnded) return;
    attempt.isEnded = true;
    if (this.#pending === attempt) this.#pending = undefined;
    this.#closeLater(attempt);
  }

  #closeLater(attempt: Attempt): void {
    const ending = this.#close(attempt).finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Never rejects: facts of an attempt that has ended are dropped, so one that cannot be stopped changes nothing. */
  async #close({ connection, isWriting, wanted }: Attempt): Promise<void> {
    const failed = (error: unknown): void =>
      this.#parts.log('error', `cluster ${wanted.id}: a connection cannot be closed: ${String(error)}`);
    if (isWriting === true) await connection?.writer?.stop().catch(failed);
    await connection?.adapter.stop().catch(failed);
    connection?.close();
  }

  #timeOut(): void {
    if (this.#status !== 'syncing') return;
    const { timeoutMs, log, timedOut } = this.#parts;
    log('warn', `cluster ${this.#wanted.id} has not been listed within ${timeoutMs / 1_000} s; going on without it`);
    timedOut();
    this.#become('timeout');
    if (this.#pending !== undefined) this.#showInPart(this.#pending);
  }

  /** Once the time is over, its registry suffices to show a cluster of which nothing is in sight. */
  #showInPart({ connection }: Attempt): void {
    if (this.#status === 'timeout' && this.#active === undefined) connection?.adapter.showListed(REGISTRY_KINDS);
  }

  #become(status: SyncStatus): void {
    if (this.#status === status) return;
    this.#status = status;
    this.#parts.changed();
  }
}

function whyPending({ connection, trouble }: Attempt): string {
  const troubles = connection?.adapter.status().troubles ?? [];
  return trouble ?? troubles[0] ?? 'it has not been listed';
}
