// The tracker: memoises every query, knows what each memoised value depends on, and runs again only the queries that a
// change affects.
//
// A *query* reads the state through a tracked reader (run.ts). The run records two things about the value:
//   - its read set: objects, ranges, mesh fields, flags and other queries it read, misses included (read-index.ts,
//     entry.ts);
//   - its facet key: the facets of the proxy it asked for, with their values (facets.ts). All proxies with equal facets
//     share the value.
// A *generator* is a pure function of its inputs, memoised by the identity of their elements (memo.ts).
//
// How a change travels. The read index finds the reads whose value changed. Entries that made such a read become
// `invalid`; their callers, however far up, become `suspect`. A suspect entry is verified on its next use: its calls
// are evaluated in order, and if all values are unchanged, it is valid again without a run. A run that gives an equal
// value (memo.ts: to a limited depth) keeps the old object, so nothing above it runs.
//
// Invariant: a `valid` entry has the value that its query would give for any proxy with the entry's facet key, at the
// state that the read index was last moved to. It holds because a query may look at nothing but its reader and its
// argument, and a generator at nothing but its inputs. An earlier entry (stale, of a paused run, or of the same
// lineage) lends a run its calls and, if the value is equal, its object; it never decides the value.
//
// Neither pauses nor sweeps change a value. A run that throws, also because the budget is spent, memoises nothing of
// its own. A sweep drops entries that have no caller and were used neither in this epoch nor in the previous one, so
// every use that leaves no caller behind sets `usedInEpoch`; each invalidation and each drop counts in
// `#invalidations`, by which ProxyFacets look again.

import { AssertionFailed } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import { addCaller, type BoundSelection, type Call, type Entry, invalidate, removeCaller, unlink } from './entry.ts';
import { facetKeyOf } from './facet-key.ts';
import { type DerivedFacet, type Facet, FacetRegistry, type FacetValue } from './facets.ts';
import { InputMemo, keepSame } from './memo.ts';
import { matchesProxy, Predecessors } from './predecessors.ts';
import { type Provenance, provenanceOf } from './provenance.ts';
import { type Handle, ProxyFacets } from './proxy-facets.ts';
import { ReadIndex } from './read-index.ts';
import { type AnyQuery, KEY_SEPARATOR, keyOf, type Query, type Selection } from './reader.ts';
import { binderOf, Run, type RunContext } from './run.ts';
import { type Memory, sweeping } from './sweep.ts';
import { VariantIndex } from './variant-index.ts';
import type { Variants } from './variants.ts';
import { CALLS_PER_WORK_UNIT, type Slice, WorkBudget, workOfList } from './work-budget.ts';

/**
 * Memoised values of one (query, argument); past that the oldest is dropped. More than one instance has proxies: if a
 * query has a value for each proxy, a lower limit would drop each value before it is asked for again.
 */
export const VARIANTS_MAX = 65_536;

/** Sentinel for "no proxy"; never equal to a real facet value. */
const NO_PROXY_VALUE: FacetValue = {};

/** Counters of work done and saved; they only ever grow. */
export interface TrackStats {
  runs: number;
  hits: number;
  verifications: number;
  generated: number;
  /** Values that a sweep dropped. */
  swept: number;
}

export class Tracker {
  readonly stats: TrackStats = { runs: 0, hits: 0, verifications: 0, generated: 0, swept: 0 };
  readonly #index = new ReadIndex<Entry>();
  readonly #variants = new VariantIndex();
  readonly #entries = new Set<Entry>();
  readonly #facets = new FacetRegistry();
  /** By `ProxyRecord.facets`, the object that all versions of a proxy's record share. */
  readonly #facetsByProxy = new WeakMap<NodeFacets, ProxyFacets>();
  /** A cache of one for `#facetsByProxy`: most consecutive look-ups are for the same proxy. */
  #lastProxy: ProxyRecord | undefined;
  #lastProxyFacets: ProxyFacets | undefined;
  readonly #predecessors = new Predecessors();
  readonly #generatorMemo = new InputMemo();
  readonly #bindings = new InputMemo();
  /** The earlier entries that interrupted runs were given; the next attempt reuses their calls. */
  readonly #pausedRuns = new WeakMap<
    Variants<Entry>,
    { readonly proxy: ProxyRecord | undefined; readonly previous: Entry }
  >();
  readonly #memory: Memory = {
    entries: this.#entries,
    variants: this.#variants,
    index: this.#index,
    memos: [this.#generatorMemo, this.#bindings],
    facets: this.#facets,
  };
  /** Advances with each completed sweep. */
  #epoch = 1;
  /** Grows whenever an entry is invalidated or dropped. While it stands still, everything that was valid still is. */
  #invalidations = 0;
  readonly #invalidate = (entry: Entry): void => {
    this.#invalidations++;
    invalidate(entry);
  };
  readonly #budget = new WorkBudget();
  readonly #context: RunContext = {
    index: this.#index,
    facets: this.#facets,
    generatorMemo: this.#generatorMemo,
    bindings: this.#bindings,
    epoch: () => this.#epoch,
    beforeGenerator: () => {
      this.#budget.spend();
      this.stats.generated++;
    },
    afterGenerator: work => this.#budget.charge(work),
    afterFind: members => this.#budget.foundOutput(members),
    ensure: (state, proxy, query, arg, bound) => this.#ensure(state, proxy, query, arg, bound),
    callIsCurrent: (state, proxy, call) => this.#callIsCurrent(state, proxy, call),
    facetValue: (state, proxy, facet) => this.#facetValue(state, proxy, facet),
  };
  /** Keeps one `Run` alive: V8 discards the compiled code of a class when a full collection finds no instance of it. */
  readonly #residentRun: { run: Run | undefined } = { run: undefined };

  /**
   * Does `work` with at most `runs` runs of queries and generators. Finished runs are memoised, so calling it again
   * continues where it stopped, with the same result.
   */
  within<T extends object>(runs: number, work: () => T): Slice<T> {
    const finished = (): number => this.stats.runs + this.stats.generated + this.#index.steps;
    const before = finished();
    return { ...this.#budget.within(runs, work), finished: finished() - before };
  }

  /** Call before work as long as one query: spends one run of `within`, or interrupts it. */
  readonly spend = (): void => {
    this.#budget.spend();
  };

  /** Call after work outside queries that was larger than one run. Interrupts nothing. */
  charge(runs: number): void {
    this.#budget.charge(runs);
  }

  /** The value of a query for a proxy at a state. */
  get<A, R>(state: State, proxy: ProxyRecord | undefined, query: Query<A, R>, arg: NoInfer<A>): R {
    this.#index.moveTo(state, this.#invalidate, this.spend);
    return this.#ensure(state, proxy, query as AnyQuery, arg).value as R;
  }

  /** As `get`, with a handle by which `isCurrent` tells later whether asking again would give the identical value. */
  handle<A, R>(state: State, proxy: ProxyRecord, query: Query<A, R>, arg: NoInfer<A>): Handle<R> {
    this.#index.moveTo(state, this.#invalidate, this.spend);
    const entry = this.#ensure(state, proxy, query as AnyQuery, arg);
    const proxyFacets = this.#proxyFacetsOf(proxy);
    return { value: entry.value as R, entry, facetKey: entry.facetKey, proxyFacets };
  }

  /** True: `get` would return the identical value. False: unknown, call `handle` again. */
  isCurrent(state: State, proxy: ProxyRecord, { entry, facetKey, proxyFacets }: Handle<unknown>): boolean {
    this.#index.moveTo(state, this.#invalidate, this.spend);
    if (entry.validity !== 'valid' || entry.facetKey !== facetKey) return false;
    if (this.#proxyFacetsOf(proxy) !== proxyFacets) return false;
    entry.usedInEpoch = this.#epoch;
    return true;
  }

  /** Marks the value as used, so that sweeps keep it although `get` is not called. */
  touch({ entry, proxyFacets }: Handle<unknown>): void {
    entry.usedInEpoch = this.#epoch;
    proxyFacets.renew(this.#epoch, this.#facets);
  }

  /** The value of a selection for one item, as a query gets it by `Reader.select`. */
  select<I extends object, R>(state: State, proxy: ProxyRecord | undefined, selection: Selection<I, R>, item: I): R {
    this.#index.moveTo(state, this.#invalidate, this.spend);
    const bound = this.#bindings.make(binderOf(selection) as never, item, this.#epoch).value as BoundSelection;
    return this.#ensure(state, proxy, bound.query, '', bound).value as R;
  }

  /**
   * Every object key that the value depends on, found or missed, as sorted `Kind/key`. If `includes` is given, the walk
   * follows only calls whose value it accepts, where there is one, and those that gave the items of accepted
   * selections: this narrows a query composed of others to those that produced one part.
   */
  provenance<A, R>(
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<A, R>,
    arg: NoInfer<A>,
    includes: (value: unknown) => boolean = () => false,
  ): Provenance {
    this.#index.moveTo(state, this.#invalidate, this.spend);
    const derivedEntry = (facet: DerivedFacet): Entry | undefined =>
      proxy === undefined ? undefined : this.#ensureDerived(state, proxy, facet);
    return provenanceOf(this.#ensure(state, proxy, query as AnyQuery, arg), derivedEntry, includes);
  }

  /** Drops memoised values used neither in this nor in the previous epoch. Call it periodically. */
  sweep(): void {
    const steps = this.sweeping();
    while (steps.next().done !== true);
  }

  /** As `sweep`, in steps of about a microsecond; the caller may use the tracker between two steps. */
  *sweeping(): IterableIterator<undefined, void> {
    yield* sweeping(this.#memory, this.#epoch, () => {
      this.stats.swept++;
      // A dropped entry no longer hears of changes, so whatever caches it must look again.
      this.#invalidations++;
    });
    this.#predecessors.sweep(this.#epoch - 1);
    this.#epoch++;
  }

  /** Memoised values held, for metrics and limits. */
  get size(): { readonly queries: number; readonly generated: number } {
    return { queries: this.#entries.size, generated: this.#generatorMemo.size };
  }

  /** The valid entry for (query, argument, proxy): found, verified or run. The read index must be at the state. */
  #ensure(state: State, proxy: ProxyRecord | undefined, query: AnyQuery, arg: unknown, bound?: BoundSelection): Entry {
    const variants = bound === undefined ? this.#variants.of(query.name, keyOf(query, arg)) : bound.variants;
    const known = proxy === undefined ? undefined : this.#proxyFacetsOf(proxy).values;
    const facetValue = (facet: Facet): FacetValue =>
      proxy === undefined ? NO_PROXY_VALUE : (known?.get(facet) ?? this.#facetValue(state, proxy, facet));
    // Several entries can match the proxy if the query asked for other facets in an earlier state. Each that is not
    // valid now is dropped, for all proxies: validity does not depend on which of the matching ones asks.
    let previous = this.#resumePausedRun(proxy, variants, facetValue);
    for (let entry = variants.find(facetValue); entry !== undefined; entry = variants.find(facetValue)) {
      if (this.#revalidate(state, proxy, entry)) return entry;
      previous ??= entry;
      this.#drop(entry);
    }
    const lineage = query.lineage === undefined ? undefined : `${query.name}\u0000${query.lineage}`;
    const predecessor = lineage === undefined ? undefined : this.#predecessors.find(lineage, facetValue);
    previous ??= predecessor;
    if (variants.running)
      throw new AssertionFailed(
        `query ${query.name}(${keyOf(query, arg).replaceAll(KEY_SEPARATOR, '|')}) reads itself`,
      );
    variants.running = true;
    let now: Entry | undefined;
    try {
      now = this.#run(state, proxy, query, arg, variants, previous);
    } finally {
      variants.running = false;
      if (now === undefined && previous !== undefined) this.#pausedRuns.set(variants, { proxy, previous });
    }
    if (lineage !== undefined) this.#predecessors.put(lineage, predecessor, now);
    variants.put(now, VARIANTS_MAX);
    this.#entries.add(now);
    return now;
  }

  #drop(entry: Entry): void {
    entry.variants.delete(entry);
    this.#entries.delete(entry);
    this.#invalidations++;
    unlink(entry);
  }

  /** The entry that a paused run was to replace, if this call resumes that run: same proxy, same facets. */
  #resumePausedRun(
    proxy: ProxyRecord | undefined,
    variants: Variants<Entry>,
    facetValue: (facet: Facet) => FacetValue,
  ): Entry | undefined {
    const paused = this.#pausedRuns.get(variants);
    if (paused === undefined) return undefined;
    this.#pausedRuns.delete(variants);
    const { previous } = paused;
    return paused.proxy === proxy && matchesProxy(previous, facetValue) ? previous : undefined;
  }

  /** A derived facet is a query too, shared by proxies with equal facets; its callers depend on its value only. */
  #ensureDerived(state: State, proxy: ProxyRecord, facet: DerivedFacet): Entry {
    return this.#ensure(state, proxy, this.#facets.queryOf(facet), '');
  }

  #revalidate(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    entry.usedInEpoch = this.#epoch;
    if (entry.validity !== 'valid') {
      if (!this.#verify(state, proxy, entry)) {
        entry.validity = 'invalid';
        return false;
      }
      entry.validity = 'valid';
    }
    this.stats.hits++;
    this.#budget.foundValue();
    return true;
  }

  /**
   * True if every call of a suspect entry still gives the value it gave. A callee may have reached the same value
   * through other facets; then the entry's facet key is updated. Reads are known to be unchanged and calls are
   * evaluated in their order, so verifying evaluates only what a run would evaluate.
   */
  #verify(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    if (entry.validity === 'invalid') return false;
    this.stats.verifications++;
    const replaced: (readonly [Call, Entry])[] = [];
    const holds = entry.calls.every(call => {
      if (this.#callIsCurrent(state, proxy, call)) return true;
      const now = this.#ensure(state, proxy, call.query, call.arg, call.binding?.value as BoundSelection | undefined);
      replaced.push([call, now]);
      return now.value === call.value;
    });
    // Charged last: before the calls, a charge larger than a slice would interrupt each slice at the first that runs.
    this.#budget.charge(entry.calls.length / CALLS_PER_WORK_UNIT / 4);
    if (!holds) return false;
    // Only now that all are known to hold: a failed verification leaves the calls for the run that follows to reuse.
    let facetsChanged = false;
    for (const [call, now] of replaced) {
      if (now !== call.entry) {
        removeCaller(call.entry, entry);
        addCaller(now, entry);
        call.entry = now;
      }
      facetsChanged ||= now.facetKey !== call.facetKey;
      call.facetKey = now.facetKey;
    }
    if (!facetsChanged) return true;
    entry.variants.delete(entry);
    entry.facetKey = facetKeyOf(entry.facetSources, entry.facetKey);
    entry.variants.put(entry, VARIANTS_MAX);
    return true;
  }

  /** Checks a call without a look-up: the caller's facet key contains the callee's. */
  #callIsCurrent(state: State, proxy: ProxyRecord | undefined, { entry, facetKey }: Call): boolean {
    if (entry.facetKey !== facetKey || entry.validity === 'invalid') return false;
    return entry.validity === 'valid' || (this.#revalidate(state, proxy, entry) && entry.facetKey === facetKey);
  }

  #run(
    state: State,
    proxy: ProxyRecord | undefined,
    query: AnyQuery,
    arg: unknown,
    variants: Variants<Entry>,
    previous: Entry | undefined,
  ): Entry {
    const found = this.#budget.spend();
    const run = new Run(this.#context, state, proxy, variants, previous);
    this.#residentRun.run = run;
    const value = run.evaluate(query, arg);
    this.stats.runs++;
    this.#budget.ended(found, (run.calls.length + run.generated.length) / CALLS_PER_WORK_UNIT + workOfList(value));
    const { facetSources } = run;
    const entry: Entry = {
      facetKey: facetKeyOf(facetSources, previous?.facetKey),
      facetSources,
      reads: run.reads,
      calls: run.calls,
      callLists: run.callLists,
      callers: undefined,
      generated: run.generated,
      value: previous === undefined ? value : keepSame(previous.value, value),
      variants,
      validity: 'valid',
      unlinked: false,
      usedInEpoch: this.#epoch,
      lastRun: 0,
    };
    for (const read of entry.reads) read.add(entry);
    for (const call of entry.calls) addCaller(call.entry, entry);
    return entry;
  }

  /** Interned, so that equal values are identical, and kept per proxy, so that it is evaluated once for all queries. */
  #facetValue(state: State, proxy: ProxyRecord, facet: Facet): FacetValue {
    const proxyFacets = this.#proxyFacetsOf(proxy);
    const known = proxyFacets.values.get(facet);
    if (known !== undefined || proxyFacets.values.has(facet)) return known;
    let raw: FacetValue;
    if (facet.kind === 'derived') {
      const entry = this.#ensureDerived(state, proxy, facet);
      proxyFacets.dependOn(facet, entry);
      raw = entry.value as Json;
    } else raw = facet.read(proxy);
    const value = this.#facets.intern(raw);
    proxyFacets.values.set(facet, value);
    return value;
  }

  /** The known facet values of the proxy, all of them current. The read index must be at the state. */
  #proxyFacetsOf(proxy: ProxyRecord): ProxyFacets {
    const last = this.#lastProxy === proxy ? this.#lastProxyFacets : undefined;
    if (last?.isFresh(this.#epoch, this.#invalidations) === true) return last;
    const known = this.#facetsByProxy.get(proxy.facets);
    const proxyFacets =
      known?.describes(proxy) === true
        ? this.#renewed(known)
        : new ProxyFacets(proxy, this.#epoch, this.#invalidations);
    this.#facetsByProxy.set(proxy.facets, proxyFacets);
    this.#lastProxy = proxy;
    this.#lastProxyFacets = proxyFacets;
    return proxyFacets;
  }

  #renewed(known: ProxyFacets): ProxyFacets {
    const current = known.areCurrent(this.#invalidations) && known.renew(this.#epoch, this.#facets);
    return current ? known : known.withoutDerived(this.#epoch, this.#invalidations);
  }
}
