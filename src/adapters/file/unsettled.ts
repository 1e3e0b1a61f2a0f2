// Files that were there at the last look and that this process has not read yet: written, renamed or swapped while we
// looked. The journal may know objects of them, so a list counts them as unreadable until a later look settles them.
//
// A name that its folder lists and that is gone when it is looked at may be renamed: the next look finds it. One that
// is gone at two looks in a row is gone, so that no name that can never be looked at keeps us looking.

export class Unsettled {
  #paths = new Set<string>();
  #next = this.#paths;
  #vanished: ReadonlySet<string> = new Set();

  /** A look at everything begins, with the names that vanished under it; gives those that may not count as gone yet. */
  begin(vanished: readonly string[]): readonly string[] {
    const first = vanished.filter(path => !this.#vanished.has(path));
    this.#vanished = new Set(vanished);
    this.#next = new Set(first);
    return first;
  }

  /** A file that is there and could not be read, or recorded. */
  add(path: string): void {
    this.#next.add(path);
  }

  /** The look is done; a look that fails settles nothing. True: another one is needed. */
  end(): boolean {
    this.#paths = this.#next;
    return this.#paths.size > 0;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  all(): readonly string[] {
    return [...this.#paths];
  }
}
