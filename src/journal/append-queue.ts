// From `append` to the commit (group commit): batches get seq and time; those that queue while a group is being
// committed become the next group; callers wait when too much is queued.
//
// Invariants: a batch is never divided. Seqs are given in the order of the calls, when a batch is queued, and follow
// the committed head without a gap; times never go back. So if a group cannot be written, everything queued or waiting
// behind it is rejected with it, and the next seq is the head's plus one again. One group is committed at a time. After
// its commit `#committed` is called for its batches, then their promises resolve, both in the order of the seqs.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Event } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import type { Encoded } from './codec.ts';
import { JournalFault } from './fault.ts';
import type { Carried, Clock } from './journal.ts';
import { GROUP_EVENTS_MAX, QUEUE_CHARS_MAX, QUEUE_EVENTS_MAX, QUEUE_WAITING_MAX } from './journal.ts';
import type { PendingRow, Store } from './store.ts';
import { UnreadObject } from './unread.ts';

/** Without a time of its own, a fact gets that of the clock. */
type Appendable = Encoded | Carried;
/** What was appended; of carried facts, objects are not parsed. */
export type Appended = Event | UnreadVersion;

/** As many events are queued and handed to the store in two turns of the event loop: each takes as long as a slice. */
const OWN_TURN_EVENTS_MIN = 1_000;

/** A call of append. */
interface Entry {
  readonly batch: readonly Appendable[];
  readonly chars: number;
  readonly resolve: (events: readonly Appended[]) => void;
  readonly reject: (fault: unknown) => void;
}

/** A batch that has its seqs. */
interface Queued extends Omit<Entry, 'batch'> {
  readonly firstSeq: number;
  readonly rows: readonly PendingRow[];
  readonly events: readonly Appended[];
}

export class AppendQueue {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #keyCheck: () => string | undefined;
  /** Called after each commit, before the promises of its batches resolve. Its errors do not stop the queue. */
  readonly #committed: (events: readonly Appended[]) => void;
  #queue: Queued[] = [];
  #queuedEvents = 0;
  #queuedChars = 0;
  #waiting: Entry[] = [];
  #nextSeq: number;
  #lastTime: number;
  #running: Promise<void> | undefined;

  constructor(
    store: Store,
    clock: Clock,
    keyCheck: () => string | undefined,
    committed: (events: readonly Appended[]) => void,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#keyCheck = keyCheck;
    this.#committed = committed;
    this.#nextSeq = store.head().seq + 1;
    this.#lastTime = store.head().time;
  }

  append(batch: readonly Appendable[]): Promise<readonly Appended[]> {
    if (batch.length === 0) return Promise.resolve([]);
    const chars = batch.reduce((sum, item) => sum + item.body.length, 0);
    return new Promise((resolve, reject) => {
      const entry: Entry = { batch, chars, resolve, reject };
      if (this.#waiting.length === 0 && this.#hasRoom(entry)) this.#enqueue(entry);
      else if (this.#waiting.length < QUEUE_WAITING_MAX) this.#waiting.push(entry);
      else reject(overloaded(this.#store.path));
    });
  }

  #enqueue({ batch, chars, resolve, reject }: Entry): void {
    const firstSeq = this.#nextSeq;
    const rows: PendingRow[] = [];
    const events: Appended[] = [];
    for (const item of batch) {
      const { source, kind, body } = item;
      const seq = this.#nextSeq++;
      const time = this.#timeOf(item);
      const ref = 'ref' in item ? item.ref : undefined;
      rows.push([time, source, kind, body]);
      events.push(
        ref === undefined ? ({ ...item.fact, seq, time } as Event) : new UnreadObject({ seq, time, source, body }, ref),
      );
    }
    this.#queue.push({ firstSeq, rows, events, chars, resolve, reject });
    this.#queuedEvents += rows.length;
    this.#queuedChars += chars;
    this.#running ??= this.#run();
  }

  /** Resolves when everything that was queued or waiting has been committed or rejected. */
  async drained(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  #timeOf(item: Appendable): number {
    const now = Math.trunc('time' in item ? item.time : this.#clock());
    if (Number.isSafeInteger(now) && now > this.#lastTime) this.#lastTime = now;
    return this.#lastTime;
  }

  /** An empty queue has room for any batch, so that one above the limits is written too. */
  #hasRoom({ batch, chars }: Entry): boolean {
    if (this.#queuedEvents === 0) return true;
    return this.#queuedEvents + batch.length <= QUEUE_EVENTS_MAX && this.#queuedChars + chars <= QUEUE_CHARS_MAX;
  }

  async #run(): Promise<void> {
    // In a microtask at least, so that batches appended by one task become one group.
    await (this.#queuedEvents < OWN_TURN_EVENTS_MIN ? Promise.resolve() : nextTurn());
    while (this.#queue.length > 0) await this.#commitGroup(this.#takeGroup());
    this.#running = undefined;
  }

  #takeGroup(): readonly Queued[] {
    let events = 0;
    let count = 0;
    for (const queued of this.#queue) {
      if (count > 0 && events + queued.rows.length > GROUP_EVENTS_MAX) break;
      events += queued.rows.length;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  async #commitGroup(group: readonly Queued[]): Promise<void> {
    const rows = group.length === 1 ? group[0]!.rows : group.flatMap(queued => queued.rows);
    try {
      const unparsed = group.some(({ events }) => events.some(({ kind }) => kind === 'Unread'));
      await this.#store.commit({ firstSeq: group[0]!.firstSeq, rows, keyCheck: this.#keyCheck(), unparsed });
    } catch (fault) {
      this.#rejectAll(group, fault);
      return;
    }
    this.#release(group);
    this.#admitWaiting();
    for (const queued of group) this.#announce(queued.events);
    for (const queued of group) queued.resolve(queued.events);
  }

  /** The batch is committed, so an error of the callback belongs to no caller: the process reports it as uncaught. */
  #announce(events: readonly Appended[]): void {
    try {
      this.#committed(events);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }

  #rejectAll(group: readonly Queued[], fault: unknown): void {
    const rejected = [...group, ...this.#queue, ...this.#waiting];
    this.#release([...group, ...this.#queue]);
    this.#queue = [];
    this.#waiting = [];
    this.#nextSeq = this.#store.head().seq + 1;
    for (const { reject } of rejected) reject(fault);
  }

  #release(group: readonly Queued[]): void {
    for (const queued of group) {
      this.#queuedEvents -= queued.rows.length;
      this.#queuedChars -= queued.chars;
    }
  }

  #admitWaiting(): void {
    while (this.#waiting.length > 0 && this.#hasRoom(this.#waiting[0]!)) this.#enqueue(this.#waiting.shift()!);
  }
}

export function overloaded(path: string): JournalFault {
  return new JournalFault('overloaded', `more than ${QUEUE_WAITING_MAX} appends wait to be written; await them`, {
    path,
  });
}
