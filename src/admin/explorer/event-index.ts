// An index of a journal's events for the timeline: kind, source, manager, subject and time of each, seventeen bytes an
// event. Built from the newest event to the oldest in slices, so that the first view is there at once whatever the
// journal's length, and grown at the head as events come.
//
// Invariant: events `from`…`to` of `state()` are indexed, without a gap. Reads bodies as they are stored: nothing
// private is unsealed for it.

import type { Journal, StoredEvent } from '../../journal/journal.ts';
import type { IndexState } from './api.ts';
import { eventFacts } from './event-facts.ts';
import { Interned } from './interned.ts';

/** Events read in one slice. */
export const SLICE_EVENTS = 4_000;
/** Different texts that are told apart. */
export const KINDS_MAX = 250;
export const SOURCES_MAX = 60_000;
export const MANAGERS_MAX = 60_000;
export const SUBJECTS_MAX = 4_000_000;
/** Refusals whose words can be searched, the newest first. */
export const REFUSALS_SEARCHED_MAX = 20_000;
const REFUSAL_CHARS_MAX = 2_000;
const TIMES_KEPT_MAX = 20_000;
const CAPACITY_AT_FIRST = 16_384;

export interface Columns {
  readonly time: Float64Array;
  readonly kind: Uint8Array;
  readonly source: Uint16Array;
  readonly manager: Uint16Array;
  readonly subject: Uint32Array;
}

export class EventIndex {
  readonly journal: Journal;
  /** The event that slot 0 stands for. */
  readonly first: number;
  readonly kinds = new Interned(KINDS_MAX);
  readonly sources = new Interned(SOURCES_MAX);
  readonly managers = new Interned(MANAGERS_MAX);
  readonly subjects = new Interned(SUBJECTS_MAX);
  readonly namespaces = new Interned(SOURCES_MAX);
  /** Subject → its namespace; and whether it is an object. */
  readonly namespaceOf: number[] = [0];
  readonly isObject: boolean[] = [false];
  /** Event → what the proxy said, in lower case. */
  readonly refusals = new Map<number, string>();
  columns: Columns;
  /** Of events that are not indexed yet. */
  readonly #times = new Map<number, number>();
  #from: number;
  #to: number;

  constructor(journal: Journal) {
    this.journal = journal;
    this.first = journal.base().seq + 1;
    const head = journal.head().seq;
    this.#from = head + 1;
    this.#to = head;
    this.columns = columnsOf(Math.max(CAPACITY_AT_FIRST, head - this.first + 1));
  }

  state(): IndexState {
    return { from: this.#from, to: this.#to, complete: this.#from <= this.#floor() };
  }

  /** 0 where there is no event. Those not indexed yet are read one by one, and kept for the next question. */
  timeOf(seq: number): number {
    if (seq >= this.#from && seq <= this.#to) return this.columns.time[seq - this.first]!;
    const known = this.#times.get(seq);
    if (known !== undefined) return known;
    const time = this.journal.timeAt(seq);
    if (time === undefined) return 0;
    if (this.#times.size >= TIMES_KEPT_MAX) this.#times.clear();
    this.#times.set(seq, time);
    return time;
  }

  /** The newest indexed events of an object up to event `to`, ascending. */
  seqsOf(object: string, to: number, max: number): readonly number[] {
    const number = this.subjects.find(object);
    const seqs: number[] = [];
    if (number === undefined || this.isObject[number] !== true) return seqs;
    for (let seq = Math.min(to, this.#to); seq >= this.#from && seqs.length < max; seq--) {
      if (this.columns.subject[seq - this.first] === number) seqs.push(seq);
    }
    return seqs.reverse();
  }

  /** Indexes what came since. */
  async catchUp(): Promise<void> {
    const head = this.journal.head().seq;
    if (head <= this.#to) return;
    this.#reserve(head - this.first + 1);
    for await (const page of this.journal.records({ from: this.#to + 1, to: head })) {
      for (const event of page) {
        // Another call may have taken them while this one waited for its page.
        if (event.seq !== this.#to + 1) continue;
        this.#put(event);
        this.#to = event.seq;
      }
    }
  }

  /** Indexes one slice of older events. False: there are none. */
  async deepen(): Promise<boolean> {
    const floor = this.#floor();
    const to = this.#from - 1;
    if (to < floor) return false;
    const from = Math.max(floor, to - SLICE_EVENTS + 1);
    for await (const page of this.journal.records({ from, to })) for (const event of page) this.#put(event);
    this.#from = Math.min(this.#from, from);
    return from > floor;
  }

  /** Compaction moves it. */
  #floor(): number {
    return Math.max(this.first, this.journal.base().seq + 1);
  }

  #put(event: StoredEvent): void {
    const slot = event.seq - this.first;
    const { subject, isObject, namespace, manager } = eventFacts(event);
    const { columns } = this;
    columns.time[slot] = event.time;
    columns.kind[slot] = this.kinds.numberOf(event.kind);
    columns.source[slot] = this.sources.numberOf(event.source);
    columns.manager[slot] = this.managers.numberOf(manager);
    const number = this.subjects.numberOf(subject);
    columns.subject[slot] = number;
    if (number >= this.namespaceOf.length) {
      this.namespaceOf[number] = this.namespaces.numberOf(namespace);
      this.isObject[number] = isObject;
    }
    if (event.kind === 'ProxyNacked' && this.refusals.size < REFUSALS_SEARCHED_MAX) {
      this.refusals.set(event.seq, event.body.slice(0, REFUSAL_CHARS_MAX).toLowerCase());
    }
  }

  #reserve(events: number): void {
    if (events <= this.columns.time.length) return;
    const grown = columnsOf(Math.max(events, this.columns.time.length * 2));
    grown.time.set(this.columns.time);
    grown.kind.set(this.columns.kind);
    grown.source.set(this.columns.source);
    grown.manager.set(this.columns.manager);
    grown.subject.set(this.columns.subject);
    this.columns = grown;
  }
}

function columnsOf(capacity: number): Columns {
  return {
    time: new Float64Array(capacity),
    kind: new Uint8Array(capacity),
    source: new Uint16Array(capacity),
    manager: new Uint16Array(capacity),
    subject: new Uint32Array(capacity),
  };
}
