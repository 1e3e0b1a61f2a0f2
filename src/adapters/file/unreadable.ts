// What of a source cannot be read right now, and since when. Each change is logged once, at any number of looks;
// pages and readiness show what there is.

import type { AdapterLog, Unreadable } from '../adapter.ts';
import type { Hidden } from './scan.ts';

export class UnreadableParts {
  readonly #log: AdapterLog;
  readonly #now: () => number;
  readonly #parts = new Map<string, Unreadable>();
  #isClosed = false;

  constructor(log: AdapterLog, now: () => number) {
    this.#log = log;
    this.#now = now;
  }

  /** Sorted by `what`. */
  all(): readonly Unreadable[] {
    return [...this.#parts.values()].sort((a, b) => (a.what < b.what ? -1 : 1));
  }

  has(what: string): boolean {
    return this.#parts.has(what);
  }

  /** Nothing more is reported: files that are not read because the program stops are not hidden. */
  close(): void {
    this.#isClosed = true;
  }

  /** What is hidden now, of everything for which `concerns` holds. */
  are(hidden: readonly Hidden[], concerns: (what: string) => boolean = () => true): void {
    if (this.#isClosed) return;
    const now = new Map(hidden.map(({ path, why }) => [path, why]));
    for (const what of [...this.#parts.keys()]) {
      if (!concerns(what) || now.has(what)) continue;
      this.#parts.delete(what);
      this.#log('info', `${what} can be read again, or is gone`);
    }
    for (const [what, why] of now) {
      const known = this.#parts.get(what);
      if (known?.why === why) continue;
      this.#parts.set(what, { what, why, since: known?.since ?? this.#now() });
      this.#log('error', `${what} cannot be read: ${why}; what was read there before is kept`);
    }
  }
}
