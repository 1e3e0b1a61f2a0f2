// Configuration from a Kubernetes API server: every kind the core knows that the cluster has, one list and one watch
// each.
//
// Nothing here decides what an object means: facts go to the sink as they come, and filters (namespaces, revision) are
// the fold's. A kind whose definition appears is watched from then on; one whose definition has gone has no objects.
// Only GET is ever sent.

import { setMaxListeners } from 'node:events';
import type { Json } from '../../core/base/json.ts';
import type { KindName } from '../../core/model/kind.ts';
import { type Adapter, type AdapterLog, isUnfit, type Sink, type SourceStatus, type Unreadable } from '../adapter.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import { type Api, HttpApi } from './api.ts';
import { backoffMs } from './backoff.ts';
import { type CredentialOptions, type Credentials, loadCredentials } from './credentials.ts';
import { type CustomResource, customs } from './custom-resources.ts';
import { Definitions } from './definitions.ts';
import { builtIns, documentPaths } from './discovery.ts';
import { failureOf, NOT_FOUND } from './failure.ts';
import { HeldLists } from './held-lists.ts';
import { KindSink } from './kind-sink.ts';
import { PAGE_BYTES_MAX, SILENCE_MS_MAX } from './limits.ts';
import type { RateLimit } from './rate-limit.ts';
import { isRemoteOnly, type Resource } from './resource.ts';
import { Watcher } from './watcher.ts';
import type { LiveObjects } from './write/live-objects.ts';

export interface KubeAdapterOptions {
  /** The registry that the objects belong to. */
  readonly cluster: string;
  readonly api: Api;
  readonly chance: Chance;
  readonly log: AdapterLog;
  /** Milliseconds after which a silent watch is closed. */
  readonly silenceMsMax?: number;
  /** Is told what the watches show, for those who write. */
  readonly live?: LiveObjects;
  /**
   * For a remote cluster: what is read of it, and that it comes into sight at once. Absent: every kind, kind by kind.
   */
  readonly remote?: RemoteKinds;
  /** Definitions of custom resources, by `plural.group`, that are not looked at. */
  readonly ignores?: (name: string) => boolean;
}

/** What is read of a remote cluster. */
export interface RemoteKinds {
  readonly kinds: ReadonlySet<KindName>;
  /** ConfigMaps are read of this namespace alone; absent: of all. */
  readonly configMapsOf?: string;
}

const STOPPED = 'stopped before everything was listed';

interface Watched {
  readonly resource: Resource;
  readonly watcher: Watcher;
}

export class KubeAdapter implements Adapter {
  readonly source: string;
  readonly #options: KubeAdapterOptions;
  readonly #abort = new AbortController();
  readonly #watched = new Map<KindName, Watched>();
  /** Kinds whose definition is there and serves nothing that could be read. */
  #unserved: ReadonlyMap<KindName, Unreadable> = new Map();
  #definitions: Definitions | undefined;
  #builtIns: readonly Resource[] = [];
  #reconciling: Promise<void> = Promise.resolve();
  #trouble: string | undefined;
  /** False until the first time that everything is known which has to be listed. */
  #discovered = false;
  #synced: (() => void) | undefined;
  #saidSynced = false;
  /** Until everything is listed; then undefined. */
  #held: HeldLists | undefined;
  /** Kinds that suffice to show what is held; undefined: all do. */
  #needed: readonly KindName[] | undefined;
  #shown: Promise<void> = Promise.resolve();
  #sink: Sink | undefined;

  constructor(options: KubeAdapterOptions) {
    this.#options = options;
    // Every request under way listens.
    setMaxListeners(0, this.#abort.signal);
    this.source = `kube/${options.cluster}`;
    if (options.remote !== undefined) this.#held = new HeldLists();
  }

  /**
   * Resolves when everything has been listed once, which takes as long as the server is not there; rejects if stopped
   * before.
   */
  async start(sink: Sink): Promise<void> {
    const synced = new Promise<void>(resolve => {
      this.#synced = resolve;
    });
    this.#sink = sink;
    const { signal } = this.#abort;
    const stopped = new Promise<void>(resolve => signal.addEventListener('abort', () => resolve()));
    await this.#findBuiltIns();
    if (signal.aborted) throw new Error(STOPPED);
    const { api, chance, log, ignores } = this.#options;
    this.#definitions = new Definitions({
      ignores,
      api,
      chance,
      log,
      silenceMsMax: this.#silenceMsMax,
      changed: definitions => this.#reconcile(sink, definitions),
    });
    this.#definitions.start();
    await Promise.race([synced, stopped]);
    if (signal.aborted) throw new Error(STOPPED);
    this.#saidSynced = true;
    await sink.submit([{ kind: 'Synced' }]);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#definitions?.stop();
    // What the sink refused was answered by listing anew, which ends here.
    await this.#reconciling.catch(() => undefined);
    await Promise.all([...this.#watched.values()].map(({ watcher }) => watcher.stop()));
    this.#watched.clear();
  }

  /**
   * Passes on what has been listed of a remote cluster although not everything could be, as soon as these kinds are.
   */
  showListed(needed: readonly KindName[]): void {
    this.#needed = needed;
    this.#considerPart();
  }

  /** Where the objects of a kind are; undefined: it is not served, or not found yet. */
  resource(kind: KindName): Resource | undefined {
    return this.#watched.get(kind)?.resource;
  }

  status(): SourceStatus {
    const watchers = [...this.#watched.values()].map(({ watcher }) => watcher);
    if (this.#definitions !== undefined) watchers.push(this.#definitions.watcher);
    const waiting = [...this.#watched].filter(([, { watcher }]) => !watcher.listed).map(([kind]) => kind);
    const troubles = [this.#trouble, ...watchers.map(({ trouble }) => trouble?.message)].filter(isText);
    const unreadable = [...watchers.flatMap(watcher => watcher.unreadable ?? []), ...this.#unserved.values()];
    unreadable.sort((a, b) => (a.what < b.what ? -1 : 1));
    return { synced: this.#saidSynced, waiting: waiting.sort(), troubles: [...new Set(troubles)].sort(), unreadable };
  }

  get #silenceMsMax(): number {
    return this.#options.silenceMsMax ?? SILENCE_MS_MAX;
  }

  /** Kinds that every API server has; asked for until all are found. */
  async #findBuiltIns(): Promise<void> {
    const { chance, log } = this.#options;
    const { signal } = this.#abort;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const documents = await Promise.all(
          documentPaths.map(async path => [path, await this.#document(path)] as const),
        );
        const { resources, missing } = builtIns(new Map(documents));
        if (missing.length > 0) throw new Error(`the API server does not serve ${missing.join(', ')}`);
        this.#builtIns = resources;
        this.#trouble = undefined;
        return;
      } catch (error) {
        const { message, retryAfterMs } = failureOf(error);
        if (signal.aborted) return;
        const ms = backoffMs(failures, chance.random(), retryAfterMs);
        this.#trouble = message;
        log('warn', `${message}; trying again in ${(ms / 1_000).toFixed(1)} s`);
        await sleep(chance, ms, signal);
      }
    }
  }

  /** null: there is no such group or version. */
  async #document(path: string): Promise<Json> {
    try {
      return await this.#options.api.get(path, {}, { signal: this.#abort.signal, bytesMax: PAGE_BYTES_MAX });
    } catch (error) {
      if (failureOf(error).status === NOT_FOUND) return null;
      throw error;
    }
  }

  /** Starts what is served now and not watched, stops what is not served any more. One at a time. */
  #reconcile(sink: Sink, definitions: readonly CustomResource[]): Promise<void> {
    const now = async (): Promise<void> => {
      const { resources, absent, unserved } = customs(definitions);
      const since = this.#options.chance.now();
      this.#unserved = new Map(
        unserved.map(({ kind, why }) => [kind, { what: kind, why, since: this.#unserved.get(kind)?.since ?? since }]),
      );
      const read = [...this.#builtIns, ...resources].filter(({ kind }) => this.#isRead(kind));
      const wanted = new Map(read.map(resource => [resource.kind, this.#placed(resource)]));
      for (const [kind, { resource, watcher }] of [...this.#watched]) {
        if (wanted.get(kind)?.path === resource.path) continue;
        await watcher.stop();
        this.#watched.delete(kind);
        this.#options.live?.forget(kind);
        this.#held?.forget(kind);
        this.#options.log('info', `${resource.path} is not watched any more`);
      }
      const gone = absent.filter(kind => this.#isRead(kind));
      this.#held?.lacks(gone);
      // Objects go with their definition; also those in the journal whose definition was removed while the process was
      // down.
      if (gone.length > 0 && this.#held === undefined) await sink.relistKinds(gone, []);
      if (this.#abort.signal.aborted) return;
      for (const [kind, resource] of wanted) if (!this.#watched.has(kind)) this.#watch(sink, resource);
      this.#discovered = true;
      this.#considerSynced();
    };
    this.#reconciling = this.#reconciling.then(now, now);
    return this.#reconciling;
  }

  #watch(sink: Sink, resource: Resource): void {
    const { api, chance, log, live } = this.#options;
    const kindSink = new KindSink(sink, resource, log);
    const watcher = new Watcher({
      api,
      chance,
      log,
      path: resource.path,
      fieldSelector: resource.fieldSelector,
      metadataOnly: resource.metadataOnly,
      silenceMsMax: this.#silenceMsMax,
      replace: async objects => {
        live?.replace(resource, objects);
        if (this.#held !== undefined) return this.#held.replace(resource, objects);
        await this.#shown;
        return kindSink.replace(objects);
      },
      change: async events => {
        live?.change(resource, events);
        if (this.#held !== undefined) return this.#held.change(resource, events);
        await this.#shown;
        return kindSink.change(events);
      },
      stepped: ({ listed }) => {
        if (listed) this.#considerPart();
        if (listed) this.#considerSynced();
      },
    });
    this.#watched.set(resource.kind, { resource, watcher });
    watcher.start();
  }

  #considerPart(): void {
    const isListed = (kind: KindName): boolean => this.#watched.get(kind)?.watcher.listed === true;
    if (this.#needed?.every(isListed) !== true) return;
    this.#needed = undefined;
    void this.#showAtLast();
  }

  #considerSynced(): void {
    if (!this.#discovered || this.#synced === undefined) return;
    if ([...this.#watched.values()].some(({ watcher }) => !watcher.listed)) return;
    const synced = this.#synced;
    this.#synced = undefined;
    void this.#showAtLast().then(synced);
  }

  /** Resolves when what was held back is shown, or the adapter stops. */
  async #showAtLast(): Promise<void> {
    const { chance, log } = this.#options;
    const { signal } = this.#abort;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        return await this.#show();
      } catch (error) {
        if (signal.aborted) return;
        const ms = backoffMs(failures, chance.random());
        const why = `${this.source}: what was listed cannot be recorded: ${failureOf(error).message}`;
        log('warn', `${why}; trying again in ${(ms / 1_000).toFixed(1)} s`);
        await sleep(chance, ms, signal);
      }
    }
  }

  /**
   * Everything that was held back, as one batch; what comes after waits for it. If it is refused, it is held back
   * still, and what came after is listed again.
   */
  #show(): Promise<void> {
    const held = this.#held;
    const sink = this.#sink;
    if (held === undefined || sink === undefined) return this.#shown;
    this.#held = undefined;
    const { kinds, facts } = held.all();
    const eachKind = async (error: unknown): Promise<void> => {
      if (!isUnfit(error)) throw error;
      for (const { resource, objects } of held.each()) {
        await new KindSink(sink, resource, this.#options.log).replace(objects);
      }
    };
    this.#shown = sink
      .relistKinds(kinds, facts)
      .catch(eachKind)
      .catch((error: unknown) => {
        this.#holdAgain(held);
        throw error;
      });
    return this.#shown;
  }

  #holdAgain(held: HeldLists): void {
    // Kinds may have gone meanwhile.
    for (const { resource } of held.each()) if (!this.#watched.has(resource.kind)) held.forget(resource.kind);
    this.#held = held;
    this.#shown = Promise.resolve();
  }

  #isRead(kind: KindName): boolean {
    return this.#options.remote?.kinds.has(kind) ?? !isRemoteOnly(kind);
  }

  #placed(resource: Resource): Resource {
    const namespace = this.#options.remote?.configMapsOf;
    if (namespace === undefined || resource.kind !== 'ConfigMap') return resource;
    return { ...resource, path: `/api/v1/namespaces/${namespace}/configmaps` };
  }
}

export interface ConnectOptions extends CredentialOptions {
  readonly cluster: string;
  readonly limit: RateLimit;
  readonly chance: Chance;
  readonly log: AdapterLog;
  readonly userAgent: string;
  readonly silenceMsMax?: number;
  readonly live?: LiveObjects;
  readonly remote?: RemoteKinds;
  readonly ignores?: KubeAdapterOptions['ignores'];
}

export interface Connected {
  readonly adapter: KubeAdapter;
  readonly credentials: Credentials;
  /** A connection with a rate limit of its own. */
  connection(): HttpApi;
}

/** An adapter that speaks to a real API server. Rejects if the kubeconfig is unusable; the server need not be there. */
export async function connectKube(options: ConnectOptions): Promise<Connected> {
  const { cluster, chance, limit, log, userAgent, silenceMsMax, live, remote, ignores } = options;
  const credentials = await loadCredentials(options);
  const connection = (): HttpApi => new HttpApi({ credentials, limit, chance, userAgent });
  const api = connection();
  const adapter = new KubeAdapter({ cluster, api, chance, log, silenceMsMax, live, remote, ignores });
  return { adapter, credentials, connection };
}

function isText(text: string | undefined): text is string {
  return text !== undefined;
}
