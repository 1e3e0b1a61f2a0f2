// The injector's configuration from two files, `config` and `values` of one folder, as istiod reads a mounted ConfigMap
// (./var/lib/istio/inject): together they are the ConfigMap that the core knows the injector by, so that it is recorded
// and judged like the one of a cluster, over which it takes precedence by the name of its source.
//
// The files are looked at again and again, because mounts change by links that no watch sees. Whether there are any is
// decided once, at the start. Later a file that cannot be read changes nothing: what was known of it stays.
// Source: Istio pilot/pkg/bootstrap/sidecarinjector.go (initSidecarInjector), pkg/kube/inject/watcher.go (fileWatcher).

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fact } from '../../core/event.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import { FILE_BYTES_MAX } from './parse.ts';

export interface InjectorFilesOptions {
  readonly folder: string;
  readonly cluster: string;
  /** Of the ConfigMap. */
  readonly namespace: string;
  readonly name: string;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

/** From one look at the files to the next. */
export const LOOK_MS = 2_000;
const KEYS = ['config', 'values'] as const;

/** The source of the ConfigMap of a cluster. It comes before that of the API server, and after --configDir. */
export const injectorSource = (cluster: string): string => `injector/${cluster}`;

/** True if the folder has a configuration. */
export const hasInjectorFiles = (folder: string): boolean => existsSync(join(folder, 'config'));

export class InjectorFiles implements Adapter {
  readonly source: string;
  readonly #options: InjectorFilesOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #synced = false;
  #seen: string | undefined;
  #trouble: { readonly why: string; readonly since: number } | undefined;

  constructor(options: InjectorFilesOptions) {
    this.#options = options;
    this.source = injectorSource(options.cluster);
  }

  /** Resolves when the files have been read once, which takes as long as they cannot be read, or are not there. */
  async start(sink: Sink): Promise<void> {
    const { chance, folder } = this.#options;
    const { signal } = this.#abort;
    const isThere = hasInjectorFiles(folder);
    // Those of an earlier run.
    if (!isThere) await sink.relistKinds(['ConfigMap'], []);
    while (isThere && !signal.aborted && !(await this.#look(sink))) await sleep(chance, LOOK_MS, signal);
    if (signal.aborted) throw new Error('stopped before the configuration of the injector could be read');
    this.#synced = true;
    await sink.submit([{ kind: 'Synced' }]);
    if (isThere) this.#running = this.#watch(sink);
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  status(): SourceStatus {
    const { folder } = this.#options;
    const unreadable = this.#trouble === undefined ? [] : [{ what: folder, ...this.#trouble }];
    return {
      synced: this.#synced,
      waiting: this.#synced ? [] : ['ConfigMap'],
      troubles: unreadable.map(({ why }) => why),
      unreadable,
    };
  }

  async #watch(sink: Sink): Promise<void> {
    const { chance } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted) {
      await sleep(chance, LOOK_MS, signal);
      if (!signal.aborted) await this.#look(sink);
    }
  }

  /** False: a file cannot be read. */
  async #look(sink: Sink): Promise<boolean> {
    const { log, chance } = this.#options;
    try {
      const [config, values] = await Promise.all(KEYS.map(key => this.#text(key)));
      const seen = JSON.stringify([config, values]);
      if (seen !== this.#seen) {
        await sink.relistKinds(['ConfigMap'], [this.#configMap({ config: config!, values: values! })]);
        this.#seen = seen;
      }
      this.#trouble = undefined;
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#trouble?.why !== why) {
        log('error', `the configuration of the injector: ${why}; what is known stays`);
        this.#trouble = { why, since: chance.now() };
      }
      return false;
    }
  }

  async #text(key: string): Promise<string> {
    const path = join(this.#options.folder, key);
    const { size } = await stat(path);
    if (size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`);
    return readFile(path, 'utf8');
  }

  #configMap(data: { readonly config: string; readonly values: string }): Fact {
    const { name, namespace } = this.#options;
    return { kind: 'Add', object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data } };
  }
}
