// A registry that is read from time to time, as an adapter: its author writes one function that reads everything. What
// a read cannot say stays as it was, so a function that throws, or names what it could not read, loses nothing.

import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { backoffMs } from './backoff.ts';
import { Catalogue } from './catalogue.ts';
import { type Chance, sleep } from './clock.ts';
import type { RegistryService } from './registry-service.ts';

/** One read of a registry. */
export interface RegistryRead {
  readonly services: readonly RegistryService[];
  /** Services that could not be read, by name; an empty name: there may be more services than these. */
  readonly failed?: readonly { readonly name: string; readonly why: string }[];
}

export interface PolledRegistryOptions {
  /** e.g. `eureka` */
  readonly registry: string;
  /** Tells several registries of one kind apart; the source is `<registry>/<name>`. */
  readonly name: string;
  /** Of the ServiceEntries and WorkloadEntries. Default: `default`. */
  readonly namespace?: string;
  /** Reads everything. A rejection means that nothing could be read; its message must contain no secret. */
  readonly read: (signal: AbortSignal) => Promise<RegistryRead>;
  readonly everyMs: number;
  /** How long the loss of most instances is held back; default a minute, 0: never. */
  readonly holdMs?: number;
  readonly chance?: Chance;
  readonly log: AdapterLog;
}

const systemChance: Chance = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** The wait after a failed read is at most this many times the usual one. */
const BACKOFF_FACTOR_MAX = 8;

export class PolledRegistry implements Adapter {
  readonly source: string;
  readonly #options: PolledRegistryOptions;
  readonly #chance: Chance;
  readonly #catalogue: Catalogue;
  readonly #stop = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  constructor(options: PolledRegistryOptions) {
    const { registry, name, namespace = 'default', holdMs, chance = systemChance, log } = options;
    this.#options = options;
    this.#chance = chance;
    this.source = `${registry}/${name}`;
    this.#catalogue = new Catalogue({ registry, source: this.source, namespace, holdMs, chance, log });
  }

  /** Resolves when the registry has been read once; rejects if the adapter is stopped before. */
  async start(sink: Sink): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#stop.signal.addEventListener('abort', () => reject(new Error(`stopped before ${this.source} was read`)));
      this.#reading = this.#poll(resolve);
    });
    await this.#catalogue.open(sink);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
    await this.#catalogue.close();
  }

  status(): SourceStatus {
    return this.#catalogue.status();
  }

  async #poll(onFirst: () => void): Promise<void> {
    const { signal } = this.#stop;
    const { everyMs, read } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const found = await read(signal);
        if (signal.aborted) return;
        this.#take(found);
        failures = 0;
        onFirst();
      } catch (error) {
        failures++;
        this.#catalogue.failed('', error instanceof Error ? error.message : String(error));
      }
      const bounds = { minMs: everyMs, maxMs: everyMs * BACKOFF_FACTOR_MAX };
      const wait = failures === 0 ? everyMs : backoffMs(failures, this.#chance.random(), bounds);
      await sleep(this.#chance, wait, signal);
    }
  }

  #take({ services, failed = [] }: RegistryRead): void {
    for (const service of services) this.#catalogue.set(service.name, [service]);
    const names = new Set([...services, ...failed].map(({ name }) => name));
    if (!names.delete('')) this.#catalogue.retain(names);
    for (const { name, why } of failed) this.#catalogue.failed(name, why);
  }
}
