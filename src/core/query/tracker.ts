// The one mechanism behind generation (design "Generation: one mechanism instead of four").
//
// A *query* reads the state through a tracked reader. What it read (objects, ranges, mesh fields, flags, other queries; misses
// included) is its read set; which facets of the proxy it asked for is its audience. A memoised value serves every proxy whose
// facets are equal, and stays valid while every read gives the same value; a re-run that gives an equal value keeps the old identity,
// so that nothing above it runs again. The read-set index (track-reads.ts) says which reads a change touches; what rests on them must be
// run again, and what calls that, however far up, is in doubt until it is asked for and its calls are compared. A *generator* is a pure function of its inputs, memoised by the identity of their elements.
// Incrementality, sharing and provenance follow from that; there is no second bookkeeping.
//
// Invariant: a query may look at nothing but its reader and its argument, a generator at nothing but its inputs.

import { AssertionFailed } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import { InputMemo, keepSame } from './memo.ts';
import type { Query, Reader, Selection } from './reader.ts';
import { Answers, type Held } from './track-answers.ts';
import { VariantsBook } from './track-book.ts';
import {
  addCaller,
  audienceOf,
  type Entry,
  overturn,
  type Place,
  type QueryRead,
  removeCaller,
  unlink,
} from './track-entry.ts';
import { type DerivedFacet, type Facet, FacetBook, type FacetValue } from './track-facets.ts';
import { Latest, suits } from './track-latest.ts';
import { type Provenance, restsOn } from './track-provenance.ts';
import { placing, Run, type Tracking } from './track-reader.ts';
import { ReadIndex } from './track-reads.ts';
import { type Memory, sweeping } from './track-sweep.ts';
import type { Variants } from './track-variants.ts';

/**
 * Audiences of one (query, argument) that are kept; past that the value made longest ago goes. More than the proxies one instance
 * serves: where every proxy has its own value, fewer than there are proxies would keep none of them until it is asked for again.
 */
export const VARIANTS_MAX = 65_536;

/** What a run noted, or a verification looked through, counts as a piece of work for so many calls and generated values; verifying is a quarter of that. */
export const CALLS_A_PIECE = 8;

/** The answer of no proxy at all: equal to none that a proxy gives. */
const NO_PROXY: FacetValue = {};

/** Thrown by `spend` and through whatever runs. Not an Error: nothing is wrong, and a stack would cost more than the work. */
class Paused {
  readonly paused = true;
}
const PAUSED = new Paused();

/** Counters of work done and saved; they only ever grow. */
export interface TrackStats {
  runs: number;
  hits: number;
  verifications: number;
  generated: number;
  /** Values that a sweep forgot. */
  swept: number;
}

export class Tracker {
  readonly stats: TrackStats = { runs: 0, hits: 0, verifications: 0, generated: 0, swept: 0 };
  readonly #index = new ReadIndex<Entry>();
  readonly #variants = new VariantsBook();
  readonly #entries = new Set<Entry>();
  readonly #facets = new FacetBook();
  /** By what each version of a proxy's record has in common. */
  readonly #answers = new WeakMap<NodeFacets, Answers>();
  /** Whom the last question was for, and what that one has answered. */
  #lately: ProxyRecord | undefined;
  #answered: Answers | undefined;
  readonly #latest = new Latest();
  readonly #made = new InputMemo();
  readonly #tokens = new InputMemo();
  /** Runs that came to no end: see `within`. */
  readonly #stopped = new WeakMap<
    Variants<Entry>,
    { readonly proxy: ProxyRecord | undefined; readonly stale: Entry }
  >();
  readonly #memory: Memory = {
    entries: this.#entries,
    variants: this.#variants,
    index: this.#index,
    memos: [this.#made, this.#tokens],
    facets: this.#facets,
  };
  #generation = 1;
  /** How often anything was found stale or forgotten: while it stays, whatever was current is. */
  #doubts = 0;
  readonly #overturn = (entry: Entry): void => {
    this.#doubts++;
    overturn(entry);
  };
  readonly #tracking: Tracking = {
    index: this.#index,
    facets: this.#facets,
    made: this.#made,
    tokens: this.#tokens,
    generation: () => this.#generation,
    generating: () => {
      this.spend();
      this.stats.generated++;
    },
    ensure: (state, proxy, query, arg, place) => this.#ensure(state, proxy, query, arg, place),
    stands: (state, proxy, call) => this.#stands(state, proxy, call),
    facetValue: (state, proxy, facet) => this.#facetValue(state, proxy, facet),
  };
  /** V8 drops the code that it compiled for a class when, at a full collection, no object of it is left. */
  readonly #resident: { run: Run | undefined } = { run: undefined };
  /** Queries and generators that may still be run. */
  #allowance = Number.POSITIVE_INFINITY;

  /**
   * Does the work with no more than `allowance` runs of queries and generators; `value` is undefined if that was not enough. Whatever was
   * finished is remembered, so that doing it again goes on where it stopped. This cuts long work into slices without a clock: what comes
   * out does not depend on where it was cut.
   */
  within<T extends object>(allowance: number, work: () => T): { readonly value: T | undefined; readonly left: number } {
    this.#allowance = allowance;
    try {
      const value = work();
      return { value, left: this.#allowance };
    } catch (error) {
      if (error !== PAUSED) throw error;
      return { value: undefined, left: 0 };
    } finally {
      this.#allowance = Number.POSITIVE_INFINITY;
    }
  }

  /** Before a piece of work that takes about as long as a query. Throws through `within` when nothing is left. */
  spend(): void {
    if (this.#allowance <= 0) throw PAUSED;
    this.#allowance--;
  }

  /** After work that was larger than a piece: so much less may follow it. Ends nothing by itself. */
  charge(pieces: number): void {
    this.#allowance -= pieces;
  }

  /** The value of a query for a proxy at a state. */
  get<A extends string, R>(state: State, proxy: ProxyRecord | undefined, query: Query<A, R>, arg: A): R {
    this.#index.moveTo(state, this.#overturn);
    return this.#ensure(state, proxy, query as Query<string, unknown>, arg).value as R;
  }

  /** As `get`, to be asked about later. */
  hold<A extends string, R>(state: State, proxy: ProxyRecord, query: Query<A, R>, arg: A): Held<R> {
    this.#index.moveTo(state, this.#overturn);
    const entry = this.#ensure(state, proxy, query as Query<string, unknown>, arg);
    return { value: entry.value as R, entry, audience: entry.audience, answers: this.#answersOf(proxy) };
  }

  /** True: asking again would give the identical value. Costs next to nothing; false says only that it has to be asked. */
  stands(state: State, proxy: ProxyRecord, { entry, audience, answers }: Held<unknown>): boolean {
    this.#index.moveTo(state, this.#overturn);
    if (entry.standing !== 'current' || entry.audience !== audience || this.#answersOf(proxy) !== answers) return false;
    entry.usedIn = this.#generation;
    return true;
  }

  /** The value of a selection, as a query gets it by `about`. */
  about<I extends object, R>(state: State, proxy: ProxyRecord | undefined, selection: Selection<I, R>, of: I): R {
    this.#index.moveTo(state, this.#overturn);
    const place = this.#tokens.make(placing(selection) as never, of, this.#generation).value as Place;
    return this.#ensure(state, proxy, place.query, '', place).value as R;
  }

  /**
   * Every object key that the value rests on, found or looked for in vain; `Kind/key`, sorted. With `holds`, only of the parts of the
   * value that it says yes to: a query put together from others is left for those that gave the part.
   */
  provenance(
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    holds: (value: unknown) => boolean = () => false,
  ): Provenance {
    this.#index.moveTo(state, this.#overturn);
    const derivedOf = (facet: DerivedFacet): Entry | undefined =>
      proxy === undefined ? undefined : this.#ensureDerived(state, proxy, facet);
    return restsOn(this.#ensure(state, proxy, query, arg), derivedOf, holds);
  }

  /** Forgets what nothing has used since the sweep before the last one. Call it now and then; it changes no value. */
  sweep(): void {
    const pieces = this.sweeping();
    while (pieces.next().done !== true);
  }

  /** As `sweep`, in pieces of about a microsecond each: whoever takes them may do anything in between. */
  *sweeping(): IterableIterator<undefined, void> {
    yield* sweeping(this.#memory, this.#generation, () => {
      this.stats.swept++;
      // What is forgotten is told of no change any more.
      this.#doubts++;
    });
    this.#latest.sweep(this.#generation - 1);
    this.#generation++;
  }

  /** Counts as asked for: whoever has it may ask again. */
  keep({ entry, answers }: Held<unknown>): void {
    entry.usedIn = this.#generation;
    answers.renew(this.#generation, this.#facets);
  }

  /** Memoised values held, for metrics and limits. */
  get size(): { readonly queries: number; readonly generated: number } {
    return { queries: this.#entries.size, generated: this.#made.size };
  }

  #ensure(
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    place?: Place,
  ): Entry {
    const variants = place === undefined ? this.#variants.of(query.name, arg) : place.variants;
    const known = proxy === undefined ? undefined : this.#answersOf(proxy).values;
    const ask = (facet: Facet): FacetValue =>
      proxy === undefined ? NO_PROXY : (known?.get(facet) ?? this.#facetValue(state, proxy, facet));
    // Several may suit, when what is asked has changed with the state; what does not hold for this proxy holds for no other.
    let stale = this.#takeUp(proxy, variants, ask);
    for (let entry = variants.find(ask); entry !== undefined; entry = variants.find(ask)) {
      if (this.#isCurrent(state, proxy, entry)) return entry;
      stale ??= entry;
      variants.delete(entry);
      this.#entries.delete(entry);
      this.#doubts++;
      unlink(entry);
    }
    const line = query.follows === undefined ? undefined : `${query.name}\u0000${query.follows}`;
    const last = line === undefined ? undefined : this.#latest.find(line, ask);
    stale ??= last;
    if (variants.running) throw new AssertionFailed(`query ${query.name}(${arg}) reads itself`);
    variants.running = true;
    let now: Entry | undefined;
    try {
      now = this.#run(state, proxy, query, arg, variants, stale);
    } finally {
      variants.running = false;
      if (now === undefined && stale !== undefined) this.#stopped.set(variants, { proxy, stale });
    }
    if (line !== undefined) this.#latest.put(line, last, now);
    variants.put(now, VARIANTS_MAX);
    this.#entries.add(now);
    return now;
  }

  /** What the run that was stopped was to take the place of, if it is gone on with now. */
  #takeUp(
    proxy: ProxyRecord | undefined,
    variants: Variants<Entry>,
    ask: (facet: Facet) => FacetValue,
  ): Entry | undefined {
    const stopped = this.#stopped.get(variants);
    if (stopped === undefined) return undefined;
    this.#stopped.delete(variants);
    const { stale } = stopped;
    return stopped.proxy === proxy && suits(stale, ask) ? stale : undefined;
  }

  /** A query of whoever answers alike what it asks; only its value is seen by callers. */
  #ensureDerived(state: State, proxy: ProxyRecord, facet: DerivedFacet): Entry {
    return this.#ensure(state, proxy, this.#facets.queryOf(facet), '');
  }

  #isCurrent(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    entry.usedIn = this.#generation;
    if (entry.standing !== 'current') {
      if (!this.#holds(state, proxy, entry)) {
        entry.standing = 'stale';
        return false;
      }
      entry.standing = 'current';
    }
    this.stats.hits++;
    return true;
  }

  /**
   * Whether a run would read the same again. What was called may have come to the same value by asking the proxy something else: then
   * the audience is that of now. Reads come before calls and calls are in order, so nothing is asked that a run would not ask.
   */
  #holds(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    if (entry.standing === 'stale') return false;
    this.stats.verifications++;
    this.charge(entry.calls.length / CALLS_A_PIECE / 4);
    const moved: (readonly [QueryRead, Entry])[] = [];
    for (const call of entry.calls) {
      if (this.#stands(state, proxy, call)) continue;
      const now = this.#ensure(state, proxy, call.query, call.arg, call.token?.value as Place | undefined);
      if (now.value !== call.seen) return false;
      moved.push([call, now]);
    }
    // Not before all is known: what does not hold is left as it was, for the run that follows to find its calls in.
    let asksOthers = false;
    for (const [call, now] of moved) {
      if (now !== call.entry) {
        removeCaller(call.entry, entry);
        addCaller(now, entry);
        call.entry = now;
      }
      asksOthers ||= now.audience !== call.audience;
      call.audience = now.audience;
    }
    if (!asksOthers) return true;
    entry.home.delete(entry);
    entry.audience = audienceOf(entry.asked, entry.audience);
    entry.home.put(entry, VARIANTS_MAX);
    return true;
  }

  /** The short way, without a search: the caller's audience has the callee's in it, so what is current for one is what the other gets. */
  #stands(state: State, proxy: ProxyRecord | undefined, { entry, audience }: QueryRead): boolean {
    if (entry.audience !== audience || entry.standing === 'stale') return false;
    return entry.standing === 'current' || (this.#isCurrent(state, proxy, entry) && entry.audience === audience);
  }

  #run(
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    home: Variants<Entry>,
    previous: Entry | undefined,
  ): Entry {
    this.spend();
    const run = new Run(this.#tracking, state, proxy, previous);
    this.#resident.run = run;
    const value = query.run(run, arg);
    this.stats.runs++;
    this.charge((run.calls.length + run.made.length) / CALLS_A_PIECE);
    const { asked } = run;
    const entry: Entry = {
      audience: audienceOf(asked, previous?.audience),
      asked,
      reads: run.reads,
      calls: run.calls,
      lists: run.lists,
      callers: undefined,
      made: run.made,
      value: previous === undefined ? value : keepSame(previous.value, value),
      home,
      standing: 'current',
      gone: false,
      usedIn: this.#generation,
      lastRun: 0,
    };
    for (const read of entry.reads) read.add(entry);
    for (const call of entry.calls) addCaller(call.entry, entry);
    return entry;
  }

  /** Interned, so that equal facets are identical; asked for once, however many queries want to know. */
  #facetValue(state: State, proxy: ProxyRecord, facet: Facet): FacetValue {
    const answers = this.#answersOf(proxy);
    const known = answers.values.get(facet);
    if (known !== undefined || answers.values.has(facet)) return known;
    let raw: FacetValue;
    if (facet.kind === 'derived') {
      const entry = this.#ensureDerived(state, proxy, facet);
      answers.restOn(facet, entry);
      raw = entry.value as Json;
    } else raw = facet.of(proxy);
    const value = this.#facets.intern(raw);
    answers.values.set(facet, value);
    return value;
  }

  /** The index must be at the state. */
  #answersOf(proxy: ProxyRecord): Answers {
    // Mostly one proxy is asked many things in turn.
    const last = this.#lately === proxy ? this.#answered : undefined;
    if (last?.isFresh(this.#generation, this.#doubts) === true) return last;
    const known = this.#answers.get(proxy.facets);
    const answers =
      known?.areOf(proxy) === true ? this.#renewed(known) : new Answers(proxy, this.#generation, this.#doubts);
    this.#answers.set(proxy.facets, answers);
    this.#lately = proxy;
    this.#answered = answers;
    return answers;
  }

  #renewed(known: Answers): Answers {
    const stands = known.stands(this.#doubts) && known.renew(this.#generation, this.#facets);
    return stands ? known : known.plain(this.#generation, this.#doubts);
  }
}

export type { Reader };
