// Configuration from files: a folder of Istio and Kubernetes objects, a MeshConfig file and a MeshNetworks file, all of them hot.
//
// Watching only wakes us and says which file to look at; what changed is found by looking (path, inode, size, times), so rename-over, symlink
// swaps and lost events come to the same. A file that was moved into place is whole and is read at once; one that is being written to is left
// alone until it has been quiet for a while. One file's changes are one batch. Nothing is lost to a bad edit: while a file has a document that
// cannot be read, objects that were in it and are not any more are kept. The same object in two files: the first file by path has it.

import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json } from '../../core/base/json.ts';
import type { Origin } from '../../core/base/problem.ts';
import type { Fact } from '../../core/event.ts';
import type { Adapter, AdapterLog, ObjectPlace, Sink, SourceStatus } from '../adapter.ts';
import { FileParser } from './file-parser.ts';
import { type FolderEvent, FolderWatch } from './folder-watch.ts';
import { Holdings, type KnownFile } from './holdings.ts';
import { locateInFiles } from './locate-in-files.ts';
import { FILE_BYTES_MAX, identity, malformedFact, type ParsedObject, placed, tooLarge, unreadFile } from './parse.ts';
import { type FoundFile, findFile, isWanted, scanFolder } from './scan.ts';
import { whyNot } from './why-not.ts';

export interface FileAdapterOptions {
  /** `--configDir` */
  readonly configDir?: string;
  /** `--meshConfig`; a file that does not exist is no error (Istio starts with its defaults). */
  readonly meshConfig?: string;
  /** `--networksConfig` */
  readonly networksConfig?: string;
  /** The registry that the objects belong to. */
  readonly cluster: string;
  /** Default: QUIET_MS. */
  readonly quietMs?: number;
  readonly log: AdapterLog;
}

/** Quiet time after the last event before looking at what is being written to, as in Istio's file controller. */
export const QUIET_MS = 50;
/** Looks now and then without being woken: some file systems give no events. */
export const RESCAN_MS = 30_000;
/** Remembered reports of objects that stand in two files. */
const REPORTS_MAX = 1_000;

export class FileAdapter implements Adapter {
  readonly source: string;
  readonly #options: FileAdapterOptions;
  readonly #holdings = new Holdings((key, used, ignored) => this.#reportTwice(key, used, ignored));
  readonly #reported = new Set<string>();
  readonly #single = new Map<string, { stamp: string; ok: boolean }>();
  readonly #folderWatch: FolderWatch;
  readonly #singleWatch: FolderWatch;
  #folders: ReadonlySet<string> = new Set();
  /** Files to look at; `moved`: nobody has written to it since it appeared. */
  readonly #touched = new Map<string, 'moved' | 'written'>();
  /** Not known which: look at everything. */
  #anything = false;
  #sink: Sink | undefined;
  #wake: NodeJS.Timeout | undefined;
  #rescan: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #listed = false;
  readonly #parser = new FileParser();

  constructor(options: FileAdapterOptions) {
    this.#options = options;
    this.source = `file/${options.cluster}`;
    this.#folderWatch = new FolderWatch(event => this.#told(event), options.log);
    this.#singleWatch = new FolderWatch(() => this.#wakeUp(), options.log);
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    await this.#list();
    this.#listed = true;
    this.#rescan = setInterval(() => {
      this.#anything = true;
      this.#wakeUp();
    }, RESCAN_MS);
    this.#rescan.unref();
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
    clearTimeout(this.#wake);
    clearInterval(this.#rescan);
    this.#folderWatch.close();
    this.#singleWatch.close();
    await this.#parser.close();
    await this.#looking;
    this.#folderWatch.close();
    this.#singleWatch.close();
  }

  status(): SourceStatus {
    return { synced: this.#listed, waiting: [], troubles: [] };
  }

  locate(places: readonly ObjectPlace[]): Promise<readonly (Origin | undefined)[]> {
    return locateInFiles(places, this.#parser);
  }

  #told({ folder, name, moved }: FolderEvent): void {
    // Beside the folders there are those that links lead to, and names that begin with a dot, which links lead through.
    if (name === undefined || name.startsWith('.') || !this.#folders.has(folder)) {
      this.#anything = true;
      this.#wakeUp();
      return;
    }
    const path = join(folder, name);
    if (moved && isWanted(name) && this.#touched.get(path) !== 'written') {
      this.#touched.set(path, 'moved');
      this.#lookSoon(() => this.#lookAtMoved());
    } else {
      this.#touched.set(path, 'written');
      this.#wakeUp();
    }
  }

  #wakeUp(): void {
    clearTimeout(this.#wake);
    if (this.#sink === undefined) return;
    this.#wake = setTimeout(() => this.#lookSoon(() => this.#look()), this.#options.quietMs ?? QUIET_MS);
  }

  #lookSoon(look: () => Promise<void>): void {
    this.#looking = this.#looking.then(look).catch((error: unknown) => this.#failed(error));
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
    for (const [path, file] of await this.#changedFiles()) {
      this.#holdings.put(path, file);
      facts.push(...malformedFacts(path, undefined, file));
    }
    for (const { object, origin } of this.#holdings.winners()) facts.push({ kind: 'Add', object, origin });
    const unreadable = this.#holdings.paths().filter(path => !this.#holdings.get(path)!.complete);
    await this.#sink?.relist(facts, unreadable);
  }

  /** What changed since the last look. */
  async #look(): Promise<void> {
    if (this.#sink === undefined) return;
    const singles = await this.#lookAtSingles();
    if (singles.length > 0) await this.#sink.submit(singles);
    const touched = [...this.#touched.keys()].sort();
    const anything = this.#anything || touched.some(path => this.#folders.has(path) || isFolder(path));
    this.#anything = false;
    this.#touched.clear();
    await this.#take(anything ? await this.#changedFiles() : await this.#changedOf(touched));
  }

  /** Files that were moved into place. One that turns out to be gone, empty or being written to is left for `#look`. */
  async #lookAtMoved(): Promise<void> {
    const changed = new Map<string, KnownFile>();
    for (const [path, how] of [...this.#touched]) {
      if (how !== 'moved') continue;
      const file = await findFile(path);
      const read = file === undefined || file.size === 0 ? undefined : await this.#read(file);
      // Whoever wrote to it before we read has been reported by now.
      await nextTurn();
      if (this.#touched.get(path) !== 'moved') continue;
      if (read === undefined || file?.target !== undefined) {
        this.#touched.set(path, 'written');
        this.#wakeUp();
      } else {
        this.#touched.delete(path);
        if (this.#holdings.get(path)?.stamp !== read.stamp) changed.set(path, read);
      }
    }
    await this.#take(changed);
  }

  /** One batch a file. Of an object that moved from file to file the first file by path tells. */
  async #take(changed: ReadonlyMap<string, KnownFile | undefined>): Promise<void> {
    const paths = [...changed.keys()].sort();
    const before = new Map(paths.map(path => [path, this.#holdings.get(path)] as const));
    const keys = new Map(paths.map(path => [path, keysOf(before.get(path), changed.get(path))] as const));
    const winners = new Map<string, ParsedObject | undefined>();
    for (const key of [...keys.values()].flat()) winners.set(key, this.#holdings.winner(key));
    for (const path of paths) this.#holdings.put(path, changed.get(path));
    const told = new Set<string>();
    for (const path of paths) {
      const batch: Fact[] = [...malformedFacts(path, before.get(path), changed.get(path))];
      for (const key of keys.get(path)!) {
        if (told.has(key)) continue;
        told.add(key);
        const fact = difference(winners.get(key), this.#holdings.winner(key));
        if (fact !== undefined) batch.push(fact);
      }
      if (batch.length > 0) await this.#submit(path, batch, before.get(path));
    }
  }

  /** What cannot be recorded holds up nobody else: the file counts as not yet read and is tried again at the next look. */
  async #submit(path: string, batch: readonly Fact[], before: KnownFile | undefined): Promise<void> {
    try {
      await this.#sink?.submit(batch);
    } catch (error) {
      this.#failed(error);
      this.#anything = true;
      this.#holdings.put(path, before === undefined ? undefined : { ...before, stamp: '' });
    }
  }

  /** All files that are new, have another stamp or are gone. */
  async #changedFiles(): Promise<ReadonlyMap<string, KnownFile | undefined>> {
    this.#watchSingles();
    const { configDir } = this.#options;
    const changed = new Map<string, KnownFile | undefined>();
    if (!isText(configDir)) return changed;
    const seen = new Set<string>();
    const { files, folders, problems } = await scanFolder(configDir, folder => {
      seen.add(folder.path);
      this.#folders = new Set([...this.#folders, folder.path]);
      this.#folderWatch.follow(folder);
    });
    for (const text of problems) this.#options.log('warn', `${text}; what was read there before is kept`);
    this.#followTargets(files, seen);
    for (const file of files) {
      const read = this.#holdings.get(file.path)?.stamp === file.stamp ? undefined : await this.#read(file);
      if (read !== undefined) changed.set(file.path, read);
    }
    if (problems.length > 0) return changed;
    this.#folders = folders;
    this.#folderWatch.only(seen);
    const present = new Set(files.map(file => file.path));
    for (const path of this.#holdings.paths()) if (!present.has(path)) changed.set(path, undefined);
    return changed;
  }

  /** What a link leads to is written to in another folder. */
  #followTargets(files: readonly FoundFile[], seen: Set<string>): void {
    for (const { target } of files) {
      if (target === undefined || seen.has(target)) continue;
      seen.add(target);
      this.#follow(this.#folderWatch, target);
    }
  }

  #follow(folderWatch: FolderWatch, path: string): void {
    const inode = statSync(path, { throwIfNoEntry: false })?.ino;
    if (inode !== undefined) folderWatch.follow({ path, inode });
  }

  /** By its folder, which may be any: not what lies below it. */
  #watchSingles(): void {
    for (const path of [this.#options.meshConfig, this.#options.networksConfig].filter(isText)) {
      this.#follow(this.#singleWatch, dirname(path));
    }
  }

  async #changedOf(paths: readonly string[]): Promise<ReadonlyMap<string, KnownFile | undefined>> {
    const changed = new Map<string, KnownFile | undefined>();
    for (const path of paths) {
      const known = this.#holdings.get(path);
      const file = isWanted(basename(path)) ? await findFile(path) : undefined;
      if (file === undefined) {
        if (known !== undefined) changed.set(path, undefined);
        continue;
      }
      const read = known?.stamp === file.stamp ? undefined : await this.#read(file);
      if (read !== undefined) changed.set(path, read);
    }
    return changed;
  }

  /** Undefined: it is gone, or was written to meanwhile and will be looked at again. What cannot be read stays as it was. */
  async #read(file: FoundFile): Promise<KnownFile | undefined> {
    const known = this.#holdings.get(file.path);
    const unread = (stamp: string, reason: string): KnownFile => {
      const why = { origin: { file: file.path }, reason };
      return { ...unreadFile(why), stamp, objects: known?.objects ?? new Map() };
    };
    if (file.size > FILE_BYTES_MAX) return unread(file.stamp, tooLarge(file.size));
    const bytes = await readFile(file.path).catch((error: NodeJS.ErrnoException) => error);
    // The next look tries again: what was in the way may be gone without a trace on the file.
    if (bytes instanceof Error) return bytes.code === 'ENOENT' ? undefined : unread('', cannotBeRead(bytes));
    // Written while we read: another event is on its way, and a half-written file must not count as a deletion.
    if ((await findFile(file.path))?.stamp !== file.stamp) {
      this.#touched.set(file.path, 'written');
      this.#wakeUp();
      return undefined;
    }
    const parsed = await this.#parser.parse(file.path, bytes);
    const objects = new Map(parsed.complete ? [] : known?.objects);
    for (const object of parsed.objects) objects.set(identity(object.ref), object);
    return { ...parsed, stamp: file.stamp, objects };
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
    const value = await this.#readSingle(path, found.size);
    if ((await findFile(path))?.stamp !== stamp) {
      this.#wakeUp();
      return [];
    }
    this.#single.set(path, { stamp, ok: !('reason' in value) });
    if ('reason' in value) return [{ kind: 'Malformed', origin: value.origin, reasons: [placed(value)] }];
    return [{ kind, value: value.value, origin: { file: path } }, ...(known?.ok === false ? [cleared(path)] : [])];
  }

  /** The one document of a mesh config file; an empty file is an empty configuration. */
  async #readSingle(
    path: string,
    size: number,
  ): Promise<{ readonly value: Json } | { readonly origin: Origin; readonly reason: string }> {
    if (size > FILE_BYTES_MAX) return { origin: { file: path }, reason: tooLarge(size) };
    const bytes = await readFile(path).catch((error: Error) => error);
    if (bytes instanceof Error) return { origin: { file: path }, reason: cannotBeRead(bytes) };
    const parsed = await this.#parser.documents(path, new TextDecoder().decode(bytes));
    if ('reason' in parsed) return parsed;
    const [document, second] = parsed.documents;
    if (document === undefined) return { value: {} };
    if (document.errors[0] !== undefined) return document.errors[0];
    if (second !== undefined) return { origin: second.origin, reason: `${basename(path)} must hold one document` };
    return { value: document.value };
  }
}

const cannotBeRead = (error: Error): string => `cannot be read: ${whyNot(error)}`;

function cleared(path: string): Fact {
  return { kind: 'Malformed', origin: { file: path }, reasons: [] };
}

/** A file's list of errors, when it differs from what was said of it before. */
function malformedFacts(path: string, before: KnownFile | undefined, after: KnownFile | undefined): readonly Fact[] {
  const said = [...(before?.malformed ?? []), ...(before?.ignored ?? [])];
  const { malformed = [], ignored = [] } = after ?? {};
  const first = malformed[0] ?? ignored[0];
  if (first === undefined) return said.length === 0 ? [] : [cleared(path)];
  return [malformedFact({ ...first.origin, file: path }, malformed, ignored)];
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

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isText(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
