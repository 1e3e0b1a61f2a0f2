// A disk that always answers: what does not return in time (a hung NFS mount, a device) counts as unreadable, and is
// asked for again only once it has returned. Node asks a file system in four threads, which other work shares: no more
// than two are left to operations that hang.

import type { Dirent, Stats } from 'node:fs';
import type { Unreadable } from '../adapter.ts';
import type { Disk } from './disk.ts';

/** Time for one operation. */
export const ANSWER_MS_MAX = 5_000;
/** Operations that may hang; while as many do, nothing else is asked. */
export const HANGING_MAX = 2;

export class TimedDisk implements Disk {
  readonly #disk: Disk;
  readonly #now: () => number;
  readonly #ms: number;
  readonly #hanging = new Map<string, Unreadable>();
  readonly #closing = new AbortController();

  constructor(disk: Disk, now: () => number, ms: number = ANSWER_MS_MAX) {
    this.#disk = disk;
    this.#now = now;
    this.#ms = ms;
  }

  /** What has been asked for and does not answer. */
  hanging(): readonly Unreadable[] {
    return [...this.#hanging.values()];
  }

  /** Every operation that is awaited or asked for later fails. */
  close(): void {
    this.#closing.abort(new Error('the program is stopping'));
  }

  lstat(path: string): Promise<Stats> {
    return this.#timed(path, () => this.#disk.lstat(path));
  }

  stat(path: string): Promise<Stats> {
    return this.#timed(path, () => this.#disk.stat(path));
  }

  realpath(path: string): Promise<string> {
    return this.#timed(path, () => this.#disk.realpath(path));
  }

  readdir(path: string): Promise<readonly Dirent[]> {
    return this.#timed(path, () => this.#disk.readdir(path));
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.#timed(path, () => this.#disk.readFile(path));
  }

  #timed<T>(path: string, ask: () => Promise<T>): Promise<T> {
    const { signal } = this.#closing;
    const known = this.#hanging.get(path);
    const [first] = this.#hanging.keys();
    if (signal.aborted) return Promise.reject(signal.reason);
    if (known !== undefined) return Promise.reject(new Error(known.why));
    if (this.#hanging.size >= HANGING_MAX) {
      return Promise.reject(new Error(`is not looked at while ${first ?? 'something else'} does not answer`));
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => reject(signal.reason);
      const timer = setTimeout(() => {
        const why = `does not answer within ${this.#ms / 1_000} s`;
        this.#hanging.set(path, { what: path, why, since: this.#now() });
        reject(new Error(why));
      }, this.#ms);
      signal.addEventListener('abort', stop, { once: true });
      const answered = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#hanging.delete(path);
      };
      ask().then(
        value => {
          answered();
          resolve(value);
        },
        (error: unknown) => {
          answered();
          reject(error);
        },
      );
    });
  }
}
