// Configuration from files: a folder of Istio and Kubernetes objects, a MeshConfig file and a MeshNetworks file, all of them hot.
//
// Watching only wakes us; what changed is found by looking (path, inode, size, times), so rename-over, symlink swaps and lost events come to
// the same. One file's changes are one batch. Nothing is lost to a bad edit: while a file has a document that cannot be read, objects that
// were in it and are not any more are kept. The same object in two files: the first file by path has it.

import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import type { Fact } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import type { Origin } from '../../core/problem.ts';
import type { Adapter, AdapterLog, Sink } from '../adapter.ts';
import { locateInText } from './locate.ts';
import {
  FILE_BYTES_MAX,
  identity,
  type ParsedFile,
  type ParsedObject,
  parseDocuments,
  parseFile,
  tooLarge,
} from './parse.ts';
import { FOLDER_DEPTH_MAX, type FoundFile, findFile, scanFolder } from './scan.ts';

export interface FileAdapterOptions {
  /** `--configDir` */
  readonly configDir?: string;
  /** `--meshConfig`; a file that does not exist is no error (Istio starts with its defaults). */
  readonly meshConfig?: string;
  /** `--networksConfig` */
  readonly networksConfig?: string;
  /** The registry that the objects belong to. */
  readonly cluster: string;
  readonly log: AdapterLog;
}

/** Quiet time after the last event before looking, as in Istio's file controller. */
export const QUIET_MS = 50;
/** Looks now and then without being woken: some file systems give no events. */
export const RESCAN_MS = 30_000;
/** Remembered reports of objects that stand in two files. */
const REPORTS_MAX = 1_000;

interface KnownFile {
  readonly stamp: string;
  readonly objects: ReadonlyMap<string, ParsedObject>;
  readonly malformed: ParsedFile['malformed'];
}

export class FileAdapter implements Adapter {
  readonly source: string;
  readonly #options: FileAdapterOptions;
  readonly #files = new Map<string, KnownFile>();
  readonly #reported = new Set<string>();
  readonly #single = new Map<string, { stamp: string; ok: boolean }>();
  #sink: Sink | undefined;
  readonly #watchers: FSWatcher[] = [];
  #wake: NodeJS.Timeout | undefined;
  #rescan: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: FileAdapterOptions) {
    this.#options = options;
    this.source = `file/${options.cluster}`;
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    const { configDir, meshConfig, networksConfig } = this.#options;
    // A mesh config file is watched by its folder, which may be any: not what lies below it.
    const singles = [meshConfig, networksConfig].filter(isText).map(path => dirname(path));
    await Promise.all([this.#watch([configDir].filter(isText), FOLDER_DEPTH_MAX), this.#watch(singles, 0)]);
    await this.#list();
    this.#rescan = setInterval(() => this.#wakeUp(), RESCAN_MS);
    this.#rescan.unref();
  }

  /** Resolves when the watcher has looked around: until then it takes what appears for what was there before, and stays silent. */
  async #watch(paths: readonly string[], depth: number): Promise<void> {
    if (paths.length === 0) return;
    const watcher = watch([...paths], { ignoreInitial: true, atomic: false, ignorePermissionErrors: true, depth });
    this.#watchers.push(watcher);
    watcher.on('all', () => this.#wakeUp());
    watcher.on('raw', () => this.#wakeUp());
    watcher.on('error', error => this.#options.log('warn', `watching files: ${String(error)}`));
    await new Promise<void>(resolve => watcher.once('ready', () => resolve()));
  }

  async stop(): Promise<void> {
    clearTimeout(this.#wake);
    clearInterval(this.#rescan);
    await Promise.all(this.#watchers.map(watcher => watcher.close()));
    this.#sink = undefined;
    await this.#looking;
  }

  async locate(origin: Origin, path: string): Promise<Origin | undefined> {
    const bytes = await readFile(origin.file).catch(() => undefined);
    return bytes === undefined ? undefined : locateInText(origin, new TextDecoder().decode(bytes), path);
  }

  #wakeUp(): void {
    clearTimeout(this.#wake);
    this.#wake = setTimeout(() => {
      this.#looking = this.#looking.then(() => this.#look()).catch((error: unknown) => this.#failed(error));
    }, QUIET_MS);
  }

  #failed(error: unknown): void {
    this.#options.log(
      'error',
      `reading configuration files: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  /** Everything, once: the start. */
  async #list(): Promise<void> {
    const facts: Fact[] = [...(await this.#lookAtSingles())];
    const changed = await this.#changedFiles();
    for (const path of changed) facts.push(...malformedFacts(path, undefined, this.#files.get(path)));
    for (const [, object] of this.#winners()) facts.push({ kind: 'Add', object: object.object, origin: object.origin });
    const unreadable = [...this.#files].filter(([, file]) => file.malformed.length > 0).map(([path]) => path);
    await this.#sink?.relist(facts, unreadable);
  }

  /** What changed since the last look: one batch a file. */
  async #look(): Promise<void> {
    const sink = this.#sink;
    if (sink === undefined) return;
    const singles = await this.#lookAtSingles();
    if (singles.length > 0) await sink.submit(singles);
    const before = new Map(this.#files);
    const winnersBefore = this.#winners();
    const changed = await this.#changedFiles();
    const winners = this.#winners();
    const told = new Set<string>();
    for (const path of changed) {
      const batch: Fact[] = [...malformedFacts(path, before.get(path), this.#files.get(path))];
      for (const key of keysOf(before.get(path), this.#files.get(path))) {
        if (told.has(key)) continue;
        told.add(key);
        const fact = difference(winnersBefore.get(key), winners.get(key));
        if (fact !== undefined) batch.push(fact);
      }
      if (batch.length > 0) await this.#submit(sink, path, batch, before.get(path));
    }
  }

  /** What cannot be recorded holds up nobody else: the file counts as not yet read and is tried again at the next look. */
  async #submit(sink: Sink, path: string, batch: readonly Fact[], before: KnownFile | undefined): Promise<void> {
    try {
      await sink.submit(batch);
    } catch (error) {
      this.#failed(error);
      if (before === undefined) this.#files.delete(path);
      else this.#files.set(path, { ...before, stamp: '' });
    }
  }

  /** Reads files that are new or have another stamp, forgets those that are gone; the paths that changed, sorted. */
  async #changedFiles(): Promise<readonly string[]> {
    const { configDir } = this.#options;
    if (configDir === undefined) return [];
    const { files, problems } = await scanFolder(configDir);
    for (const text of problems) this.#options.log('warn', `${text}; what was read there before is kept`);
    const changed: string[] = [];
    for (const file of files) {
      const known = this.#files.get(file.path);
      if (known?.stamp === file.stamp) continue;
      const read = await this.#read(file, known);
      if (read === undefined) continue;
      this.#files.set(file.path, read);
      changed.push(file.path);
    }
    const present = new Set(files.map(file => file.path));
    if (problems.length === 0) {
      for (const path of [...this.#files.keys()].sort()) {
        if (present.has(path)) continue;
        this.#files.delete(path);
        changed.push(path);
      }
    }
    return changed.sort();
  }

  async #read(file: FoundFile, known: KnownFile | undefined): Promise<KnownFile | undefined> {
    if (file.size > FILE_BYTES_MAX) {
      const malformed = [{ origin: { file: file.path }, reason: tooLarge(file.size) }];
      return { stamp: file.stamp, objects: known?.objects ?? new Map(), malformed };
    }
    const bytes = await readFile(file.path).catch(() => undefined);
    if (bytes === undefined) return undefined;
    // Written while we read: another event is on its way, and a half-written file must not count as a deletion.
    if ((await findFile(file.path))?.stamp !== file.stamp) {
      this.#wakeUp();
      return undefined;
    }
    const parsed = parseFile(file.path, bytes);
    const objects = new Map(parsed.malformed.length > 0 ? known?.objects : []);
    for (const object of parsed.objects) objects.set(identity(object.ref), object);
    return { stamp: file.stamp, objects, malformed: parsed.malformed };
  }

  /** identity → the object that counts: of several files the first by path. */
  #winners(): ReadonlyMap<string, ParsedObject> {
    const winners = new Map<string, ParsedObject>();
    for (const path of [...this.#files.keys()].sort()) {
      for (const [key, object] of this.#files.get(path)!.objects) {
        const first = winners.get(key);
        if (first === undefined) winners.set(key, object);
        else this.#reportTwice(key, first.origin.file, path);
      }
    }
    return winners;
  }

  /** Once for each pair of files, not at every look. */
  #reportTwice(key: string, used: string, ignored: string): void {
    const text = `${key} is in ${used} and in ${ignored}; the first is used`;
    if (this.#reported.has(text)) return;
    if (this.#reported.size >= REPORTS_MAX) this.#reported.clear();
    this.#reported.add(text);
    this.#options.log('warn', text);
  }

  async #lookAtSingles(): Promise<readonly Fact[]> {
    const { meshConfig, networksConfig } = this.#options;
    return [
      ...(await this.#lookAtSingle('MeshConfig', meshConfig)),
      ...(await this.#lookAtSingle('MeshNetworks', networksConfig)),
    ];
  }

  async #lookAtSingle(kind: 'MeshConfig' | 'MeshNetworks', path: string | undefined): Promise<readonly Fact[]> {
    if (path === undefined) return [];
    const found = await findFile(path);
    const stamp = found?.stamp ?? 'absent';
    const known = this.#single.get(path);
    if (known?.stamp === stamp) return [];
    if (found === undefined) {
      this.#single.set(path, { stamp, ok: true });
      return [{ kind, value: null, origin: { file: path } }, cleared(path)];
    }
    const value = await readSingle(path, found.size);
    if ((await findFile(path))?.stamp !== stamp) {
      this.#wakeUp();
      return [];
    }
    this.#single.set(path, { stamp, ok: !('reason' in value) });
    if ('reason' in value) return [{ kind: 'Malformed', origin: value.origin, reasons: [value.reason] }];
    return [{ kind, value: value.value, origin: { file: path } }, ...(known?.ok === false ? [cleared(path)] : [])];
  }
}

/** The one document of a mesh config file; an empty file is an empty configuration. */
async function readSingle(
  path: string,
  size: number,
): Promise<{ readonly value: Json } | { readonly origin: Origin; readonly reason: string }> {
  if (size > FILE_BYTES_MAX) return { origin: { file: path }, reason: tooLarge(size) };
  const parsed = parseDocuments(path, new TextDecoder().decode(await readFile(path)));
  if ('reason' in parsed) return parsed;
  const [document, second] = parsed.documents;
  if (document === undefined) return { value: {} };
  if (document.errors[0] !== undefined) return document.errors[0];
  if (second !== undefined) return { origin: second.origin, reason: `${basename(path)} must hold one document` };
  return { value: document.value };
}

function cleared(path: string): Fact {
  return { kind: 'Malformed', origin: { file: path }, reasons: [] };
}

/** A file's list of errors, when it differs from what was said of it before. */
function malformedFacts(path: string, before: KnownFile | undefined, after: KnownFile | undefined): readonly Fact[] {
  const said = before?.malformed ?? [];
  const now = after?.malformed ?? [];
  if (now.length === 0) return said.length === 0 ? [] : [cleared(path)];
  const reasons = now.map(({ origin, reason }) => `${origin.line ?? 1}:${origin.column ?? 1}: ${reason}`);
  return [{ kind: 'Malformed', origin: { ...now[0]!.origin, file: path }, reasons }];
}

function difference(before: ParsedObject | undefined, after: ParsedObject | undefined): Fact | undefined {
  if (before === after) return undefined;
  if (after !== undefined) {
    return { kind: before === undefined ? 'Add' : 'Update', object: after.object, origin: after.origin };
  }
  return before === undefined ? undefined : { kind: 'Delete', ref: before.ref };
}

function keysOf(a: KnownFile | undefined, b: KnownFile | undefined): readonly string[] {
  return [...new Set([...(a?.objects.keys() ?? []), ...(b?.objects.keys() ?? [])])].sort();
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
