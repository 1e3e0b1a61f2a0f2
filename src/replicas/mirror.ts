// Follows the world log into this replica's own journal: each entry becomes one batch, a WorldEntry and the facts of
// the entry, which the world appends and folds like any other. So every command works on the journal of a replica.
//
// Invariant: an entry is folded only on top of the chain that its writer saw. If the log is another one than this
// replica has folded (shorter, made anew, written by another history), nothing more is folded: `lost` says why, and
// what has been folded is served on.

import { canonicalJson, type JsonObject } from '../core/base/json.ts';
import type { WorldEntryFolded } from '../core/event.ts';
import type { WorldPosition } from '../core/model/world-position.ts';
import { advanced } from '../core/reduce.ts';
import type { State } from '../core/state.ts';
import type { Carried, Journal } from '../journal/journal.ts';
import { chainAfter, type Entry, parseEntry } from './entry.ts';
import type { LogEntry, WorldLog } from './world-log.ts';

/** Facts of the log itself carry this source. */
export const LOG_SOURCE = 'world-log';
/** Pause before the log is asked again that could not be reached. */
export const RETRY_MS = 500;
const CHAIN_SHOWN = 12;
/** Entries whose chain is remembered, to be compared with other replicas'. */
export const CHAINS_MAX = 1_024;

/** Facts that are folded together. */
const GROUP_FACTS_MAX = 5_000;
/** Characters of entries that wait to be folded; past that the log is read no further. */
export const PENDING_CHARS_MAX = 32 * 1024 * 1024;
/** What an operator does then. */
export const AFTER_LOSS =
  'if the log was lost, stop every replica and make it anew of the longest mirror: periplus journal move --replace';
/** Entries that were announced and did not come in this time are not waited for. */
export const TO_COME_MS_MAX = 1_000;

/** As World. */
export interface MirrorWorld {
  readonly state: State;
  recordCarried(facts: readonly Carried[], toCome: number): Promise<State>;
}

export interface MirrorClock {
  now(): number;
  after(ms: number, run: () => void): { cancel(): void };
}

export interface MirrorOptions {
  readonly log: WorldLog;
  readonly journal: Pick<Journal, 'carriedFrom'>;
  readonly world: MirrorWorld;
  readonly clock: MirrorClock;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Receives the state right after an entry without facts. Not of every one, while many entries are folded at once. */
  readonly onCheckPoint?: (state: State) => void;
}

/** What became of an entry. */
export type Fate = 'folded' | 'ignored';

/** An entry that fits, on its way into the journal. */
interface Taken {
  readonly id: string;
  readonly position: number;
  readonly chain: string;
  readonly fate: Fate;
  /** Its marker, then its facts. */
  readonly facts: readonly Carried[];
  readonly chars: number;
  /** Entries that follow it in the log. */
  readonly behind: number;
}

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
  #stopped = false;
  /** After the last entry that was taken; undefined: it is folded. */
  #tip: WorldPosition | undefined;
  #pending: Taken[] = [];
  #pendingChars = 0;
  #folding: Promise<void> | undefined;
  #room: (() => void) | undefined;
  #foldsEach = false;
  /** Entries in the journal whose fold is not finished. */
  #unfinished: Pick<Taken, 'id' | 'fate'>[] = [];
  #toCome: { cancel(): void } | undefined;

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
    this.#toCome?.cancel();
    await this.#following?.stop();
    await this.#folding;
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
      onEntry: (entry, behind) => this.#take(entry, behind),
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

  /** Resolves when the next entry may come, which is not always when this one is folded. */
  async #take(given: LogEntry, behind: number): Promise<void> {
    if (this.#lost !== undefined || this.#stopped) return undefined;
    this.#reachable(true);
    const tip = this.#tip ?? this.position;
    if (given.position <= tip.position) {
      await this.check();
      return undefined;
    }
    const entry = parseEntry(given.text);
    const why = typeof entry === 'string' ? entry : unfit(entry, tip);
    if (typeof entry === 'string' || why !== undefined) return this.#lose(`the entry at ${given.position}: ${why}`);
    try {
      this.#pending.push(this.#taken(given, entry, tip, behind));
    } catch (error) {
      return this.#lose(`the entry at ${given.position}: ${messageOf(error)}`);
    }
    this.#pendingChars += given.text.length;
    this.#folding ??= this.#foldPending();
    if (this.#pendingChars < PENDING_CHARS_MAX) return undefined;
    return new Promise(resolve => {
      this.#room = resolve;
    });
  }

  /** Throws if a fact cannot be read. */
  #taken({ position, text }: LogEntry, { header, lines }: Entry, tip: WorldPosition, behind: number): Taken {
    const { journal, say } = this.#options;
    const { log, term, writer, time, id } = header;
    const ignored = whyIgnored(header, tip);
    if (ignored !== undefined) say('warn', `the entry at ${position} of ${writer} is ignored: ${ignored}`);
    const marker: Omit<WorldEntryFolded, 'kind'> = {
      log,
      position,
      term,
      writer,
      ...(header.begins === true ? { begins: true as const } : {}),
      written: time,
      facts: ignored === undefined ? lines.length : 0,
      ...(ignored === undefined ? {} : { ignored }),
      chain: chainAfter(header.after, text),
    };
    const own = { source: LOG_SOURCE, kind: 'WorldEntry' as const };
    const body = canonicalJson(marker as unknown as JsonObject);
    const facts: Carried[] = [{ ...own, body, time, fact: { ...own, ...marker } }];
    if (ignored === undefined) facts.push(...journal.carriedFrom(lines, time));
    this.#tip = advanced(tip, { kind: 'WorldEntry', ...marker });
    const fate = ignored === undefined ? 'folded' : 'ignored';
    return { id, position, chain: marker.chain, fate, facts, chars: text.length, behind };
  }

  async #foldPending(): Promise<void> {
    // Entries that come in one tick are folded together.
    await Promise.resolve();
    for (let group = this.#nextGroup(); group.length > 0; group = this.#nextGroup()) {
      try {
        await this.#fold(group);
      } catch (error) {
        // Each alone, to find the one that cannot be folded.
        const isOne = group.length === 1;
        this.#foldsEach = true;
        this.#pending = isOne ? [] : [...group, ...this.#pending];
        if (!isOne) continue;
        this.#tip = undefined;
        await this.#options.world.recordCarried([], 0).catch(() => undefined);
        if (!this.#stopped) this.#lose(`the entry at ${group[0]?.position}: ${messageOf(error)}`);
      }
      for (const { chars } of group) this.#pendingChars -= chars;
      this.#room?.();
    }
    this.#folding = undefined;
  }

  #nextGroup(): readonly Taken[] {
    let facts = 0;
    let count = 0;
    for (const taken of this.#pending) {
      if (count > 0 && (this.#foldsEach || facts + taken.facts.length > GROUP_FACTS_MAX)) break;
      facts += taken.facts.length;
      count += 1;
      // The state is wanted as it is after this one.
      if (isCheckPoint(taken)) break;
    }
    return this.#pending.splice(0, count);
  }

  async #fold(group: readonly Taken[]): Promise<void> {
    const { world, clock } = this.#options;
    this.#toCome?.cancel();
    const facts = group.flatMap(taken => taken.facts);
    const each = Math.max(1, Math.round(facts.length / group.length));
    const behind = this.#pending.length + (this.#pending.at(-1) ?? group.at(-1))!.behind;
    this.#unfinished.push(...group.filter(({ id }) => this.#awaited.has(id)));
    await world.recordCarried(facts, behind * each);
    for (const { position, chain } of group) this.#chains.set(position, chain);
    for (const position of this.#chains.keys()) {
      if (this.#chains.size <= CHAINS_MAX) break;
      this.#chains.delete(position);
    }
    const last = group.at(-1)!;
    if (this.position.position === last.position) {
      if (isCheckPoint(last)) this.#options.onCheckPoint?.(world.state);
      return this.#folded();
    }
    this.#toCome = clock.after(TO_COME_MS_MAX, () => {
      world.recordCarried([], 0).then(
        () => this.#folded(),
        () => undefined,
      );
    });
    return undefined;
  }

  #folded(): void {
    if (this.#pending.length === 0) this.#tip = undefined;
    for (const { id, fate } of this.#unfinished.splice(0)) {
      this.#awaited.get(id)?.(fate);
      this.#awaited.delete(id);
    }
    this.#tell();
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
      `${log.name} is not the log that this replica followed (${why}); nothing more is folded, and what is known is served on; ${AFTER_LOSS}`,
    );
    void this.#following?.stop();
    this.#tell();
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Its marker is all there is of it. */
function isCheckPoint({ facts, fate }: Taken): boolean {
  return facts.length === 1 && fate === 'folded';
}

/** Why an entry does not follow what was taken before it. */
function unfit({ header }: Entry, { chain, log }: WorldPosition): string | undefined {
  if (log !== '' && header.log !== log) return `it is of the log ${header.log}, and this replica followed ${log}`;
  if (header.after === chain) return undefined;
  const show = (text: string): string => text.slice(0, CHAIN_SHOWN) || 'nothing';
  return `it follows ${show(header.after)}, and this replica folded up to ${show(chain)}: the history has split`;
}

/** The same at every replica: it follows from the entries before. */
function whyIgnored({ term, writer, begins }: Entry['header'], newest: WorldPosition): string | undefined {
  if (begins === true) return term > newest.term ? undefined : `term ${term} begins after term ${newest.term}`;
  if (term === newest.term && writer === newest.leader) return undefined;
  return `it is of term ${term}, and ${newest.leader} leads in term ${newest.term}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
