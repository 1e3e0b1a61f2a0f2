// Which events of a stretch of the journal need not be folded to get the state at its end: of an object that changed
// ten times only the last version is in it, and receipts never were. Learned while the stretch is folded for the
// first time; five bytes an event.
//
// Invariant: an event may be left out on the way to `to` exactly if what took its place stands at or before `to`. An
// event that was refused replaces nothing (the accepted version stays), nor does an equal version (the record keeps
// the event of the first).

import type { Event } from '../core/event.ts';
import { rawRef, recordKeyOf } from '../core/fold/novelty.ts';
import type { State } from '../core/state.ts';

/** Does nothing to a state but move it on. */
const SPENT = -1;
const EVENTS_AT_FIRST = 4_096;
const spent: ReadonlySet<Event['kind']> = new Set<Event['kind']>([
  'Receipt',
  'TimerFired',
  'Gap',
  'CertificateIssued',
  'CertificateRefused',
]);

export class Superseded {
  /** seq → the event that took its place; 0: none is known; or SPENT. */
  #by = new Int32Array(EVENTS_AT_FIRST);
  /** seq → 1: its record owes nothing to what was before. */
  #whole = new Uint8Array(EVENTS_AT_FIRST);
  /** Record key → the events that its record is made of. */
  readonly #makers = new Map<string, number[]>();
  /** Events after `from` up to here have been seen. */
  #to = 0;

  /** Where learning begins, unless it has begun. */
  startAfter(seq: number): void {
    if (this.#to === 0) this.#to = seq;
  }

  /**
   * Takes events in order; a repeated event, or one after a gap, is ignored. `after`: the state that the whole fold
   * gives.
   */
  learn(event: Event, after: State): void {
    const { seq } = event;
    if (seq !== this.#to + 1) return;
    this.#to = seq;
    if (seq >= this.#by.length) this.#grow();
    if (spent.has(event.kind)) this.#by[seq] = SPENT;
    const key = keyOf(event);
    if (key === undefined) return;
    const before = this.#makers.get(key) ?? [];
    if (!isWhole(event, key, after)) {
      this.#makers.set(key, [...before, seq]);
      return;
    }
    for (const maker of before) this.#by[maker] = seq;
    this.#whole[seq] = 1;
    this.#makers.set(key, [seq]);
  }

  /** On the way to the state at `to`. */
  mayLeaveOut(seq: number, to: number): boolean {
    const by = this.#by[seq] ?? 0;
    return seq !== to && (by === SPENT || (by > 0 && by <= to));
  }

  /**
   * The state to fold an event on when others may have been left out: without the record that it replaces. Left there,
   * one of long ago could be taken for the one just before, and equal content for no change.
   */
  ready(state: State, event: Event): State {
    if (this.#whole[event.seq] !== 1 || event.kind === 'Delete') return state;
    const key = keyOf(event);
    return key === undefined || !state.records.has(key) ? state : { ...state, records: state.records.without(key) };
  }

  #grow(): void {
    const by = new Int32Array(this.#to * 2);
    by.set(this.#by);
    this.#by = by;
    const whole = new Uint8Array(this.#to * 2);
    whole.set(this.#whole);
    this.#whole = whole;
  }
}

function keyOf(event: Event): string | undefined {
  if (event.kind === 'Add' || event.kind === 'Update') return recordKeyOf(event.source, rawRef(event.object));
  return event.kind === 'Delete' ? recordKeyOf(event.source, event.ref) : undefined;
}

function isWhole(event: Event, key: string, after: State): boolean {
  const record = after.records.get(key);
  if (event.kind === 'Delete') return record === undefined;
  return record !== undefined && record.refused === undefined && record.acceptedAt === event.seq;
}
