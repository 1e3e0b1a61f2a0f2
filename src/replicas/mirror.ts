// Follows the world log into this replica's own journal: each entry becomes one batch, a WorldEntry and the facts of
// the entry, which the world appends and folds like any other. So every command works on the journal of a replica.
//
// Invariant: an entry is folded only on top of the chain that its writer saw. If the log is another one than this
// replica has folded (shorter, made anew, written by another history), nothing more is folded: `lost` says why, and
// what has been folded is served on.

import type { Unrecorded } from '../core/event.ts';
import type { WorldPosition } from '../core/model/world-position.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { chainAfter, type Entry, parseEntry } from './entry.ts';
import type { LogEntry, WorldLog } from './world-log.ts';

/** Facts of the log itself carry this source. */
export const LOG_SOURCE = 'world-log';
/** Pause before the log is asked again that could not be reached. */
export const RETRY_MS = 500;
const CHAIN_SHOWN = 12;
/** Entries whose chain is remembered, to be compared with other replicas'. */
export const CHAINS_MAX = 1_024;

export interface MirrorWorld {
  readonly state: State;
  record(facts: readonly Unrecorded[]): Promise<State>;
}

export interface MirrorClock {
  now(): number;
  after(ms: number, run: () => void): { cancel(): void };
}

export interface MirrorOptions {
  readonly log: WorldLog;
  readonly journal: Pick<Journal, 'fromLines'>;
  readonly world: MirrorWorld;
  readonly clock: MirrorClock;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
}

/** What became of an entry. */
export type Fate = 'folded' | 'ignored';

export const NOWHERE: WorldPosition = { log: '', position: 0, term: 0, leader: '', chain: '', facts: 0 };

export class Mirror {
  readonly #options: MirrorOptions;
  readonly #awaited = new Map<string, (fate: Fate) => void>();
  readonly #listeners: (() => void)[] = [];
  /** Position → chain, of the entries folded last. */
  readonly #chains = new Map<number, string>();
  #following: { stop(): Promise<void> } | undefined;
  #lost: string | undefined;
  #unreachableSince: number | undefined;
  #time: number | undefined;
  #stopped = false;

  constructor(options: MirrorOptions) {
    this.#options = options;
    this.#unreachableSince = options.clock.now();
  }

  get position(): WorldPosition {
    return this.#options.world.state.worldLog ?? NOWHERE;
  }

  /** Why nothing more is folded; undefined: the log is the one that was followed. */
  get lost(): string | undefined {
    return this.#lost;
  }

  /** Since when the log cannot be read, milliseconds since the epoch. */
  get unreachableSince(): number | undefined {
    return this.#unreachableSince;
  }

  /** When the entry was written that is being folded: the time of its events, unless the journal is already later. */
  get entryTime(): number | undefined {
    return this.#time;
  }

  /** The chain at a position; undefined: no entry ends there, or it was long ago. */
  chainAt(position: number): string | undefined {
    const now = this.position;
    return position === now.position ? now.chain : this.#chains.get(position);
  }

  /** After each entry, and when the log is lost, reached or out of reach. */
  listen(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves with the fate of the entry with this id. Call it before the entry is appended; `forget` ends it. */
  await(id: string): { readonly fate: Promise<Fate>; forget(): void } {
    const fate = new Promise<Fate>(resolve => this.#awaited.set(id, resolve));
    return { fate, forget: () => void this.#awaited.delete(id) };
  }

  /** Compares the log with what was folded, as soon as it can be reached, and follows it from there. */
  start(): void {
    void this.#begin();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#following?.stop();
  }

  async #begin(): Promise<void> {
    while (!this.#stopped) {
      const checked = await this.check();
      if (checked === 'lost') return;
      if (checked === 'same') break;
      await new Promise<void>(resolve => this.#options.clock.after(RETRY_MS, resolve));
    }
    if (this.#stopped) return;
    this.#following = this.#options.log.follow(this.position.position, {
      onEntry: entry => this.#take(entry),
      onReachable: reachable => this.#reachable(reachable),
      onLost: why => this.#lose(why),
    });
  }

  /** Whether the log holds what was folded, at the position up to which it was. */
  async check(): Promise<'same' | 'lost' | 'unreachable'> {
    const { log } = this.#options;
    const { position } = this.position;
    if (this.#lost !== undefined) return 'lost';
    if (position === 0) return 'same';
    let entry: LogEntry | undefined;
    try {
      entry = await log.at(position);
    } catch {
      return 'unreachable';
    }
    // Another entry may have been folded meanwhile; that one was compared as it came.
    if (this.position.position !== position) return 'same';
    const why = entry === undefined ? `it holds nothing at ${position}` : this.#otherThan(entry);
    if (why === undefined) return 'same';
    this.#lose(why);
    return 'lost';
  }

  #otherThan({ position, text }: LogEntry): string | undefined {
    const entry = parseEntry(text);
    const { chain } = this.position;
    const found = typeof entry === 'string' ? undefined : chainAfter(entry.header.after, text);
    return found === chain ? undefined : `its entry at ${position} is another one than this replica folded`;
  }

  async #take(given: LogEntry): Promise<void> {
    if (this.#lost !== undefined || this.#stopped) return undefined;
    this.#reachable(true);
    if (given.position <= this.position.position) {
      await this.check();
      return undefined;
    }
    const entry = parseEntry(given.text);
    const why = typeof entry === 'string' ? entry : this.#unfit(entry);
    if (typeof entry === 'string' || why !== undefined) return this.#lose(`the entry at ${given.position}: ${why}`);
    try {
      await this.#fold(given, entry);
    } catch (error) {
      if (this.#stopped) return undefined;
      return this.#lose(`the entry at ${given.position}: ${error instanceof Error ? error.message : String(error)}`);
    }
    return undefined;
  }

  #unfit({ header }: Entry): string | undefined {
    const { chain, log } = this.position;
    if (log !== '' && header.log !== log) return `it is of the log ${header.log}, and this replica followed ${log}`;
    if (header.after === chain) return undefined;
    const show = (text: string): string => text.slice(0, CHAIN_SHOWN) || 'nothing';
    return `it follows ${show(header.after)}, and this replica folded up to ${show(chain)}: the history has split`;
  }

  async #fold(given: LogEntry, { header, lines }: Entry): Promise<void> {
    const { world, journal, say } = this.#options;
    const ignored = this.#whyIgnored(header);
    const facts = ignored === undefined ? journal.fromLines(lines) : [];
    const { log, term, writer, time: written } = header;
    const marker = {
      source: LOG_SOURCE,
      kind: 'WorldEntry' as const,
      log,
      position: given.position,
      term,
      writer,
      ...(header.begins === true ? { begins: true as const } : {}),
      written,
      facts: facts.length,
      ...(ignored === undefined ? {} : { ignored }),
      chain: chainAfter(header.after, given.text),
    };
    if (ignored !== undefined) say('warn', `the entry at ${given.position} of ${writer} is ignored: ${ignored}`);
    this.#time = written;
    try {
      await world.record([marker, ...facts]);
    } finally {
      this.#time = undefined;
    }
    this.#chains.set(given.position, marker.chain);
    if (this.#chains.size > CHAINS_MAX) this.#chains.delete(this.#chains.keys().next().value ?? 0);
    this.#awaited.get(header.id)?.(ignored === undefined ? 'folded' : 'ignored');
    this.#awaited.delete(header.id);
    this.#tell();
  }

  /** The same at every replica: it follows from the entries before. */
  #whyIgnored({ term, writer, begins }: Entry['header']): string | undefined {
    const newest = this.position;
    if (begins === true) return term > newest.term ? undefined : `term ${term} begins after term ${newest.term}`;
    if (term === newest.term && writer === newest.leader) return undefined;
    return `it is of term ${term}, and ${newest.leader} leads in term ${newest.term}`;
  }

  #reachable(reachable: boolean): void {
    if (reachable === (this.#unreachableSince === undefined)) return;
    this.#unreachableSince = reachable ? undefined : this.#options.clock.now();
    this.#tell();
  }

  /** Once: what is found first is the reason. */
  #lose(why: string): void {
    if (this.#lost !== undefined) return;
    this.#lost = why;
    const { log, say } = this.#options;
    say(
      'error',
      `${log.name} is not the log that this replica followed (${why}); nothing more is folded, and what is known is served on`,
    );
    void this.#following?.stop();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}
