// Files as objects of one kind, looked at again and again, because mounted folders change by links that no watch sees.
// The adapters beside say what to read; this one lists what was read when it differs from the look before.
//
// Invariant: a look that fails changes nothing. What was known stays, and status and log say since when and why.

import { createHash } from 'node:crypto';
import type { Fact, ObjectRef } from '../../core/event.ts';
import type { KindName } from '../../core/model/kind.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { type Chance, sleep } from './clock.ts';

/** From one look at the files to the next. */
export const LOOK_MS = 2_000;

export interface FilesRead {
  readonly facts: readonly Fact[];
  /** Objects of files without usable content: their last version is kept. */
  readonly kept?: readonly ObjectRef[];
}

export interface PolledFilesOptions {
  readonly source: string;
  /** Of the objects. */
  readonly kind: KindName;
  /** Names what is read in messages, e.g. `the configuration of the injector`. */
  readonly subject: string;
  readonly folder: string;
  /** Every object that the files stand for. Rejects if any of them cannot be read: half a list would remove objects. */
  readonly read: (sink: Sink) => Promise<FilesRead>;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

export class PolledFiles implements Adapter {
  readonly source: string;
  readonly #options: PolledFilesOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #synced = false;
  /** Digest of what was listed last: the objects may be Secrets. */
  #listed: string | undefined;
  #trouble: { readonly why: string; readonly since: number } | undefined;

  constructor(options: PolledFilesOptions) {
    this.#options = options;
    this.source = options.source;
  }

  /** Resolves when everything has been read once, which takes as long as it cannot be read. */
  async start(sink: Sink): Promise<void> {
    const { chance, subject } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted && !(await this.#look(sink))) await sleep(chance, LOOK_MS, signal);
    if (signal.aborted) throw new Error(`stopped before ${subject} could be read`);
    this.#synced = true;
    await sink.submit([{ kind: 'Synced' }]);
    this.#running = this.#watch(sink);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  status(): SourceStatus {
    const { folder, kind } = this.#options;
    const unreadable = this.#trouble === undefined ? [] : [{ what: folder, ...this.#trouble }];
    return {
      synced: this.#synced,
      waiting: this.#synced ? [] : [kind],
      troubles: unreadable.map(({ why }) => `${folder}: ${why}`),
      unreadable,
    };
  }

  async #watch(sink: Sink): Promise<void> {
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await sleep(this.#options.chance, LOOK_MS, signal);
      if (!signal.aborted) await this.#look(sink);
    }
  }

  /** False: something cannot be read. */
  async #look(sink: Sink): Promise<boolean> {
    const { kind, subject, read, log, chance } = this.#options;
    try {
      const { facts, kept = [] } = await read(sink);
      const digest = createHash('sha256')
        .update(JSON.stringify([facts, kept]))
        .digest('hex');
      if (digest !== this.#listed) {
        await sink.relistKinds([kind], facts, kept);
        this.#listed = digest;
      }
      this.#trouble = undefined;
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#trouble?.why !== why) {
        log('error', `${subject}: ${why}; what is known stays`);
        this.#trouble = { why, since: chance.now() };
      }
      return false;
    }
  }
}
