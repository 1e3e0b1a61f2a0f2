// A world log in memory, and how each replica sees it over a network that the seed decides: requests and answers are
// late, lost, doubled and out of order, servers change their leader, a replica is cut off, and what was acknowledged is
// rolled back.

import type { Appended, FollowEvents, Lease, LogEntry, WorldLog } from '../../../src/replicas/world-log.ts';
import { LEASE_TTL_MS } from '../../../src/replicas/world-log.ts';
import type { Clock } from '../../../src/runtime/clock.ts';
import type { Random } from '../random.ts';

/** A client hears "no answer" after this time. */
const ANSWER_MS_MAX = 1_000;
/** An entry is on its way to a follower for less than this; what was lost on the way is asked for after POLL_MS. */
const DELIVERY_MS_MAX = 40;
const POLL_MS = 500;

/** What the servers of the log have; the same for every replica. */
export class LogServers {
  readonly #random: Random;
  readonly #clock: Clock;
  #entries: (LogEntry & { readonly id: string })[] = [];
  /** Servers elect a leader, or have no quorum, until then. */
  #downUntil = 0;
  #holder: { readonly name: string; readonly until: number } | undefined;
  faults = true;
  /** A mistake on purpose: positions are not compared. */
  readonly isBlind: boolean;
  /** Told of each new entry. */
  readonly followers = new Set<() => void>();

  constructor(clock: Clock, random: Random, isBlind: boolean) {
    this.#clock = clock;
    this.#random = random;
    this.isBlind = isBlind;
  }

  get isDown(): boolean {
    return this.#clock.now() < this.#downUntil;
  }

  get last(): number {
    return this.#entries.at(-1)?.position ?? 0;
  }

  get ids(): readonly string[] {
    return this.#entries.map(({ id }) => id);
  }

  at(position: number): LogEntry | undefined {
    return this.#entries.find(entry => entry.position === position);
  }

  behind(position: number): number {
    return this.#entries.filter(entry => entry.position > position).length;
  }

  after(position: number): LogEntry | undefined {
    return this.#entries.find(entry => entry.position > position);
  }

  append(text: string, expectedLast: number, id: string): Appended {
    const known = this.#entries.find(entry => entry.id === id);
    // Some servers look at the position first, and answer what they wrote themselves with a conflict.
    if (known !== undefined && this.#random.chance(0.7)) return { kind: 'written', position: known.position };
    if (known !== undefined || (expectedLast !== this.last && !this.isBlind))
      return { kind: 'conflict', last: this.last };
    const position = this.last + 1 + (this.#random.chance(0.1) ? this.#random.int(3) : 0);
    this.#entries.push({ position, text, id });
    for (const tell of this.followers) tell();
    return { kind: 'written', position };
  }

  electLeader(ms: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.#clock.now() + ms);
  }

  recover(): void {
    this.#downUntil = 0;
  }

  /** What a log without fsync does after a power cut. Returns the position of the last entry that is left. */
  rollBack(entries: number): number {
    this.#entries = this.#entries.slice(0, Math.max(1, this.#entries.length - entries));
    return this.last;
  }

  hold(name: string): 'held' | 'taken' {
    const now = this.#clock.now();
    if (this.#holder !== undefined && this.#holder.until > now && this.#holder.name !== name) return 'taken';
    this.#holder = { name, until: now + LEASE_TTL_MS };
    return 'held';
  }

  release(name: string): void {
    if (this.#holder?.name === name) this.#holder = undefined;
  }
}

/** One process's way to the servers. */
export class LogView implements WorldLog, Lease {
  readonly name = 'the log of the simulation';
  readonly #servers: LogServers;
  readonly #random: Random;
  readonly #clock: Clock;
  /** Nothing gets through. */
  cut = false;
  /** kill -9. */
  dead = false;
  #following = 0;

  constructor(servers: LogServers, clock: Clock, random: Random) {
    this.#servers = servers;
    this.#clock = clock;
    this.#random = random;
  }

  append(text: string, expectedLast: number, id: string): Promise<Appended> {
    const send = (): Appended => this.#servers.append(text, expectedLast, id);
    if (this.#lost(0.04)) void this.#late(send, 8_000);
    return this.#call(send, { kind: 'unknown', why: 'no answer' });
  }

  hold(holder: string): Promise<'held' | 'taken' | 'unreachable'> {
    return this.#call<'held' | 'taken' | 'unreachable'>(() => this.#servers.hold(holder), 'unreachable');
  }

  async release(holder: string): Promise<void> {
    await this.#call(() => this.#servers.release(holder), undefined);
  }

  async at(position: number): Promise<LogEntry | undefined> {
    const found = await this.#call<{ readonly entry: LogEntry | undefined } | undefined>(
      () => ({ entry: this.#servers.at(position) }),
      undefined,
    );
    if (found === undefined) throw new Error('no answer');
    return found.entry;
  }

  async last(): Promise<number> {
    const last = await this.#call<number | undefined>(() => this.#servers.last, undefined);
    if (last === undefined) throw new Error('no answer');
    return last;
  }

  follow(after: number, events: FollowEvents): { stop(): Promise<void> } {
    const ticket = ++this.#following;
    let next = after;
    let isReading = false;
    const isOver = (): boolean => this.dead || ticket !== this.#following;
    const read = async (): Promise<void> => {
      if (isOver() || isReading) return;
      isReading = true;
      const reachable = !this.cut && !this.#servers.isDown;
      events.onReachable(reachable);
      if (next > this.#servers.last && reachable) next = this.#servers.last;
      for (let entry = this.#next(next); entry !== undefined && !isOver(); entry = this.#next(next)) {
        next = entry.position;
        const behind = this.#servers.behind(next);
        await events.onEntry(entry, behind);
        if (this.#lost(0.03) && !isOver()) await events.onEntry(entry, behind);
        if (this.#lost(0.1)) break;
      }
      isReading = false;
    };
    const tell = (): void => void this.#clock.after(this.#random.int(DELIVERY_MS_MAX), () => void read());
    const poll = (): void => {
      if (isOver()) {
        this.#servers.followers.delete(tell);
        return;
      }
      void read();
      this.#clock.after(POLL_MS, poll);
    };
    this.#servers.followers.add(tell);
    poll();
    return { stop: async () => void this.#following++ };
  }

  #next(after: number): LogEntry | undefined {
    return this.cut || this.#servers.isDown ? undefined : this.#servers.after(after);
  }

  #lost(probability: number): boolean {
    return this.#servers.faults && this.#random.chance(probability);
  }

  /** Sends, and answers; each way may be late or lose it. */
  #call<T>(send: () => T, noAnswer: T): Promise<T> {
    return new Promise(resolve => {
      if (this.dead) return;
      const answer = (value: T): void => {
        if (!this.dead) resolve(value);
      };
      this.#clock.after(ANSWER_MS_MAX, () => answer(noAnswer));
      if (this.cut || this.#lost(0.05)) return;
      // Slower than the client waits, now and then: it arrives when the client has given up.
      const slow = this.#lost(0.04) ? 5_000 : 15;
      void this.#late(() => {
        const value = send();
        if (!this.#lost(0.06)) this.#clock.after(this.#random.int(slow), () => answer(value));
      }, slow);
    });
  }

  /** What has left the process arrives, whatever becomes of the process. */
  async #late(send: () => unknown, ms: number): Promise<void> {
    await new Promise<void>(resolve => this.#clock.after(this.#random.int(ms), resolve));
    if (!this.#servers.isDown) send();
  }
}
