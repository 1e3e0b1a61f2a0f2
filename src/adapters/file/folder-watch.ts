// Wakes the file adapter: a watch on each folder, none on files. A thousand files cost one watch, and an event names
// the one that changed, so that the others need not be looked at.
//
// Node's own `fs.watch`: its two event types are all that is needed. On Linux they come from inotify, where `rename` is
// a name that appeared or went and `change` a file that was written to. So a name that appeared with content and
// without a `change` was moved there whole.

import { type FSWatcher, watch } from 'node:fs';
import type { AdapterLog } from '../adapter.ts';
import { whyNot } from './why-not.ts';

export interface FolderEvent {
  readonly folder: string;
  /** As in the folder; undefined: something in it. */
  readonly name: string | undefined;
  /**
   * The name appeared or disappeared; the content may be unfinished. Never on systems that do not tell the two events
   * apart.
   */
  readonly moved: boolean;
}

/** A folder and what tells it from another of the same path. */
export interface Watched {
  readonly path: string;
  readonly inode: number;
}

const TELLS_APART = process.platform === 'linux';

export class FolderWatch {
  readonly #told: (event: FolderEvent) => void;
  readonly #log: AdapterLog;
  readonly #watchers = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  #blind = false;

  constructor(told: (event: FolderEvent) => void, log: AdapterLog) {
    this.#told = told;
    this.#log = log;
  }

  /** Idempotent. A folder that cannot be watched is found by looking now and then. */
  follow({ path, inode }: Watched): void {
    const known = this.#watchers.get(path);
    if (known?.inode === inode) return;
    known?.watcher.close();
    this.#watchers.delete(path);
    try {
      const watcher = watch(path, (type, name) =>
        this.#told({ folder: path, name: name ?? undefined, moved: TELLS_APART && type === 'rename' }),
      );
      watcher.on('error', () => this.#drop(path, watcher));
      this.#watchers.set(path, { inode, watcher });
    } catch (error) {
      this.#sayBlind(path, error);
    }
  }

  /** Lets go of every other folder. */
  only(paths: ReadonlySet<string>): void {
    for (const [path, { watcher }] of this.#watchers) {
      if (paths.has(path)) continue;
      this.#watchers.delete(path);
      watcher.close();
    }
  }

  close(): void {
    this.only(new Set());
  }

  #drop(path: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(path)?.watcher === watcher) this.#watchers.delete(path);
    this.#told({ folder: path, name: undefined, moved: false });
  }

  /** Once: where watches run out, a thousand folders would say the same. */
  #sayBlind(path: string, error: unknown): void {
    if (!this.#blind) this.#log('warn', `watching ${path}: ${whyNot(error)}; it is looked at now and then instead`);
    this.#blind = true;
  }
}
