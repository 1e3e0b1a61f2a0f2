// Kubeconfigs of remote clusters from a folder (PILOT_MULTICLUSTER_KUBECONFIG_PATH): each file as a Secret, the form in
// which the core knows them, so that they are sealed in the journal and judged like any other.
//
// The folder is looked at again and again, because mounted folders change by links that no watch sees. A file or folder
// that cannot be read changes nothing: what was known of it stays. Source: Istio
// pkg/kube/multicluster/kubeconfig_files.go.

import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { clusterIdIn, KUBECONFIG_CHARS_MAX } from '../../core/clusters/kubeconfig.ts';
import { KUBECONFIG_FILES, MULTICLUSTER_LABEL } from '../../core/clusters/remote-clusters.ts';
import type { Fact } from '../../core/event.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { type Chance, sleep } from '../kit/clock.ts';

export interface KubeconfigFilesOptions {
  readonly folder: string;
  readonly cluster: string;
  /** Namespace of the Secrets. */
  readonly systemNamespace: string;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

/** From one look at the folder to the next. */
export const LOOK_MS = 2_000;
export const FILES_MAX = 1_000;
export const DEPTH_MAX = 8;

export class KubeconfigFiles implements Adapter {
  readonly source: string;
  readonly #options: KubeconfigFilesOptions;
  readonly #abort = new AbortController();
  #running: Promise<void> | undefined;
  #synced = false;
  #seen: string | undefined;
  #trouble: { readonly why: string; readonly since: number } | undefined;

  constructor(options: KubeconfigFilesOptions) {
    this.#options = options;
    this.source = `${KUBECONFIG_FILES}/${options.cluster}`;
  }

  /** Resolves when the folder has been read once, which takes as long as it cannot be read. */
  async start(sink: Sink): Promise<void> {
    const { chance } = this.#options;
    const { signal } = this.#abort;
    while (!signal.aborted && !(await this.#look(sink))) await sleep(chance, LOOK_MS, signal);
    if (signal.aborted) throw new Error('stopped before the kubeconfigs could be read');
    this.#synced = true;
    await sink.submit([{ kind: 'Synced' }]);
    this.#running = this.#watch(sink);
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
      waiting: this.#synced ? [] : ['Secret'],
      troubles: unreadable.map(({ why }) => `${folder}: ${why}`),
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

  /** False: the folder cannot be read. */
  async #look(sink: Sink): Promise<boolean> {
    const { folder, log, chance } = this.#options;
    try {
      const texts = await textsIn(folder);
      const digest = JSON.stringify([...texts].map(([name, text]) => [name, hash(text)]));
      if (digest !== this.#seen) {
        await sink.relistKinds(
          ['Secret'],
          [...texts].map(([name, text]) => this.#secret(name, text)),
        );
        this.#seen = digest;
      }
      this.#trouble = undefined;
      return true;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#trouble?.why !== why) {
        log('error', `kubeconfigs of remote clusters: ${why}; what is known stays`);
        this.#trouble = { why, since: chance.now() };
      }
      return false;
    }
  }

  #secret(file: string, text: string): Fact {
    const plain = file
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 40);
    const metadata = {
      name: `${plain}-${hash(file).slice(0, 8)}`,
      namespace: this.#options.systemNamespace,
      labels: { [MULTICLUSTER_LABEL]: 'true' },
    };
    const data = { [clusterIdIn(text) ?? plain]: Buffer.from(text).toString('base64') };
    return { kind: 'Add', object: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', data } };
  }
}

/** By path below the folder, sorted. Rejects if any of it cannot be read: half a list would remove clusters. */
async function textsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of (await filesBelow(folder, 0)).sort()) {
    const name = relative(folder, path);
    if (found.size === FILES_MAX) throw new Error(`${folder} has more than ${FILES_MAX} files`);
    const { size } = await stat(path);
    if (size > KUBECONFIG_CHARS_MAX) throw new Error(`${name} is larger than ${KUBECONFIG_CHARS_MAX} bytes`);
    found.set(name, await readFile(path, 'utf8'));
  }
  return found;
}

async function filesBelow(folder: string, depth: number): Promise<string[]> {
  if (depth > DEPTH_MAX) throw new Error(`${folder} is nested more than ${DEPTH_MAX} deep`);
  const found: string[] = [];
  for (const name of await readdir(folder)) {
    // What a mounted Secret keeps its versions in; the links beside lead there.
    if (name.startsWith('..')) continue;
    const path = join(folder, name);
    const entry = await stat(path);
    if (entry.isDirectory()) found.push(...(await filesBelow(path, depth + 1)));
    else if (entry.isFile() && /\.ya?ml$/.test(name)) found.push(path);
  }
  return found;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
