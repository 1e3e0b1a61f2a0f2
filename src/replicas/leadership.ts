// Which replica writes what the sources say. A lease bounds how often two try; what decides is the log: a leader begins
// a term with an entry of its own, and entries of an older term count nowhere. So a leader that was paused and wakes up
// changes nothing: its next entry does not follow the end of the log, or is of a term that is over.

import type { Mirror, MirrorClock } from './mirror.ts';
import type { Proposals } from './proposals.ts';
import { LEASE_TTL_MS, type Lease } from './world-log.ts';

/** Interval of renewals: two may fail before the lease ends. */
export const RENEW_MS = 800;
/** Of the lease's time, what is left to stop writing in. */
export const MARGIN_MS = 500;
/** Renewals after which a leader writes a check point (integrity.ts): about ten minutes. */
const CHECK_POINT_EVERY = 750;
/** Renewals between two checks in which the log is compared with what was folded. */
const CHECK_EVERY = 8;

export interface LeadershipOptions {
  readonly id: string;
  readonly lease: Lease;
  readonly mirror: Mirror;
  readonly proposals: () => Proposals;
  readonly lastInLog: () => Promise<number>;
  /** The furthest position that another replica says it has folded. */
  readonly furthestPeer: () => number;
  readonly clock: MirrorClock;
  readonly onLead: (term: number) => void;
  readonly onFollow: () => void;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
}

export class Leadership {
  readonly #options: LeadershipOptions;
  #term: number | undefined;
  /** By our own clock, counted from before the lease was asked for. */
  #heldUntil = 0;
  #turns = 0;
  #stopped = false;
  #isPaused = false;
  #timer: { cancel(): void } | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
    options.mirror.listen(() => this.#look());
  }

  /** The term in which this replica leads; undefined: it does not, or its lease has ended. */
  get term(): number | undefined {
    if (this.#term === undefined) return undefined;
    return this.#options.clock.now() < this.#heldUntil ? this.#term : undefined;
  }

  start(): void {
    void this.#renew().then(() => this.#again());
  }

  /** Gives the lease back, so that another replica leads at once. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#follow('it stops');
    const { lease, id } = this.#options;
    await lease.release(id).catch(() => undefined);
  }

  #again(): void {
    if (this.#stopped) return;
    this.#timer = this.#options.clock.after(RENEW_MS, () => {
      void this.#renew().then(() => this.#again());
    });
  }

  async #renew(): Promise<void> {
    const { lease, id, mirror, clock } = this.#options;
    if (mirror.lost !== undefined || this.#isPaused) return this.#look();
    if (++this.#turns % CHECK_EVERY === 0) void mirror.check();
    const asked = clock.now();
    const held = await lease.hold(id);
    if (this.#stopped || this.#isPaused) return undefined;
    // A term whose time ran out meanwhile is over, although the lease is held again: its sources were refused.
    this.#look();
    if (held === 'held') this.#heldUntil = asked + LEASE_TTL_MS - MARGIN_MS;
    if (held === 'taken') this.#heldUntil = 0;
    this.#look();
    if (held === 'held' && this.#term === undefined) await this.#claim();
    if (this.#term !== undefined && this.#turns % CHECK_POINT_EVERY === 0) this.#checkPoint();
    return undefined;
  }

  #checkPoint(): void {
    const { proposals, say } = this.#options;
    proposals()
      .check()
      .catch((error: unknown) => say('info', `no check point: ${error instanceof Error ? error.message : error}`));
  }

  /** Writes nothing, and lets another replica lead, until `resume`. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    this.#follow('its state is doubted');
    const { lease, id } = this.#options;
    await lease.release(id).catch(() => undefined);
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Begins a term, once everything in the log is folded. */
  async #claim(): Promise<void> {
    const { mirror, lastInLog, furthestPeer, proposals, clock, say, onLead } = this.#options;
    const last = await lastInLog().catch(() => undefined);
    if (last === undefined || last < mirror.position.position) return void mirror.check();
    if (last > mirror.position.position || clock.now() >= this.#heldUntil) return undefined;
    if (furthestPeer() > last) {
      // The log was lost and made anew: beginning it again would overwrite what others know.
      say('error', `the log ends at ${last}, and another replica has folded ${furthestPeer()}: nothing is written`);
      return undefined;
    }
    const term = mirror.position.term + 1;
    const begun = await proposals().begin(term, this.#heldUntil - clock.now());
    if (!begun || this.#stopped || mirror.position.term !== term) return undefined;
    this.#term = term;
    say('info', `this replica writes what the sources say (term ${term})`);
    onLead(term);
    return undefined;
  }

  /** Steps down if the lease has ended, another term has begun, or the log is lost. */
  #look(): void {
    if (this.#term === undefined) return;
    const { mirror, clock } = this.#options;
    if (mirror.lost !== undefined) this.#follow('the world log is lost');
    else if (mirror.position.term !== this.#term) this.#follow(`term ${mirror.position.term} has begun`);
    else if (clock.now() >= this.#heldUntil) this.#follow('its lease could not be renewed');
  }

  #follow(why: string): void {
    if (this.#term === undefined) return;
    const { say, onFollow, proposals } = this.#options;
    say('info', `this replica follows from now on: ${why}`);
    this.#term = undefined;
    this.#heldUntil = 0;
    proposals().giveUp();
    onFollow();
  }
}
