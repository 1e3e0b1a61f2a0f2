// What a proxy's subscription holds at a state: the one way from state to resources, for serving, for `generate` and for
// `replay --verify`. It adds no bookkeeping of its own to the tracker's; it only avoids asking the same thing twice:
//   - facts about proxies do not change what is generated, so states that differ in nothing else count as one for the tracker;
//   - a proxy whose subscription is the same, and for which nothing changed, gets the identical set without a look at what is in it;
//   - sets are made of the lists that the tracker shares between proxies, and found by what is in them, so equal views share sets and digests.

import type { NodeFacets, ProxyRecord, Subscription } from '../../core/model/proxy.ts';
import type { Resource } from '../../core/model/resource.ts';
import { interning } from '../../core/query/memo.ts';
import type { Provenance } from '../../core/query/provenance.ts';
import type { Handle } from '../../core/query/proxy-facets.ts';
import type { ProxyReader, Query, Selection } from '../../core/query/reader.ts';
import { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import type { ResourceSource } from '../generate/common/source.ts';
import { encodeResource } from './encode.ts';
import { ListIds } from './list-ids.ts';
import { ResourceSet } from './resource-set.ts';
import { SetBook } from './set-book.ts';

type Made = readonly Resource<object>[];

interface ServedType {
  readonly url: string;
  readonly all: Query<string, Made> | undefined;
  readonly named: ResourceSource['named'];
  /** Argument: what `NameLists` calls the list. Those that exist, in order of the list. */
  readonly several: Query<string, Made> | undefined;
  /** Argument as above. */
  readonly pieces:
    | { readonly query: Query<string, readonly object[]>; readonly each: Selection<object, unknown> }
    | undefined;
}

interface Part {
  readonly each: Selection<object, unknown>;
  readonly of: object;
}

export interface SliceResult<T> {
  readonly value: T | undefined;
  readonly left: number;
}

/** Encoding so many bytes takes about as long as a query. */
const BYTES_PER_UNIT = 4_096;
/** A look that finds everything made already, in pieces of work. */
const IDLE_LOOK_UNITS = 0.5;
/** Slices of a look that comes to no end grow, so that going through the same again and again costs no more than the work itself. */
const CUTS_WITHOUT_GROWTH = 4;
const GROWTH = 1.5;

interface TypeView {
  readonly subscription: Subscription;
  readonly set: ResourceSet;
  /** What the set was made from; undefined: nothing is ever generated of the type. */
  readonly held: Handle<Made> | undefined;
  /** The last state at which it was found to stand. */
  config: State;
}

interface ProxyViews {
  readonly metadata: ProxyRecord['metadata'];
  readonly extensions: ProxyRecord['extensions'];
  readonly identities: ProxyRecord['identities'];
  readonly sets: Map<string, TypeView>;
}

export class Engine {
  readonly tracker: Tracker;
  readonly #sources: ReadonlyMap<string, ServedType>;
  readonly #views = new WeakMap<NodeFacets, ProxyViews>();
  readonly #sets = new SetBook();
  readonly #lists = new ListIds();
  #config: State | undefined;

  constructor(sources: readonly ResourceSource[], tracker = new Tracker()) {
    this.tracker = tracker;
    this.#sources = new Map(sources.map(source => [source.url, sourceOf(source, this.#lists)] as const));
  }

  /** Types that can be served. */
  get typeUrls(): readonly string[] {
    return [...this.#sources.keys()];
  }

  /** Everything the subscription holds; undefined: the type cannot be served. Sets are identical while nothing in them changed. */
  resourcesFor(state: State, proxy: ProxyRecord, typeUrl: string, subscription: Subscription): ResourceSet | undefined {
    const source = this.#sources.get(typeUrl);
    if (source === undefined) return undefined;
    const config = this.#configOf(state);
    const { sets } = this.#viewsOf(proxy);
    const before = sets.get(typeUrl);
    const known = before !== undefined && sameSubscription(before.subscription, subscription) ? before : undefined;
    if (known !== undefined && this.#stands(known, config, proxy)) return known.set;
    const held = this.#hold(config, proxy, source, subscription);
    const same = known !== undefined && known.held?.value === held?.value;
    const set = same ? known.set : this.#make(source, subscription, held?.value ?? nothing);
    sets.set(typeUrl, { subscription, set, held, config });
    return set;
  }

  /** Values remembered. */
  get size(): Tracker['size'] {
    return this.tracker.size;
  }

  /** Every type the proxy is subscribed to and that can be served. */
  viewOf(state: State, proxy: ProxyRecord): ReadonlyMap<string, ResourceSet> {
    const sets = new Map<string, ResourceSet>();
    for (const [typeUrl, subscription] of Object.entries(proxy.subscriptions)) {
      const set = this.resourcesFor(state, proxy, typeUrl, subscription);
      if (set !== undefined) sets.set(typeUrl, set);
    }
    return sets;
  }

  /**
   * One look in slices: each call does no more than `allowance` pieces of work, `value` is undefined if that was not enough. Once a slice was not
   * enough, the parts are made one by one before the whole is put together, so that what is done is not gone through again in each slice.
   */
  look(): (allowance: number, state: State, proxy: ProxyRecord) => SliceResult<ReadonlyMap<string, ResourceSet>> {
    let parts: readonly Part[] | undefined;
    let at = 0;
    let cuts = 0;
    return (allowance, state, proxy) => {
      const sliced = this.tracker.within(allowance * GROWTH ** Math.max(0, cuts - CUTS_WITHOUT_GROWTH), () => {
        if (cuts > 0) {
          parts ??= this.#partsOf(state, proxy);
          for (; at < parts.length; at++) this.tracker.select(state, proxy, parts[at]!.each, parts[at]!.of);
        }
        this.tracker.spend();
        this.tracker.charge(IDLE_LOOK_UNITS - 1);
        return this.viewOf(state, proxy);
      });
      // Parts bring the work forward by themselves; only what is gone through again and again needs ever longer slices to come to an end.
      if (sliced.value === undefined && (parts === undefined || at === parts.length)) cuts++;
      return { value: sliced.value, left: Math.min(sliced.left, allowance) };
    };
  }

  #partsOf(state: State, proxy: ProxyRecord): readonly Part[] {
    const config = this.#configOf(state);
    return Object.entries(proxy.subscriptions).flatMap(([typeUrl, { names }]) => {
      const source = this.#sources.get(typeUrl);
      if (source?.pieces === undefined) return [];
      const { query, each } = source.pieces;
      return this.tracker.get(config, proxy, query, this.#lists.idOf(names)).map(of => ({ each, of }));
    });
  }

  /** The objects that a resource was made from, and those that were looked for in vain. */
  provenance(state: State, proxy: ProxyRecord, typeUrl: string, name: string): Provenance | undefined {
    const source = this.#sources.get(typeUrl);
    const config = this.#configOf(state);
    if (source?.named !== undefined) return this.tracker.provenance(config, proxy, source.named, name);
    if (source?.all === undefined) return undefined;
    const resource = this.tracker.get(config, proxy, source.all, '').find(made => made.name === name);
    if (resource === undefined) return undefined;
    const holds = (value: unknown): boolean => value === resource || (Array.isArray(value) && value.includes(resource));
    return this.tracker.provenance(config, proxy, source.all, '', holds);
  }

  /** Forgets what has not been used lately, nor is held by one of `connected`. Changes no result. */
  sweep(connected: Iterable<ProxyRecord> = []): void {
    const pieces = this.sweeping(connected);
    while (pieces.next().done !== true);
  }

  /** As `sweep`, in pieces of about a microsecond: whoever takes them may ask anything in between. */
  *sweeping(connected: Iterable<ProxyRecord>): IterableIterator<undefined, void> {
    for (const { facets } of connected) {
      for (const { subscription, held } of this.#views.get(facets)?.sets.values() ?? []) {
        this.#lists.idOf(subscription.names);
        if (held !== undefined) this.tracker.touch(held);
      }
      yield;
    }
    yield* this.tracker.sweeping();
    this.#lists.sweep();
  }

  #stands(known: TypeView, config: State, proxy: ProxyRecord): boolean {
    if (known.config === config) return true;
    if (known.held !== undefined && !this.tracker.isCurrent(config, proxy, known.held)) return false;
    known.config = config;
    return true;
  }

  #hold(config: State, proxy: ProxyRecord, source: ServedType, { names }: Subscription): Handle<Made> | undefined {
    if (source.all !== undefined) return this.tracker.handle(config, proxy, source.all, '');
    if (source.several === undefined) return undefined;
    return this.tracker.handle(config, proxy, source.several, this.#lists.idOf(names));
  }

  #make({ url, all }: ServedType, { wildcard, names }: Subscription, made: Made): ResourceSet {
    if (all === undefined || wildcard) return this.#setOf(url, made);
    const wanted = new Set(names);
    return new ResourceSet(
      url,
      made.filter(({ name }) => wanted.has(name)),
    );
  }

  #setOf(url: string, made: Made): ResourceSet {
    if (made.length === 0) return new ResourceSet(url, made);
    const known = this.#sets.find(url, made);
    if (known !== undefined) return known;
    let fresh = false;
    const spend = (): void => {
      this.tracker.spend();
      fresh = true;
    };
    for (const { name, message } of made) {
      fresh = false;
      const { body } = encodeResource(url, name, message, spend);
      if (fresh) this.tracker.charge(body.length / BYTES_PER_UNIT);
    }
    return this.#sets.make(url, made);
  }

  #viewsOf(proxy: ProxyRecord): ProxyViews {
    const { facets, metadata, extensions, identities } = proxy;
    const known = this.#views.get(facets);
    if (known?.metadata === metadata && known.extensions === extensions && known.identities === identities) {
      return known;
    }
    const remembered: ProxyViews = { metadata, extensions, identities, sets: new Map() };
    this.#views.set(facets, remembered);
    return remembered;
  }

  /** The state that stands for all that generate the same: the tracker then has nothing to verify. */
  #configOf(state: State): State {
    if (this.#config === undefined || !sameConfig(this.#config, state)) this.#config = state;
    return this.#config;
  }
}

const nothing: Made = [];

function sourceOf(source: ResourceSource, lists: ListIds): ServedType {
  // The argument of `all` is always the empty string.
  const all = source.all as unknown as Query<string, Made> | undefined;
  const pieces = piecesOf(source, lists);
  return { url: source.url, all, named: source.named, several: listQueryOf(source, pieces, lists), pieces };
}

function piecesOf({ url, pieces }: ResourceSource, lists: ListIds): ServedType['pieces'] {
  if (pieces === undefined) return undefined;
  // Equal ones are one object, so that lists of equal ones are equal, whoever asks.
  const oneOfEqualPieces = interning(`xds/interning/${url}`);
  const run = (reader: ProxyReader, list: string): readonly object[] =>
    pieces.list(reader, lists.get(list)).map(piece => reader.make(oneOfEqualPieces, piece));
  return { query: { name: `xds/pieces/${url}`, run }, each: pieces.each };
}

function listQueryOf(
  { url, all, named }: ResourceSource,
  pieces: ServedType['pieces'],
  lists: ListIds,
): Query<string, Made> | undefined {
  if (named === undefined || all !== undefined) return undefined;
  const name = `xds/several/${url}`;
  if (pieces !== undefined) {
    const each = pieces.each as Selection<object, Resource<object>>;
    // Once for all who are asked the same; a change of a few pieces is a change of the last list.
    const together: Selection<{ readonly list: string; readonly of: readonly object[] }, Made> = {
      name: `xds/together/${url}`,
      lineage: ({ list }) => list,
      run: (reader, { of }) => reader.selectEach(each, of),
    };
    return { name, run: (reader, list) => reader.select(together, { list, of: reader.get(pieces.query, list) }) };
  }
  return {
    name,
    run: (reader, list) =>
      lists
        .get(list)
        .map(one => reader.get(named, one))
        .filter(made => made !== undefined),
  };
}

/** Whatever a reader can see: see core/query/read-index.ts. */
function sameConfig(a: State, b: State): boolean {
  return (
    a.objects === b.objects &&
    a.indexes === b.indexes &&
    a.mesh === b.mesh &&
    a.networks === b.networks &&
    a.settings === b.settings
  );
}

function sameSubscription(a: Subscription, b: Subscription): boolean {
  return a === b || (a.wildcard === b.wildcard && a.names === b.names);
}
