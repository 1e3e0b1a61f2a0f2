// Follows the CustomResourceDefinitions of our groups: the metadata of all is watched, those of ours are read in full
// when they change.

import { setMaxListeners } from 'node:events';
import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { AdapterLog } from '../adapter.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import type { Api } from './api.ts';
import { backoffMs } from './backoff.ts';
import { type CustomResource, customResource, DEFINITIONS_PATH, isOurs } from './custom-resources.ts';
import { failureOf, NOT_FOUND } from './failure.ts';
import { PAGE_BYTES_MAX } from './limits.ts';
import { Watcher } from './watcher.ts';

export interface DefinitionsOptions {
  readonly api: Api;
  readonly chance: Chance;
  readonly silenceMsMax: number;
  readonly log: AdapterLog;
  /** Definitions, by `plural.group`, that count as not there. */
  readonly ignores?: (name: string) => boolean;
  /**
   * The definitions as they are now; called once all are known, and after each change. Awaited before more is heard.
   */
  readonly changed: (definitions: readonly CustomResource[]) => Promise<void>;
}

export class Definitions {
  readonly #options: DefinitionsOptions;
  readonly #abort = new AbortController();
  readonly #known = new Map<string, CustomResource>();
  readonly #watcher: Watcher;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
    setMaxListeners(0, this.#abort.signal);
    const { api, chance, silenceMsMax, log, ignores = () => false } = options;
    const isRead = (name: string): boolean => isOurs(name) && !ignores(name);
    this.#watcher = new Watcher({
      api,
      chance,
      silenceMsMax,
      log,
      path: DEFINITIONS_PATH,
      metadataOnly: true,
      replace: objects => this.#replace(objects.flatMap(nameOf).filter(isRead)),
      change: async events => {
        const names = [...new Set(events.flatMap(({ object }) => nameOf(object)).filter(isRead))];
        for (const name of names) await this.#read(name);
        if (names.length > 0) await this.#tell();
      },
    });
  }

  get watcher(): Watcher {
    return this.#watcher;
  }

  start(): void {
    this.#watcher.start();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#watcher.stop();
  }

  async #replace(names: readonly string[]): Promise<void> {
    await Promise.all(names.map(name => this.#read(name)));
    for (const name of [...this.#known.keys()]) if (!names.includes(name)) this.#known.delete(name);
    await this.#tell();
  }

  #tell(): Promise<void> {
    if (this.#abort.signal.aborted) return Promise.resolve();
    return this.#options.changed([...this.#known.keys()].sort().map(name => this.#known.get(name)!));
  }

  /** As it is now, whatever the watch said of it; tried until there is an answer. */
  async #read(name: string): Promise<void> {
    const { api, chance, log } = this.#options;
    const { signal } = this.#abort;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        const bytesMax = PAGE_BYTES_MAX;
        const found = customResource(await api.get(`${DEFINITIONS_PATH}/${name}`, {}, { signal, bytesMax }));
        // Of a definition that makes no sense only that it is there is known: what it defines is not absent for that.
        if (found === undefined) throw new Error(`${name}: the answer is not a CustomResourceDefinition`);
        this.#known.set(name, found);
        return;
      } catch (error) {
        const failure = failureOf(error);
        // A proxy may answer 404 by itself, without a Status.
        if (failure.status === NOT_FOUND && failure.reason === 'NotFound') {
          this.#known.delete(name);
          return;
        }
        const ms = backoffMs(failures, chance.random(), failure.retryAfterMs);
        if (!signal.aborted) log('warn', `${failure.message}; trying again in ${(ms / 1_000).toFixed(1)} s`);
        await sleep(chance, ms, signal);
      }
    }
  }
}

function nameOf(object: JsonObject): readonly string[] {
  const { metadata } = object;
  return isObject(metadata) && typeof metadata.name === 'string' ? [metadata.name] : [];
}
