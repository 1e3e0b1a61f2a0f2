// The one mechanism behind generation (design "Generation: one mechanism instead of four").
//
// A *query* reads the state through a tracked reader. What it read (objects, ranges, mesh fields, flags, other queries; misses
// included) is its read set; which facets of the proxy it asked for is its audience. A memoised value serves every proxy whose
// facets are equal, and stays valid while every read gives the same value; a re-run that gives an equal value keeps the old identity,
// so that nothing above it runs again. A *generator* is a pure function of its inputs, memoised by the identity of their elements.
// Incrementality, sharing and provenance follow from that; there is no second bookkeeping.
//
// Invariant: a query may look at nothing but its reader and its argument, a generator at nothing but its inputs.

import { assert } from './assert.ts';
import { canonicalJson, type Json } from './json.ts';
import { type Generator, InputMemo, type MadeCell, sameValue } from './memo.ts';
import type { ProxyRecord } from './proxy.ts';
import type { ProxyReader, Query, Reader } from './reader.ts';
import type { State } from './state.ts';
import { type Facet, FacetBook, type FacetValue } from './track-facets.ts';
import { type Read, readNow, readStillHolds } from './track-reads.ts';

/** Variants of one (query, argument) that are kept, one per distinct audience; past that the least recently used goes. */
export const VARIANTS_MAX = 4096;

interface QueryRead {
  readonly query: Query<string, unknown>;
  readonly arg: string;
  readonly seen: unknown;
  readonly entry: Entry;
}

interface Entry {
  readonly audience: readonly (readonly [Facet, FacetValue])[];
  reads: readonly Read[];
  calls: readonly QueryRead[];
  made: readonly MadeCell[];
  value: unknown;
  verifiedAt: State | undefined;
  usedIn: number;
}

/** What is being run: collects the read set. */
interface Frame {
  readonly audience: Map<string, readonly [Facet, FacetValue]>;
  readonly reads: Map<string, Read>;
  readonly calls: Map<string, QueryRead>;
  readonly made: Set<MadeCell>;
}

/** Counters of work done and saved; they only ever grow. */
export interface TrackStats {
  runs: number;
  hits: number;
  verifications: number;
  generated: number;
}

export class Tracker {
  readonly stats: TrackStats = { runs: 0, hits: 0, verifications: 0, generated: 0 };
  readonly #entries = new Map<string, Entry[]>();
  readonly #facets = new FacetBook();
  readonly #made = new InputMemo();
  readonly #stack: Frame[] = [];
  readonly #running = new Set<string>();
  #generation = 1;

  /** The value of a query for a proxy at a state. */
  get<A extends string, R>(state: State, proxy: ProxyRecord | undefined, query: Query<A, R>, arg: A): R {
    return this.#ensure(state, proxy, query as Query<string, unknown>, arg).value as R;
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
    const found = new Set<string>();
    const missed = new Set<string>();
    const seen = new Set<Entry>();
    const visit = (entry: Entry): void => {
      if (seen.has(entry)) return;
      seen.add(entry);
      const parts = entry.calls.filter(call => holds(call.seen));
      for (const part of parts) visit(part.entry);
      if (parts.length > 0) return;
      for (const read of entry.reads) for (const [key, hit] of read.objects()) (hit ? found : missed).add(key);
      for (const call of entry.calls) visit(call.entry);
    };
    visit(this.#ensure(state, proxy, query, arg));
    return { found: [...found].sort(), missed: [...missed].sort() };
  }

  /** Forgets what nothing has used since the sweep before the last one. Call it now and then; it changes no value. */
  sweep(): void {
    const roots = [...this.#entries.values()].flat().filter(entry => entry.usedIn >= this.#generation - 1);
    const live = new Set<Entry>();
    while (roots.length > 0) {
      const entry = roots.pop()!;
      if (live.has(entry)) continue;
      live.add(entry);
      for (const call of entry.calls) roots.push(call.entry);
      for (const cell of entry.made) cell.usedIn = this.#generation;
    }
    for (const [key, variants] of this.#entries) {
      const kept = variants.filter(entry => live.has(entry));
      if (kept.length === 0) this.#entries.delete(key);
      else if (kept.length < variants.length) this.#entries.set(key, kept);
    }
    this.#made.sweep(this.#generation);
    this.#facets.sweep();
    this.#generation++;
  }

  /** Memoised values held, for metrics and limits. */
  get size(): { readonly queries: number; readonly generated: number } {
    let queries = 0;
    for (const variants of this.#entries.values()) queries += variants.length;
    return { queries, generated: this.#made.size };
  }

  #ensure(state: State, proxy: ProxyRecord | undefined, query: Query<string, unknown>, arg: string): Entry {
    const key = `${query.name}\u0000${arg}`;
    const variants = this.#entries.get(key);
    const entry = variants?.find(candidate => this.#suits(state, proxy, candidate));
    if (entry !== undefined) {
      entry.usedIn = this.#generation;
      if (entry.verifiedAt === state || this.#holds(state, proxy, entry)) {
        entry.verifiedAt = state;
        this.stats.hits++;
        return entry;
      }
    }
    return this.#run(state, proxy, query, arg, key, entry);
  }

  #suits(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    for (const [facet, value] of entry.audience) {
      if (proxy === undefined || this.#facetValue(state, proxy, facet) !== value) return false;
    }
    return true;
  }

  #holds(state: State, proxy: ProxyRecord | undefined, entry: Entry): boolean {
    if (entry.verifiedAt === undefined) return false;
    this.stats.verifications++;
    for (const read of entry.reads) if (!readStillHolds(read, state)) return false;
    for (const call of entry.calls) {
      if (this.#ensure(state, proxy, call.query, call.arg).value !== call.seen) return false;
    }
    return true;
  }

  #run(
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    key: string,
    previous: Entry | undefined,
  ): Entry {
    const runKey = `${key}\u0000${proxy?.connection ?? ''}`;
    assert(!this.#running.has(runKey), `query ${query.name}(${arg}) reads itself`);
    const frame: Frame = { audience: new Map(), reads: new Map(), calls: new Map(), made: new Set() };
    this.#running.add(runKey);
    this.#stack.push(frame);
    let value: unknown;
    try {
      value = query.run(this.#reader(state, proxy, frame), arg);
      this.stats.runs++;
    } finally {
      this.#stack.pop();
      this.#running.delete(runKey);
    }
    if (previous !== undefined && sameValue(previous.value, value)) value = previous.value;
    return this.#store(key, frame, value, state, previous);
  }

  #store(key: string, frame: Frame, value: unknown, state: State, previous: Entry | undefined): Entry {
    const entry: Entry = {
      audience: [...frame.audience.values()],
      reads: [...frame.reads.values()],
      calls: [...frame.calls.values()],
      made: [...frame.made],
      value,
      verifiedAt: state,
      usedIn: this.#generation,
    };
    const others = (this.#entries.get(key) ?? []).filter(other => other !== previous);
    if (others.length >= VARIANTS_MAX) others.pop();
    this.#entries.set(key, [entry, ...others]);
    return entry;
  }

  #reader(state: State, proxy: ProxyRecord | undefined, frame: Frame): ProxyReader {
    const read = <T>(r: Read): T => {
      const known = frame.reads.get(r.id);
      if (known !== undefined) return known.seen as T;
      frame.reads.set(r.id, r);
      return r.seen as T;
    };
    const facet = (f: Facet): FacetValue => {
      assert(proxy !== undefined, `${f.id} of a proxy was asked for where there is none`);
      const value = this.#facetValue(state, proxy, f);
      frame.audience.set(f.id, [f, value]);
      return value;
    };
    return {
      object: (kind, objectKey) => read(readNow.object(state, kind, objectKey)),
      objects: (kind, prefix = '') => read(readNow.range(state, kind, prefix)),
      indexed: (index, indexKey) => read(readNow.index(state, index, indexKey)),
      mesh: field => read(readNow.mesh(state, field)),
      networks: () => read(readNow.networks(state)),
      setting: name => read(readNow.setting(state, name)),
      feature: name => read(readNow.feature(state, name)),
      get: (query, arg) => this.#call(state, proxy, frame, query as Query<string, unknown>, arg) as never,
      make: <I extends object, O>(generator: Generator<I, O>, inputs: I): O => {
        const { cell, fresh } = this.#made.make(generator as never, inputs, this.#generation);
        if (fresh) this.stats.generated++;
        frame.made.add(cell);
        return cell.value as O;
      },
      facet: name => facet(this.#facets.node(name)) as never,
      metadata: name => facet(this.#facets.metadata(name)) as never,
      hasExtension: name => facet(this.#facets.extension(name)) as never,
      derived: derivation => facet(this.#facets.derived(derivation)) as never,
    };
  }

  /** A call passes the audience of the called on to the caller: its value depends on the same facets. */
  #call(
    state: State,
    proxy: ProxyRecord | undefined,
    frame: Frame,
    query: Query<string, unknown>,
    arg: string,
  ): unknown {
    const entry = this.#ensure(state, proxy, query, arg);
    for (const pair of entry.audience) frame.audience.set(pair[0].id, pair);
    frame.calls.set(`${query.name}\u0000${arg}`, { query, arg, seen: entry.value, entry });
    return entry.value;
  }

  /** Interned, so that equal facets are identical. A derived facet is a query of one proxy; only its value is seen by callers. */
  #facetValue(state: State, proxy: ProxyRecord, facet: Facet): FacetValue {
    if (facet.kind !== 'derived') return this.#facets.intern(facet.of(proxy));
    const query: Query<string, Json> = this.#facets.queryOf(facet);
    return this.#facets.intern(this.#ensureOwn(state, proxy, query));
  }

  /** Like #ensure for a query whose variants belong to single proxies: found by connection, not by scanning. */
  #ensureOwn(state: State, proxy: ProxyRecord, query: Query<string, Json>): Json {
    const key = `${query.name}\u0000${proxy.connection}`;
    const entry = this.#entries.get(key)?.[0];
    if (entry !== undefined) {
      entry.usedIn = this.#generation;
      if (entry.verifiedAt === state || (this.#suits(state, proxy, entry) && this.#holds(state, proxy, entry))) {
        entry.verifiedAt = state;
        return entry.value as Json;
      }
    }
    const stale = this.#run(state, proxy, query, proxy.connection, key, entry);
    return stale.value as Json;
  }
}

export interface Provenance {
  readonly found: readonly string[];
  readonly missed: readonly string[];
}

/** Text of a value for messages about it. */
export function showFacet(value: FacetValue): string {
  return canonicalJson(value as Json);
}

export type { Reader };
