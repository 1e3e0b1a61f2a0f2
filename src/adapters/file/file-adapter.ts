// Configuration from files: a folder of Istio and Kubernetes objects, a MeshConfig file and a MeshNetworks file, all of
// them hot.
//
// Watching only wakes us and says which file to look at; what changed is found by looking (path, inode, size, times),
// so rename-over, symlink swaps and lost events have the same result. A file that was moved into place is whole and is
// read at once; one that is being written to is left alone until it has been quiet for a while. One file's changes are
// one batch. Nothing is lost to a bad edit: while a file has a document that cannot be read, objects that were in it
// and are not any more are kept. The same object in two files: the first file by path has it.

import { basename, dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { append } from '../../core/base/append.ts';
import type { Origin } from '../../core/base/problem.ts';
import type { Fact } from '../../core/event.ts';
import { isBelow } from '../../core/fold/novelty.ts';
import type { Adapter, AdapterLog, ObjectPlace, Sink, SourceStatus } from '../adapter.ts';
import { difference, keysOf, malformedFacts, turnAfter } from './differences.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { FileParser } from './file-parser.ts';
import { type FolderEvent, FolderWatch, type Watched } from './folder-watch.ts';
import { Holdings, type KnownFile } from './holdings.ts';
import { locateInFiles } from './locate-in-files.ts';
import { isText, MeshFiles, meshFilesOf } from './mesh-files.ts';
import { FILE_BYTES_MAX, identity, tooLarge, unreadFile } from './parse.ts';
import { repeatLog } from './repeat-log.ts';
import { Root } from './root.ts';
import { type FoundFile, findFile, hasFolder, isHidden, isWanted, scanFolder } from './scan.ts';
import { TimedDisk } from './timed-disk.ts';
import { UnreadableParts } from './unreadable.ts';
import { Unsettled } from './unsettled.ts';
import { cannotBeRead } from './why-not.ts';

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
  /** Default: RESCAN_MS. */
  readonly rescanMs?: number;
  /** `--allow-empty-source`: an empty configDir deletes what was read from it, though a mount may be missing there. */
  readonly allowEmpty?: boolean;
  /** Default: the file system. */
  readonly disk?: Disk;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly log: AdapterLog;
}

/** Quiet time after the last event before looking at what is being written to, as in Istio's file controller. */
export const QUIET_MS = 50;
/** Looks now and then without being woken: some file systems give no events. */
export const RESCAN_MS = 30_000;
/** Files whose facts are recorded at the same time: they share commits, and each stays a batch of its own. */
export const SUBMITTED_AT_ONCE_MAX = 256;

/** By path; undefined: the file is gone. */
type Changes = ReadonlyMap<string, KnownFile | undefined>;

export class FileAdapter implements Adapter {
  readonly source: string;
  readonly #options: FileAdapterOptions;
  readonly #holdings: Holdings;
  readonly #disk: TimedDisk;
  readonly #mesh: MeshFiles;
  readonly #hiddenMesh: UnreadableParts;
  readonly #hidden: UnreadableParts;
  /**
   * What could not be read at the last list: when it can, the journal may know of objects there that have gone since.
   */
  #unlisted: readonly string[] = [];
  readonly #unsettled = new Unsettled();
  readonly #root: Root;
  readonly #folderWatch: FolderWatch;
  readonly #singleWatch: FolderWatch;
  #folders: ReadonlySet<string> = new Set();
  /** Files to look at; `moved`: not written to since it appeared. */
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
    const { disk = nodeDisk, now = Date.now, log } = options;
    this.#holdings = new Holdings(repeatLog(log));
    this.#disk = new TimedDisk(disk, now);
    this.#mesh = new MeshFiles(meshFilesOf(options), this.#disk, this.#parser);
    this.#hiddenMesh = new UnreadableParts(log, now);
    this.#hidden = new UnreadableParts(log, now);
    this.#root = new Root({ path: options.configDir ?? '', allowEmpty: options.allowEmpty === true, disk: this.#disk });
    this.#folderWatch = new FolderWatch(event => this.#told(event), options.log);
    this.#singleWatch = new FolderWatch(() => this.#wakeUp(), options.log);
  }

  /** Rejects if there is no configDir to look into, and never was. */
  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    const begun = this.#begin(sink);
    this.#looking = begun.catch(() => undefined);
    await begun;
    if (this.#sink === undefined) return;
    this.#rescan = setInterval(() => this.#lookAtAll(), this.#options.rescanMs ?? RESCAN_MS);
    this.#rescan.unref();
  }

  async #begin(sink: Sink): Promise<void> {
    const { configDir } = this.#options;
    const mesh = await this.#lookAtMesh(sink);
    for (const [path, file] of await this.#changedFiles(sink)) this.#holdings.put(path, file);
    if (this.#sink === undefined) return; // A read that stop() ended is no fact.
    const root = this.#hidden.all().find(({ what }) => what === configDir);
    if (root === undefined) await this.#list(sink, mesh);
    else if (sink.holds({ path: root.what })) await sink.submit(mesh);
    else throw new Error(root.why);
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
    clearTimeout(this.#wake);
    clearInterval(this.#rescan);
    this.#folderWatch.close();
    this.#singleWatch.close();
    for (const parts of [this.#hidden, this.#hiddenMesh]) parts.close();
    this.#disk.close();
    await this.#parser.close();
    await this.#looking;
    this.#folderWatch.close();
    this.#singleWatch.close();
  }

  status(): SourceStatus {
    const hidden = [...this.#hiddenMesh.all(), ...this.#hidden.all()];
    const hanging = this.#disk.hanging().filter(({ what }) => !hidden.some(known => known.what === what));
    const unreadable = [...hidden, ...hanging].sort((a, b) => (a.what < b.what ? -1 : 1));
    return { synced: this.#listed, waiting: [], troubles: [], unreadable };
  }

  locate(places: readonly ObjectPlace[]): Promise<readonly (Origin | undefined)[]> {
    return locateInFiles(places, this.#parser, this.#disk);
  }

  #told({ folder, name, moved }: FolderEvent): void {
    // Beside the folders there are those that links lead to, and names that begin with a dot, which links lead through.
    const isKnown = this.#listed && this.#folders.has(folder);
    if (name === undefined || name.startsWith('.') || !isKnown) {
      this.#lookAtAll();
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

  /** Everything that is known now: at the start, and when more can be read than at the last list. */
  async #list(sink: Sink, mesh: readonly Fact[]): Promise<void> {
    const facts: Fact[] = [...mesh];
    if (mesh.length === 0) append(facts, this.#mesh.malformed());
    for (const path of this.#holdings.paths()) append(facts, malformedFacts(path, undefined, this.#holdings.get(path)));
    for (const { object, origin } of this.#holdings.winners()) facts.push({ kind: 'Add', object, origin });
    const unread = this.#holdings.paths().filter(path => !this.#holdings.get(path)!.complete);
    this.#unlisted = [...this.status().unreadable.map(({ what }) => what), ...unread, ...this.#unsettled.all()];
    await sink.relist(facts, this.#unlisted);
    this.#listed = true;
  }

  /** What changed since the last look. */
  async #look(): Promise<void> {
    const sink = this.#sink;
    if (sink === undefined) return;
    const mesh = await this.#lookAtMesh(sink);
    if (mesh.length > 0) await this.#sink?.submit(mesh);
    const touched = [...this.#touched.keys()].sort();
    const everything = this.#anything;
    // Events that come from here on are for the next look.
    this.#anything = false;
    this.#touched.clear();
    const anything = everything || (await hasFolder(touched, this.#folders, this.#disk));
    await this.#take(anything ? await this.#changedFiles(sink) : await this.#changedOf(touched));
    if (this.#sink !== undefined && this.#canListMore()) await this.#list(sink, []);
  }

  /** The journal may have objects that were in what could not be read before, and that this process has never seen. */
  #canListMore(): boolean {
    if (!this.#listed) return !this.#hidden.has(this.#options.configDir ?? '');
    const isHiddenYet = (what: string): boolean =>
      this.#holdings.get(what)?.complete === false ||
      [this.#unsettled, this.#hidden, this.#hiddenMesh].some(parts => parts.has(what));
    return this.#unlisted.some(what => !isHiddenYet(what));
  }

  /** Files that were moved into place. One that turns out to be gone, empty or being written to is left for `#look`. */
  async #lookAtMoved(): Promise<void> {
    const changed = new Map<string, KnownFile>();
    for (const [path, how] of [...this.#touched]) {
      if (how !== 'moved') continue;
      const file = await findFile(path, false, this.#disk);
      const read = file === undefined || isHidden(file) || file.size === 0 ? undefined : await this.#read(file);
      // A write before we read has been reported by now.
      await nextTurn();
      if (this.#touched.get(path) !== 'moved') continue;
      if (read === undefined || (file as FoundFile).target !== undefined) {
        this.#touched.set(path, 'written');
        this.#wakeUp();
      } else {
        this.#touched.delete(path);
        if (this.#holdings.get(path)?.stamp !== read.stamp) changed.set(path, read);
      }
    }
    await this.#take(changed);
    if (this.#unlisted.some(path => changed.has(path))) this.#wakeUp();
  }

  /** One batch a file. Of an object that moved from file to file the first file by path tells. */
  async #take(changed: Changes): Promise<void> {
    const paths = [...changed.keys()].sort();
    const before = new Map(paths.map(path => [path, this.#holdings.get(path)] as const));
    const keys = new Map(paths.map(path => [path, keysOf(before.get(path), changed.get(path))] as const));
    const winners = new Map([...keys.values()].flat().map(key => [key, this.#holdings.winner(key)] as const));
    for (const path of paths) this.#holdings.put(path, changed.get(path));
    await turnAfter(winners.size);
    const told = new Set<string>();
    const submitting: Promise<void>[] = [];
    for (const path of paths) {
      const batch: Fact[] = [...malformedFacts(path, before.get(path), changed.get(path))];
      for (const key of keys.get(path)!) {
        if (told.has(key)) continue;
        told.add(key);
        const fact = difference(winners.get(key), this.#holdings.winner(key));
        if (fact !== undefined) batch.push(fact);
      }
      await turnAfter(batch.length);
      if (batch.length > 0) submitting.push(this.#submit(path, batch, before.get(path)));
      if (submitting.length >= SUBMITTED_AT_ONCE_MAX) await Promise.all(submitting.splice(0));
    }
    await Promise.all(submitting);
  }

  /**
   * What cannot be recorded holds up nothing else: the file counts as not yet read and is tried again at the next look.
   */
  async #submit(path: string, batch: readonly Fact[], before: KnownFile | undefined): Promise<void> {
    try {
      await this.#sink?.submit(batch);
    } catch (error) {
      this.#failed(error);
      this.#anything = true;
      if (before === undefined) this.#unsettled.add(path);
      this.#holdings.put(path, before === undefined ? undefined : { ...before, stamp: '' });
    }
  }

  /** All files that are new, have another stamp or are gone. Nothing is gone from where nothing can be looked at. */
  async #changedFiles(sink: Sink): Promise<Changes> {
    await this.#watchSingles();
    const { configDir } = this.#options;
    const changed = new Map<string, KnownFile | undefined>();
    if (!isText(configDir)) return changed;
    const seen = new Set<string>();
    const entering = (folder: Watched): void => {
      seen.add(folder.path);
      this.#folders = new Set([...this.#folders, folder.path]);
      this.#folderWatch.follow(folder);
    };
    const found = await scanFolder(configDir, entering, this.#disk);
    const { files, folders } = found;
    const hidden = [...found.hidden, ...(await this.#root.emptied(found, this.#holdings.size > 0, sink))];
    this.#hidden.are(hidden);
    await this.#followTargets(files, seen);
    const vanished = this.#unsettled.begin(found.vanished);
    for (const file of files) {
      const known = this.#holdings.get(file.path);
      const read = known?.stamp === file.stamp ? undefined : await this.#read(file);
      if (read !== undefined) changed.set(file.path, read);
      else if (known === undefined) this.#unsettled.add(file.path);
    }
    if (this.#unsettled.end()) this.#lookAtAll();
    const present = new Set([...files.map(file => file.path), ...vanished]);
    const places = new Set(hidden.map(({ path }) => path));
    for (const path of this.#holdings.paths()) {
      if (!present.has(path) && !isBelow(path, places)) changed.set(path, undefined);
    }
    if (hidden.length > 0) return changed;
    this.#folders = folders;
    this.#folderWatch.only(seen);
    return changed;
  }

  /** What a link leads to is written to in another folder. */
  async #followTargets(files: readonly FoundFile[], seen: Set<string>): Promise<void> {
    for (const { target } of files) {
      if (target === undefined || seen.has(target)) continue;
      seen.add(target);
      await this.#follow(this.#folderWatch, target);
    }
  }

  async #follow(folderWatch: FolderWatch, path: string): Promise<void> {
    const info = await this.#disk.stat(path).catch(() => undefined);
    if (info !== undefined && this.#sink !== undefined) folderWatch.follow({ path, inode: info.ino });
  }

  /** By its folder, which may be any: not what lies below it. */
  async #watchSingles(): Promise<void> {
    for (const { path } of this.#mesh.files) await this.#follow(this.#singleWatch, dirname(path));
  }

  async #changedOf(paths: readonly string[]): Promise<Changes> {
    const changed = new Map<string, KnownFile | undefined>();
    for (const path of paths) {
      const known = this.#holdings.get(path);
      const file = isWanted(basename(path)) ? await findFile(path, false, this.#disk) : undefined;
      if (isHidden(file)) this.#lookAtAll();
      else if (file !== undefined) {
        const read = known?.stamp === file.stamp ? undefined : await this.#read(file);
        if (read !== undefined) changed.set(path, read);
      } else if (known !== undefined) changed.set(path, undefined);
    }
    // Files that are gone with their folder's mount are for the look at everything.
    const gone = [...changed].filter(([, file]) => file === undefined);
    if (gone.length > 0 && !(await this.#root.stands())) {
      for (const [path] of gone) changed.delete(path);
      this.#lookAtAll();
    }
    return changed;
  }

  #lookAtAll(): void {
    this.#anything = true;
    this.#wakeUp();
  }

  /**
   * Undefined: it is gone, or was written to meanwhile and will be looked at again. What cannot be read stays as it
   * was.
   */
  async #read(file: FoundFile): Promise<KnownFile | undefined> {
    const known = this.#holdings.get(file.path);
    const unread = (stamp: string, reason: string): KnownFile => {
      const why = { origin: { file: file.path }, reason };
      return { ...unreadFile(why), stamp, objects: known?.objects ?? new Map() };
    };
    if (file.size > FILE_BYTES_MAX) return unread(file.stamp, tooLarge(file.size));
    const bytes = await this.#disk.readFile(file.path).catch((error: NodeJS.ErrnoException) => error);
    // The next look tries again: what was in the way may be gone without a trace on the file.
    if (bytes instanceof Error && bytes.code !== 'ENOENT') return unread('', cannotBeRead(bytes));
    // Gone or written while we read: another event is on its way, and a half-written file must not count as a deletion.
    const after = await findFile(file.path, false, this.#disk);
    if (after === undefined || isHidden(after) || after.stamp !== file.stamp) {
      this.#touched.set(file.path, 'written');
      this.#wakeUp();
      return undefined;
    }
    if (bytes instanceof Error) return unread('', cannotBeRead(bytes));
    const parsed = await this.#parser.parse(file.path, bytes);
    const objects = new Map(parsed.complete ? [] : known?.objects);
    for (const object of parsed.objects) objects.set(identity(object.ref), object);
    return { ...parsed, stamp: file.stamp, objects };
  }

  async #lookAtMesh(sink: Sink): Promise<readonly Fact[]> {
    const { facts, hidden, again } = await this.#mesh.look(sink);
    this.#hiddenMesh.are(hidden);
    if (again) this.#wakeUp();
    return facts;
  }
}
