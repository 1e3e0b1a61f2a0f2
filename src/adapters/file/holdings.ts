// What was read from which file, and of which file an object counts: of several that hold the same object the first by
// path. Kept by object, so that the change of a file is compared with the objects of that file only.

import type { ParsedFile, ParsedObject } from './parse.ts';

export interface KnownFile {
  readonly stamp: string;
  readonly objects: ReadonlyMap<string, ParsedObject>;
  readonly malformed: ParsedFile['malformed'];
  readonly ignored: ParsedFile['ignored'];
  /** False: some of the objects may be those of an earlier version of the file. */
  readonly complete: boolean;
}

export class Holdings {
  readonly #files = new Map<string, KnownFile>();
  /** Identity of an object → paths of the files that hold it, sorted. */
  readonly #holders = new Map<string, string[]>();
  /** Told of an object that stands in two files: the file that counts, and the other. */
  readonly #twice: (key: string, used: string, ignored: string) => void;

  constructor(twice: (key: string, used: string, ignored: string) => void) {
    this.#twice = twice;
  }

  get(path: string): KnownFile | undefined {
    return this.#files.get(path);
  }

  /** Files. */
  get size(): number {
    return this.#files.size;
  }

  /** Sorted. */
  paths(): readonly string[] {
    return [...this.#files.keys()].sort();
  }

  /** Every object that counts, by identity. */
  *winners(): Iterable<ParsedObject> {
    for (const key of [...this.#holders.keys()].sort()) yield this.winner(key)!;
  }

  winner(key: string): ParsedObject | undefined {
    const first = this.#holders.get(key)?.[0];
    return first === undefined ? undefined : this.#files.get(first)!.objects.get(key);
  }

  /** Undefined: the file is gone. */
  put(path: string, file: KnownFile | undefined): void {
    const before = this.#files.get(path);
    if (file === undefined) this.#files.delete(path);
    else this.#files.set(path, file);
    for (const key of before?.objects.keys() ?? []) if (file?.objects.has(key) !== true) this.#release(key, path);
    for (const key of file?.objects.keys() ?? []) this.#hold(key, path);
  }

  #release(key: string, path: string): void {
    const holders = this.#holders.get(key) ?? [];
    if (holders.length <= 1) this.#holders.delete(key);
    else holders.splice(placeOf(holders, path), 1);
  }

  /** Of many files with the same object each costs a search, and one report. */
  #hold(key: string, path: string): void {
    const holders = this.#holders.get(key);
    if (holders === undefined) {
      this.#holders.set(key, [path]);
      return;
    }
    const at = placeOf(holders, path);
    if (holders[at] === path) return;
    const first = holders[0]!;
    holders.splice(at, 0, path);
    if (at === 0) this.#twice(key, path, first);
    else this.#twice(key, first, path);
  }
}

/** Where a path stands, or belongs, in a sorted list. */
function placeOf(paths: readonly string[], path: string): number {
  let [from, to] = [0, paths.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (paths[middle]! < path) from = middle + 1;
    else to = middle;
  }
  return from;
}
