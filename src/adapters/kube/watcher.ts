// One resource, listed and watched for as long as it is wanted: performs what the reflector decides, one effect after
// the other. What is heard is handed on before more is read, so a slow sink slows the server down instead of filling
// memory.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { Unreadable } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { sleep } from '../kit/clock.ts';
import type { Api, WatchStream } from './api.ts';
import { type Failure, failureOf } from './failure.ts';
import { heardIn, resourceVersionOf } from './heard.ts';
import { PAGE_BYTES_MAX } from './limits.ts';
import { type Effect, type Input, newReflector, type Reflector, step, type WatchEvent } from './reflector.ts';

export interface WatcherOptions {
  readonly api: Api;
  readonly chance: Chance;
  readonly path: string;
  readonly fieldSelector?: string;
  /** Metadata is all that is asked for. */
  readonly metadataOnly?: boolean;
  /** Milliseconds after which a silent watch is closed. */
  readonly silenceMsMax: number;
  /** All there is, and then each change. What they reject with is logged, and everything is listed again. */
  readonly replace: (objects: readonly JsonObject[]) => Promise<void>;
  readonly change: (events: readonly WatchEvent[]) => Promise<void>;
  readonly log: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** After each step, e.g. to see that everything has been listed. */
  readonly stepped?: (reflector: Reflector) => void;
}

/** Objects reduced to their metadata by the server: one name for lists, another for the objects of a watch. */
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const METADATA_OBJECT = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

export class Watcher {
  readonly #options: WatcherOptions;
  readonly #abort = new AbortController();
  #reflector: Reflector = newReflector;
  #stream: WatchStream | undefined;
  #running: Promise<void> | undefined;
  #troubleSince = 0;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  get listed(): boolean {
    return this.#reflector.listed;
  }

  /** What went wrong last; undefined while all is well. */
  get trouble(): Failure | undefined {
    return this.#reflector.trouble;
  }

  /** The trouble as a part of the source that cannot be read: nothing is deleted for it. */
  get unreadable(): Unreadable | undefined {
    const { trouble } = this.#reflector;
    const { path: what } = this.#options;
    return trouble === undefined
      ? undefined
      : { what, why: withoutPath(trouble.message, what), since: this.#troubleSince };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when nothing is handed on any more. */
  async stop(): Promise<void> {
    this.#abort.abort();
    this.#stream?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    let input: Input = { kind: 'start' };
    while (!this.#abort.signal.aborted) {
      const { chance, stepped } = this.#options;
      const [reflector, effects] = step(this.#reflector, input, { now: chance.now(), random: chance.random() });
      const handed = await this.#handOn(effects);
      if (this.#abort.signal.aborted) return;
      // The version moves on when what led to it has been taken.
      if (handed !== undefined) {
        this.#reflector = { ...this.#reflector, next: 'list' };
        input = { kind: 'failed', failure: handed };
        continue;
      }
      if (this.#reflector.trouble === undefined) this.#troubleSince = chance.now();
      this.#reflector = reflector;
      stepped?.(reflector);
      input = await this.#perform(effects.at(-1)!);
    }
  }

  /** Everything but the last effect. What a sink cannot take is a failure, after which everything is listed again. */
  async #handOn(effects: readonly Effect[]): Promise<Failure | undefined> {
    const { path, replace, change, log } = this.#options;
    try {
      for (const effect of effects) {
        if (effect.kind === 'replace') await replace(effect.objects);
        else if (effect.kind === 'change') await change(effect.events);
        else if (effect.kind === 'log') log(effect.level, `${path}: ${withoutPath(effect.message, path)}`);
      }
      return undefined;
    } catch (error) {
      return { status: 0, message: `what was heard cannot be recorded: ${failureOf(error).message}` };
    }
  }

  async #perform(effect: Effect): Promise<Input> {
    try {
      switch (effect.kind) {
        case 'list':
          return await this.#list(effect.limit, effect.continue);
        case 'watch':
          return await this.#watch(effect.resourceVersion, effect.timeoutMs);
        case 'read':
          return await this.#read();
        case 'wait':
          this.#close();
          await sleep(this.#options.chance, effect.ms, this.#abort.signal);
          return { kind: 'waited' };
        default:
          return { kind: 'waited' };
      }
    } catch (error) {
      this.#close();
      return { kind: 'failed', failure: failureOf(error) };
    }
  }

  async #list(limit: number, token: string): Promise<Input> {
    this.#close();
    const { api, path, fieldSelector, metadataOnly } = this.#options;
    const accept = metadataOnly ? METADATA_LIST : undefined;
    const query = { fieldSelector, limit: limit === 0 ? undefined : String(limit), continue: token };
    const page = await api.get(path, query, { signal: this.#abort.signal, accept, bytesMax: PAGE_BYTES_MAX });
    // Whatever a proxy in between makes up must not pass for an empty list.
    if (!isObject(page) || !isObject(page.metadata) || !isListKind(page.kind) || resourceVersionOf(page) === '') {
      throw new Error(`${path}: the answer is not a list`);
    }
    const items = page.items ?? [];
    if (!Array.isArray(items)) throw new Error(`${path}: the items of the list are not a list`);
    return {
      kind: 'page',
      objects: (items as readonly Json[]).filter(isObject),
      resourceVersion: resourceVersionOf(page),
      continue: typeof page.metadata.continue === 'string' ? page.metadata.continue : '',
    };
  }

  async #watch(resourceVersion: string, timeoutMs: number): Promise<Input> {
    this.#close();
    const { api, path, fieldSelector, metadataOnly } = this.#options;
    const accept = metadataOnly ? METADATA_OBJECT : undefined;
    const timeoutSeconds = String(Math.ceil(timeoutMs / 1_000));
    const query = { fieldSelector, resourceVersion, timeoutSeconds, allowWatchBookmarks: 'true' };
    this.#stream = await api.watch(path, query, { signal: this.#abort.signal, accept });
    return { kind: 'opened' };
  }

  async #read(): Promise<Input> {
    const stream = this.#stream;
    if (stream === undefined) return { kind: 'ended' };
    const { chance, silenceMsMax } = this.#options;
    let timer: { cancel(): void } | undefined;
    const silence = new Promise<'silent'>(resolve => {
      timer = chance.after(silenceMsMax, () => resolve('silent'));
    });
    const reading = stream.next();
    reading.catch(() => undefined);
    try {
      const lines = await Promise.race([reading, silence]);
      if (lines === 'silent') {
        this.#close();
        return { kind: 'silent' };
      }
      if (lines === undefined) {
        this.#close();
        return { kind: 'ended' };
      }
      return { kind: 'heard', heard: await heardIn(lines) };
    } finally {
      timer?.cancel();
    }
  }

  #close(): void {
    this.#stream?.close();
    this.#stream = undefined;
  }
}

function isListKind(kind: Json | undefined): boolean {
  return typeof kind === 'string' && kind.endsWith('List');
}

function withoutPath(message: string, path: string): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}
