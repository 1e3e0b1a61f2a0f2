// A world log in memory that never fails, and who leads on it: for tests and benches of one process.

import type { Appended, FollowEvents, Lease, LogEntry, WorldLog } from '../../../src/replicas/world-log.ts';

export class MemoryLog implements WorldLog, Lease {
  readonly name = 'a log in memory';
  readonly #entries: LogEntry[] = [];
  readonly #followers = new Set<() => void>();
  #holder: string | undefined;

  async append(text: string, expectedLast: number): Promise<Appended> {
    const last = this.#entries.length;
    if (expectedLast !== last) return { kind: 'conflict', last };
    this.#entries.push({ position: last + 1, text });
    for (const tell of this.#followers) tell();
    return { kind: 'written', position: last + 1 };
  }

  async at(position: number): Promise<LogEntry | undefined> {
    return this.#entries[position - 1];
  }

  async last(): Promise<number> {
    return this.#entries.length;
  }

  follow(after: number, events: FollowEvents): { stop(): Promise<void> } {
    let next = after;
    let isReading = false;
    const read = async (): Promise<void> => {
      if (isReading) return;
      isReading = true;
      for (let entry = this.#entries[next]; entry !== undefined; entry = this.#entries[next]) {
        next = entry.position;
        await events.onEntry(entry, this.#entries.length - next);
      }
      isReading = false;
    };
    const tell = (): void => void read();
    this.#followers.add(tell);
    tell();
    return { stop: async () => void this.#followers.delete(tell) };
  }

  /** The first that asks holds it until it gives it back. */
  async hold(holder: string): Promise<'held' | 'taken'> {
    this.#holder ??= holder;
    return this.#holder === holder ? 'held' : 'taken';
  }

  async release(holder: string): Promise<void> {
    if (this.#holder === holder) this.#holder = undefined;
  }
}

/** Ends with a message that no entry was made of, once `isTorn`; what is appended then stands in its place. */
export class TornLog extends MemoryLog {
  isTorn = false;
  /** Appends that conflict until the part has been read. */
  unreadFor = 0;
  appends = 0;

  override async append(text: string, expectedLast: number): Promise<Appended> {
    const end = await super.last();
    if (this.isTorn && expectedLast === end && this.appends++ < this.unreadFor) {
      return { kind: 'conflict', last: end + 1 };
    }
    this.isTorn = false;
    return super.append(text, expectedLast);
  }

  override async last(): Promise<number> {
    return (await super.last()) + (this.isTorn ? 1 : 0);
  }

  override follow(after: number, events: FollowEvents): { stop(): Promise<void> } {
    const following = super.follow(after, events);
    setImmediate(async () => {
      if (this.isTorn) events.onPassed?.(await this.last());
    });
    return following;
  }
}
