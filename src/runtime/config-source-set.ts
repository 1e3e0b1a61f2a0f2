// Other control planes that the mesh configuration names as sources (`xds://`) while the process runs: in the ConfigMap
// of the cluster, which is known only when it has been read. Those of the mesh file are adapters from the start
// (config-sources.ts), because a mistake in them ends the start.
//
// One that is named is a source until the process ends: configuration that a mesh ConfigMap loses by mistake must not
// take policies with it. One that cannot be used holds back readiness with the reason.

import type { Adapter, SourceStatus } from '../adapters/adapter.ts';
import type { Json } from '../core/base/json.ts';
import type { Settings } from '../core/mesh/settings.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import { configSourceOpener, type XdsSource, xdsSourcesOf } from './config-sources.ts';
import type { Log } from './log.ts';
import type { RemoteSources, SourceReport } from './sources.ts';
import { sinkOf } from './start.ts';
import type { World } from './world.ts';

export interface ConfigSourceSetOptions {
  readonly world: Pick<World, 'state' | 'listen' | 'recordNews'>;
  /** Sources that are adapters already. */
  readonly known: readonly string[];
  /** Throws with the reason if it cannot be used. */
  readonly open: (source: XdsSource) => Adapter;
  readonly log: Log;
  /** This process is one of several replicas, and begins paused: see `pause`. */
  readonly isPaused?: boolean;
}

interface Opened {
  readonly source: string;
  readonly wanted: XdsSource;
  readonly fromJournal: boolean;
  /** Started unless the set is paused. */
  readonly adapter: Adapter | undefined;
  /** Why there is no adapter. */
  readonly trouble: string | undefined;
}

const PREFIX = 'mcp/';

export function openConfigSourceSet(
  settings: Settings,
  {
    world,
    adapters,
    clock,
    log,
    isPaused,
  }: Pick<ConfigSourceSetOptions, 'world' | 'log' | 'isPaused'> & {
    readonly adapters: readonly Adapter[];
    readonly clock: Clock;
  },
): ConfigSourceSet {
  const known = adapters.map(({ source }) => source);
  return new ConfigSourceSet({ world, known, open: configSourceOpener(settings, clock, log), log, isPaused });
}

export class ConfigSourceSet implements RemoteSources {
  readonly #options: ConfigSourceSetOptions;
  readonly #opened = new Map<string, Opened>();
  readonly #known: ReadonlySet<string>;
  #listed: unknown;
  #isStopped = false;
  #isPaused: boolean;
  /** Pausing and resuming follow one another. */
  #last: Promise<unknown> = Promise.resolve();
  onChange: () => void = () => undefined;

  constructor(options: ConfigSourceSetOptions) {
    this.#options = options;
    this.#known = new Set(options.known);
    this.#isPaused = options.isPaused ?? false;
    options.world.listen({ onFolded: state => this.#follow(state) });
    this.#follow(options.world.state);
  }

  isReady(): boolean {
    return [...this.#opened.values()].every(opened => opened.fromJournal || this.#statusOf(opened).synced);
  }

  becameReady(): void {}

  isRemote(source: string): boolean {
    return this.#opened.has(source);
  }

  mayBeLate(): boolean {
    return false;
  }

  report(): readonly SourceReport[] {
    return [...this.#opened.values()].map(opened => {
      const { source, fromJournal } = opened;
      return { source, fromJournal, ...this.#statusOf(opened) };
    });
  }

  /** With several replicas, a source that one has listed is listed at every one that has folded that. */
  #statusOf({ source, adapter, trouble }: Opened): SourceStatus {
    if (adapter === undefined) return { synced: false, waiting: [], troubles: [trouble ?? ''], unreadable: [] };
    const synced = this.#options.world.state.synced.has(source);
    if (this.#isPaused) return { synced, waiting: [], troubles: [], unreadable: [] };
    const status = adapter.status();
    const isShared = this.#options.isPaused === true;
    return { ...status, synced: status.synced || (isShared && synced) };
  }

  removeOrphans(): void {}

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#last;
    await Promise.all([...this.#opened.values()].map(({ adapter }) => adapter?.stop()));
  }

  /** Stops reading, as when another replica begins to. Never rejects: one that cannot be stopped is logged. */
  pause(): Promise<void> {
    const stop = ({ source, adapter }: Opened): Promise<void> | undefined =>
      adapter?.stop().catch((error: unknown) => this.#options.log('error', `${source}: ${String(error)}`));
    return this.#then(async () => {
      this.#isPaused = true;
      await Promise.all([...this.#opened.values()].map(stop));
    });
  }

  /** Reads every source that was named, by new adapters: one is started once in its life. */
  resume(): Promise<void> {
    return this.#then(async () => {
      if (!this.#isPaused || this.#isStopped) return;
      this.#isPaused = false;
      const { state } = this.#options.world;
      for (const { wanted, source } of [...this.#opened.values()]) {
        this.#opened.delete(source);
        this.#open(wanted, state);
      }
    });
  }

  #then(run: () => Promise<void>): Promise<void> {
    const done = this.#last.then(run);
    this.#last = done.catch(() => undefined);
    return done;
  }

  #follow(state: State): void {
    // What this replica waits for may be what another one has listed.
    if (this.#isPaused && this.#opened.size > 0) this.onChange();
    const listed = state.mesh.effective.configSources;
    if (this.#isStopped || listed === this.#listed) return;
    this.#listed = listed;
    for (const source of xdsSourcesOf((listed ?? []) as unknown as readonly Json[]).sources) this.#open(source, state);
  }

  #open(wanted: XdsSource, state: State): void {
    const source = `${PREFIX}${wanted.address}`;
    if (this.#known.has(source) || this.#opened.has(source)) return;
    const { open, log, world } = this.#options;
    const fromJournal = state.synced.has(source);
    let adapter: Adapter;
    try {
      adapter = open(wanted);
    } catch (error) {
      const trouble = error instanceof Error ? error.message : String(error);
      log('error', trouble);
      this.#opened.set(source, { source, wanted, fromJournal, adapter: undefined, trouble });
      return;
    }
    log('info', `${source}: named by the mesh configuration of the cluster`);
    this.#opened.set(source, { source, wanted, fromJournal, adapter, trouble: undefined });
    if (this.#isPaused) return;
    adapter.start(sinkOf(world, source)).then(
      () => this.onChange(),
      (error: unknown) => log('info', `${source}: ${error instanceof Error ? error.message : String(error)}`),
    );
  }
}
