// The injector's configuration from two files, `config` and `values` of one folder, as istiod reads a mounted ConfigMap
// (./var/lib/istio/inject): together they are the ConfigMap that the core knows the injector by, so that it is recorded
// and judged like the one of a cluster, over which it takes precedence by the name of its source.
//
// Whether there are any files is decided once, at the start. Without any, the objects of an earlier run go.
// Source: Istio pilot/pkg/bootstrap/sidecarinjector.go (initSidecarInjector), pkg/kube/inject/watcher.go (fileWatcher).

import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AdapterLog } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { type FilesRead, PolledFiles } from '../kit/polled-files.ts';
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

const KEYS = ['config', 'values'] as const;

/** The source of the ConfigMap of a cluster. It comes before that of the API server, and after --configDir. */
export const injectorSource = (cluster: string): string => `injector/${cluster}`;

/** True if the folder has a configuration. */
export const hasInjectorFiles = (folder: string): boolean => existsSync(join(folder, 'config'));

export function injectorFiles({ folder, cluster, namespace, name, chance, log }: InjectorFilesOptions): PolledFiles {
  let isThere: boolean | undefined;
  const read = async (): Promise<FilesRead> => {
    isThere ??= hasInjectorFiles(folder);
    if (!isThere) return { facts: [] };
    const texts = await Promise.all(KEYS.map(key => textOf(join(folder, key))));
    const data = Object.fromEntries(KEYS.map((key, i) => [key, texts[i]!]));
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data };
    return { facts: [{ kind: 'Add', object }] };
  };
  const subject = 'the configuration of the injector';
  return new PolledFiles({ source: injectorSource(cluster), kind: 'ConfigMap', subject, folder, read, chance, log });
}

async function textOf(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > FILE_BYTES_MAX) throw new Error(`${path} is larger than ${FILE_BYTES_MAX} bytes`);
  return readFile(path, 'utf8');
}
