// The folder that everything is read from, and when an empty one counts as empty. A mount point whose mount is missing
// is an empty folder too, and no system call tells them apart after a restart. So objects go with their files only
// where the very folder is seen to lose them.

import type { Sink } from '../adapter.ts';
import type { Disk } from './disk.ts';
import type { Found, Hidden } from './scan.ts';

const EMPTY = 'is empty, as a mount point without its mount is (--allow-empty-source, if it is meant to be)';

export interface RootOptions {
  readonly path: string;
  readonly allowEmpty: boolean;
  readonly disk: Disk;
}

export class Root {
  readonly #options: RootOptions;
  /** What tells the folder from another one in its place; undefined until it has been looked into. */
  #identity: string | undefined;

  constructor(options: RootOptions) {
    this.#options = options;
  }

  /** False if another folder, or none, is in its place since everything was looked at. */
  async stands(): Promise<boolean> {
    return this.#identity !== undefined && (await this.#identityNow()) === this.#identity;
  }

  /** The root itself, if it is empty and may not count as that. `had`: files are known from there. */
  async emptied({ files, hidden }: Found, had: boolean, sink: Sink): Promise<readonly Hidden[]> {
    if (files.length === 0 && hidden.length > 0) return [];
    const { path, allowEmpty } = this.#options;
    const identity = await this.#identityNow();
    if (files.length === 0 && !allowEmpty) {
      const isDoubtful = this.#identity === undefined ? sink.holds({ path }) : had && this.#identity !== identity;
      if (isDoubtful) return [{ path, why: EMPTY }];
    }
    this.#identity = identity;
    return [];
  }

  async #identityNow(): Promise<string | undefined> {
    return this.#options.disk.stat(this.#options.path).then(
      ({ dev, ino }) => `${dev} ${ino}`,
      () => undefined,
    );
  }
}
