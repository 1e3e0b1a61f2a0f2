// Kubeconfigs of remote clusters from a folder (PILOT_MULTICLUSTER_KUBECONFIG_PATH): each file as a Secret, the form in
// which the core knows them, so that they are sealed in the journal and judged like any other.
//
// Invariant: a cluster goes only with its file. A file that names no cluster any more (cut short, mistyped) keeps its
// Secret as it was; one that is written while it is read, and a folder that is empty as a mount point without its
// mount is, fail the look.
// Source: Istio pkg/kube/multicluster/kubeconfig_files.go.

import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { clusterIdIn, KUBECONFIG_CHARS_MAX } from '../../core/clusters/kubeconfig.ts';
import { KUBECONFIG_FILES, MULTICLUSTER_LABEL } from '../../core/clusters/remote-clusters.ts';
import type { Fact, ObjectRef } from '../../core/event.ts';
import type { AdapterLog, Sink } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { type FilesRead, PolledFiles } from '../kit/polled-files.ts';

export interface KubeconfigFilesOptions {
  readonly folder: string;
  readonly cluster: string;
  /** Namespace of the Secrets. */
  readonly systemNamespace: string;
  /** `--allow-empty-source`: an empty folder removes every cluster, though a mount may be missing there. */
  readonly allowEmpty?: boolean;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

export const FILES_MAX = 1_000;
export const DEPTH_MAX = 8;
const EMPTY = 'is empty, as a mount point without its mount is (--allow-empty-source, if it is meant to be)';

/** What the last look found. */
interface Listed {
  /** What tells the folder from another one in its place; empty: none has been looked into. */
  readonly folder: string;
  readonly files: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
}

export function kubeconfigFiles({
  folder,
  cluster,
  systemNamespace,
  allowEmpty = false,
  chance,
  log,
}: KubeconfigFilesOptions): PolledFiles {
  let last: Listed = { folder: '', files: new Set(), kept: new Set() };
  const read = async (sink: Sink): Promise<FilesRead> => {
    const texts = await textsIn(folder);
    const { dev, ino } = await stat(folder);
    const now = `${dev} ${ino}`;
    if (texts.size === 0 && !allowEmpty) {
      const isDoubtful =
        last.folder === '' ? sink.holds({ path: resolve(folder) }) : last.files.size > 0 && last.folder !== now;
      if (isDoubtful) throw new Error(`${folder} ${EMPTY}`);
    }
    const isKept = (file: string, text: string): boolean =>
      clusterIdIn(text) === undefined && (last.files.has(file) || sink.holds({ path: resolve(folder, file) }));
    const kept = new Set([...texts].flatMap(([file, text]) => (isKept(file, text) ? [file] : [])));
    for (const file of kept) {
      if (!last.kept.has(file))
        log('error', `${join(folder, file)} names no cluster; what was read there before is kept`);
    }
    last = { folder: now, files: new Set(texts.keys()), kept };
    const rest = [...texts].filter(([file]) => !kept.has(file));
    return {
      facts: rest.map(([file, text]) => secretOf(folder, file, text, systemNamespace)),
      kept: [...kept].map(file => refOf(file, systemNamespace)),
    };
  };
  const source = `${KUBECONFIG_FILES}/${cluster}`;
  return new PolledFiles({
    source,
    kind: 'Secret',
    subject: 'kubeconfigs of remote clusters',
    folder,
    read,
    chance,
    log,
  });
}

function secretOf(folder: string, file: string, text: string, systemNamespace: string): Fact {
  const { apiVersion, kind, namespace, name } = refOf(file, systemNamespace);
  const metadata = { name, namespace, labels: { [MULTICLUSTER_LABEL]: 'true' } };
  const data = { [clusterIdIn(text) ?? plainName(file)]: Buffer.from(text).toString('base64') };
  const origin = { file: resolve(folder, file) };
  return { kind: 'Add', object: { apiVersion, kind, metadata, type: 'Opaque', data }, origin };
}

function refOf(file: string, namespace: string): ObjectRef {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name: `${plainName(file)}-${hash(file).slice(0, 8)}` };
}

function plainName(file: string): string {
  return file
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
}

/** By path below the folder, sorted. Rejects if any of it cannot be read: half a list would remove clusters. */
async function textsIn(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const path of (await filesBelow(folder, 0)).sort()) {
    const name = relative(folder, path);
    if (found.size === FILES_MAX) throw new Error(`${folder} has more than ${FILES_MAX} files`);
    const before = await stat(path);
    if (before.size > KUBECONFIG_CHARS_MAX) throw new Error(`${name} is larger than ${KUBECONFIG_CHARS_MAX} bytes`);
    found.set(name, await readFile(path, 'utf8'));
    if (stampOf(await stat(path)) !== stampOf(before)) throw new Error(`${name} was written while it was read`);
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

function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
