// The sources of a control plane and their readiness. A source that the journal knows from an earlier run is ready at
// once, with the recorded objects; readiness then reports their age until the source has been listed again. Serving
// goes on from the recorded objects; writing waits until every source has been listed in this process, but for those
// that may be late (registries, remote clusters, other control planes) no longer than `lateMs`: one that is down would
// keep every status and root from being written. What the journal has of such a source stays in force meanwhile, so
// nothing is written as if its objects were gone.

import type { Adapter, Sink, SourceStatus } from '../adapters/adapter.ts';
import type { State } from '../core/state.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

export interface SourcesOptions {
  readonly adapters: readonly Adapter[];
  /** The state at the start, and the time of its last event. */
  readonly state: State;
  readonly asOf: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Sources that come and go while the process runs. */
  readonly remotes?: readonly RemoteSources[];
  /** After which an adapter that may be late holds back readiness and writers no more; 0 or absent: never. */
  readonly lateMs?: number;
}

/** Sources that come and go while the process runs: remote clusters, other control planes. */
export interface RemoteSources {
  /** Nothing of them holds back the first readiness. */
  isReady(): boolean;
  becameReady(): void;
  /** Every source has been listed: what follows from all of them may be written. */
  allowWrites?(): void;
  isRemote(source: string): boolean;
  /** One that was not listed yet need not be, for the process to be ready. */
  mayBeLate(source: string): boolean;
  report(): readonly SourceReport[];
  /** Removes what the journal has of clusters that are not wanted any more. */
  removeOrphans(): void;
  stop(): Promise<void>;
  onChange: () => void;
}

export interface SourceReport extends SourceStatus {
  readonly source: string;
  /** The journal had a complete list of this source when the process started. */
  readonly fromJournal: boolean;
}

export interface Readiness {
  readonly ready: boolean;
  readonly text: string;
}

export class Sources {
  readonly #options: SourcesOptions;
  readonly #fromJournal: ReadonlySet<string>;
  readonly #started = new Map<string, Promise<void>>();
  /** Pending waits and their conditions. */
  readonly #awaited = new Map<() => boolean, () => void>();
  readonly #remotes: readonly RemoteSources[];
  /** Adapters that neither readiness nor writers wait for any more. */
  readonly #late = new Set<string>();
  readonly #timer: { cancel(): void } | undefined;
  #whenReady: Promise<void> | undefined;

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#remotes = options.remotes ?? [];
    const known = options.adapters.map(({ source }) => source).filter(source => options.state.synced.has(source));
    this.#fromJournal = new Set(known);
    for (const source of options.state.synced.keys()) {
      if (options.adapters.some(adapter => adapter.source === source)) continue;
      if (this.#remotes.some(remote => remote.isRemote(source))) continue;
      options.log('warn', `the journal has objects of ${source}, but no adapter watches it: they stay as they are`);
    }
    for (const remote of this.#remotes) {
      remote.onChange = () => this.#tell();
      // What is wanted is known once the sources that say so are.
      void this.whenIndependentReady().then(() => remote.removeOrphans());
    }
    void this.whenListed().then(() => {
      for (const remote of this.#remotes) remote.allowWrites?.();
    });
    const { lateMs = 0 } = options;
    if (lateMs > 0) this.#timer = options.clock.after(lateMs, () => this.#goOnWithout(lateMs));
  }

  get ready(): boolean {
    const ready = this.#areReady(() => true) && this.#remotes.every(remote => remote.isReady());
    if (ready) for (const remote of this.#remotes) remote.becameReady();
    return ready;
  }

  /** Resolves when `ready` becomes true. */
  whenReady(): Promise<void> {
    this.#whenReady ??= this.#when(() => this.ready);
    return this.#whenReady;
  }

  /** Resolves when all sources without `onState` are ready; the others derive their questions from the state. */
  whenIndependentReady(): Promise<void> {
    return this.#when(() => this.#areReady(({ onState }) => onState === undefined));
  }

  /**
   * Resolves when all sources without `onState` have been listed in this process, whatever the journal says, or are
   * late, and remote clusters have been, or are known from the journal, or have had their time.
   */
  whenListed(): Promise<void> {
    return this.#when(() => this.#unlisted().length === 0 && this.#remotes.every(remote => remote.isReady()));
  }

  report(): readonly SourceReport[] {
    return [...this.#adapterReports(), ...this.#remotes.flatMap(remote => remote.report())];
  }

  #adapterReports(): readonly SourceReport[] {
    return this.#options.adapters.map(adapter => ({
      source: adapter.source,
      fromJournal: this.#fromJournal.has(adapter.source),
      ...adapter.status(),
    }));
  }

  readiness(): Readiness {
    const reports = this.report();
    const unsynced = reports.filter(({ synced }) => !synced);
    const unreadable = reports.flatMap(showUnreadable);
    if (unsynced.length === 0) return { ready: true, text: `${['ready', ...unreadable].join('\n')}\n` };
    const { ready } = this;
    const age = this.#options.clock.now() - this.#options.asOf;
    const isLate = unsynced.every(
      ({ source }) =>
        (this.#late.has(source) && !this.#fromJournal.has(source)) ||
        this.#remotes.some(remote => remote.mayBeLate(source)),
    );
    const first = ready
      ? isLate
        ? 'ready'
        : `ready, with what the journal says, ${showAge(age)} old`
      : 'not ready: the configuration has not been read yet';
    return { ready, text: `${[first, ...unsynced.map(showReport), ...unreadable].join('\n')}\n` };
  }

  /** Resolves when the source has been listed; rejects if that fails or the adapter is stopped before. */
  start(adapter: Adapter, sink: Sink): Promise<void> {
    const started = adapter.start(sink).then(() => {
      if (adapter.status().synced) this.#options.log('info', `${adapter.source}: everything has been listed`);
      this.#tell();
    });
    this.#started.set(adapter.source, started);
    return started;
  }

  #areReady(counts: (adapter: Adapter) => boolean): boolean {
    const { adapters } = this.#options;
    return adapters.every(adapter => !counts(adapter) || adapter.status().synced || this.#goesWithout(adapter));
  }

  #unlisted(): readonly Adapter[] {
    const isAwaited = ({ source, onState }: Adapter): boolean => onState === undefined && !this.#late.has(source);
    return this.#options.adapters.filter(adapter => isAwaited(adapter) && !adapter.status().synced);
  }

  #goesWithout({ source }: Adapter): boolean {
    return this.#fromJournal.has(source) || this.#late.has(source);
  }

  #goOnWithout(lateMs: number): void {
    for (const adapter of this.#options.adapters) {
      const { source, mayBeLate = false, mayBeOld = false } = adapter;
      const isKnown = this.#fromJournal.has(source);
      if (adapter.status().synced || !(mayBeLate || (mayBeOld && isKnown))) continue;
      this.#late.add(source);
      const how = isKnown ? 'with what the journal has of it' : 'without it';
      this.#options.log('warn', `${source} has not been listed within ${lateMs / 1_000} s; going on ${how}`);
    }
    this.#tell();
  }

  #when(isDone: () => boolean): Promise<void> {
    return new Promise(resolve => {
      this.#awaited.set(isDone, resolve);
      this.#tell();
    });
  }

  #tell(): void {
    for (const [isDone, resolve] of this.#awaited) {
      if (!isDone()) continue;
      this.#awaited.delete(isDone);
      resolve();
    }
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    // One that cannot be stopped keeps no other running.
    for (const part of [...this.#remotes, ...this.#options.adapters]) {
      await part.stop().catch((error: unknown) => {
        const what = 'source' in part ? part.source : 'remote sources';
        this.#options.log('error', `${what}: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
    await Promise.allSettled(this.#started.values());
  }
}

function showReport({ source, waiting, troubles }: SourceReport): string {
  const what = waiting.length === 0 ? 'not listed since the start' : `not listed yet: ${waiting.join(', ')}`;
  return [`${source}: ${what}`, ...troubles.map(trouble => `${source}: ${trouble}`)].join('\n');
}

function showUnreadable({ source, unreadable }: SourceReport): readonly string[] {
  return unreadable.map(
    ({ what, why, since }) =>
      `${source}: ${what} cannot be read since ${new Date(since).toISOString()} (${why}); what was known of it stays`,
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `3d 4h`, `12m 30s`, `0s`: the two largest units. */
export function showAge(ms: number): string {
  let rest = Math.max(0, ms);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${count}${unit}`);
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}
