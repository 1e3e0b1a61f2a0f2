// From state and subscription to resources: the only such path, for serving, for `generate` and for `replay --verify`.
//
// Invariant: it keeps no dependencies of its own; the tracker does. It only avoids asking the same question twice:
//   - States that differ only in facts about proxies generate the same, so they count as one state for the tracker.
//   - A proxy with an unchanged subscription, whose memoised answer still stands, gets the identical set without a look
//     inside.
//   - Sets are found by their elements, so that equal views share one set and one digest.

import { metadataText, type NodeFacets, type ProxyRecord, type Subscription } from '../../core/model/proxy.ts';
import type { Provenance } from '../../core/query/provenance.ts';
import type { Handle } from '../../core/query/proxy-facets.ts';
import type { Query, Selection } from '../../core/query/reader.ts';
import { SliceGrowth } from '../../core/query/slice-growth.ts';
import { Tracker } from '../../core/query/tracker.ts';
import type { State } from '../../core/state.ts';
import { findSource, type ResourceSource, sourceKey } from '../assemble/source.ts';
import { type EncodingWork, encodeResource } from './encode.ts';
import { ListIds } from './list-ids.ts';
import { ResourceSet } from './resource-set.ts';
import { type Made, type ServedType, sourceOf } from './served-type.ts';
import { SetBook } from './set-book.ts';

/** A part of a set, or a resource by its name. */
type Part =
  | { readonly each: Selection<object, unknown>; readonly of: object }
  | { readonly named: Query<string, unknown>; readonly name: string };

export interface SliceResult<T> {
  readonly value: T | undefined;
  readonly left: number;
}

/** Encoding this many bytes costs about as much as one query: a unit of work. */
const BYTES_PER_UNIT = 4_096;
/** A set of more resources takes as long as a slice. */
const LIST_ALONE_MIN = 16_384;
/** Of a long list, resources that are gone through before work may be interrupted, if all are encoded. */
const ENCODED_TOGETHER = 1_024;
/** Finding this many encoded resources costs a unit of work. */
const ENCODED_PER_UNIT = 32;
/** Resources of a long list that become members of a set in a unit of work. */
const SET_MEMBERS_PER_UNIT = 16;
/** Parts, made already or not, that are asked for in a unit of work. */
const PARTS_PER_UNIT = 8;
/** An evaluation in which everything is memoised already, in units of work. */
const IDLE_LOOK_UNITS = 0.5;

interface TypeView {
  readonly subscription: Subscription;
  readonly set: ResourceSet;
  /** The memoised answer that the set was made from; undefined: the type has no generator. */
  readonly held: Handle<Made> | undefined;
  /** The newest state at which the view was found to be valid. */
  config: State;
}

interface ProxyViews {
  readonly metadata: ProxyRecord['metadata'];
  readonly extensions: ProxyRecord['extensions'];
  readonly identities: ProxyRecord['identities'];
  readonly protocol: ProxyRecord['protocol'];
  /** '' for nearly all. */
  readonly generator: string;
  readonly sets: Map<string, TypeView>;
}

export class Engine {
  readonly tracker: Tracker;
  /** Types that can be served. */
  readonly typeUrls: readonly string[];
  /** By `sourceKey`. */
  readonly #sources: ReadonlyMap<string, ServedType>;
  /** Type URL → its row for clients that name no generator, which nearly all are: no key is built for each question. */
  readonly #usual: ReadonlyMap<string, ServedType | undefined>;
  readonly #views = new WeakMap<NodeFacets, ProxyViews>();
  readonly #sets = new SetBook();
  readonly #lists = new ListIds();
  /** How many resources of a list are encoded, so that a slice does not walk through those of earlier ones. */
  readonly #encoded = new WeakMap<Made, number>();
  #encodings = 0;
  #config: State | undefined;
  /** The state that `#config` was last found to stand for. */
  #lastState: State | undefined;

  constructor(sources: readonly ResourceSource[], tracker = new Tracker()) {
    this.tracker = tracker;
    this.#sources = new Map(
      sources.map(source => [sourceKey(source.url, source.generator ?? ''), sourceOf(source, this.#lists)] as const),
    );
    this.typeUrls = [...new Set(sources.map(({ url }) => url))].filter(url => url !== '');
    this.#usual = new Map(this.typeUrls.map(url => [url, findSource(this.#sources, url, '')]));
  }

  /** The resources of the subscription; undefined: the type cannot be served. Identical while nothing in it changed. */
  resourcesFor(state: State, proxy: ProxyRecord, typeUrl: string, subscription: Subscription): ResourceSet | undefined {
    return this.#resources(this.#configOf(state), proxy, typeUrl, subscription, this.#viewsOf(proxy));
  }

  #resources(
    config: State,
    proxy: ProxyRecord,
    typeUrl: string,
    subscription: Subscription,
    { sets, generator }: ProxyViews,
  ): ResourceSet | undefined {
    const source = this.#sourceOf(generator, typeUrl);
    if (source === undefined) return undefined;
    const before = sets.get(typeUrl);
    const known = before !== undefined && sameSubscription(before.subscription, subscription) ? before : undefined;
    if (known !== undefined && this.#stands(known, config, proxy)) return known.set;
    const held = this.#hold(config, proxy, source, subscription);
    const same = known !== undefined && known.held?.value === held?.value;
    const set = same ? known.set : this.#make(source, subscription, held?.value ?? nothing, before?.set);
    sets.set(typeUrl, { subscription, set, held, config });
    return set;
  }

  /** Memoised values. */
  get size(): Tracker['size'] {
    return this.tracker.size;
  }

  /** The sets of all subscribed types that can be served. */
  viewOf(state: State, proxy: ProxyRecord): ReadonlyMap<string, ResourceSet> {
    const sets = new Map<string, ResourceSet>();
    const config = this.#configOf(state);
    const views = this.#viewsOf(proxy);
    const { subscriptions } = proxy;
    for (const typeUrl of Object.keys(subscriptions)) {
      const set = this.#resources(config, proxy, typeUrl, subscriptions[typeUrl]!, views);
      if (set !== undefined) sets.set(typeUrl, set);
    }
    return sets;
  }

  /**
   * `viewOf` in slices. Each call does at most about `allowance` units of work; `value` is undefined if that was not
   * enough. After the first unfinished slice the parts are made one by one before the whole is assembled, so that later
   * slices do not walk through finished parts.
   */
  look(): (allowance: number, state: State, proxy: ProxyRecord) => SliceResult<ReadonlyMap<string, ResourceSet>> {
    let parts: readonly Part[] | undefined;
    let at = 0;
    let isCut = false;
    const growth = new SliceGrowth();
    return (allowance, state, proxy) => {
      const ended = this.#encodings + at;
      const looked = (): ReadonlyMap<string, ResourceSet> => {
        if (isCut) {
          parts ??= this.#partsOf(state, proxy);
          for (; at < parts.length; at++) {
            if (at % PARTS_PER_UNIT === 0) this.tracker.spend();
            this.#makePart(state, proxy, parts[at]!);
          }
        }
        this.tracker.spend();
        this.tracker.charge(IDLE_LOOK_UNITS - 1);
        return this.viewOf(state, proxy);
      };
      const sliced = this.tracker.within(growth.budget(allowance), looked);
      // The first slice looks at the whole; those after it, part by part, find nothing of that again.
      growth.cut(sliced, !isCut || this.#encodings + at > ended);
      isCut = true;
      return { value: sliced.value, left: Math.min(sliced.left, allowance) };
    };
  }

  #partsOf(state: State, proxy: ProxyRecord): readonly Part[] {
    const config = this.#configOf(state);
    return Object.entries(proxy.subscriptions).flatMap(([typeUrl, { names }]): readonly Part[] => {
      const source = this.#sourceFor(proxy, typeUrl);
      if (source !== undefined && source.pieces.length > 0) {
        const list = this.#lists.idOf(names);
        return source.pieces.flatMap(({ query, each }) =>
          this.tracker.get(config, proxy, query, list).map(of => ({ each, of })),
        );
      }
      const each = source?.eachName;
      return each === undefined ? [] : names.map(name => ({ named: each, name }));
    });
  }

  #makePart(state: State, proxy: ProxyRecord, part: Part): void {
    if ('named' in part) this.tracker.get(this.#configOf(state), proxy, part.named, part.name);
    else this.tracker.select(state, proxy, part.each, part.of);
  }

  /** The objects that a resource was made from, and those that were looked up and are missing. */
  provenance(state: State, proxy: ProxyRecord, typeUrl: string, name: string): Provenance | undefined {
    const source = this.#sourceFor(proxy, typeUrl);
    const config = this.#configOf(state);
    if (source?.named !== undefined) return this.tracker.provenance(config, proxy, source.named, name);
    if (source?.all === undefined) return undefined;
    const resource = this.tracker.get(config, proxy, source.all, '').find(made => made.name === name);
    if (resource === undefined) return undefined;
    const holds = (value: unknown): boolean => value === resource || (Array.isArray(value) && value.includes(resource));
    return this.tracker.provenance(config, proxy, source.all, '', holds);
  }

  /**
   * Forgets values that were not used since the last sweep and that no proxy of `connected` holds. Changes no result.
   */
  sweep(connected: Iterable<ProxyRecord> = []): void {
    const pieces = this.sweeping(connected);
    while (pieces.next().done !== true);
  }

  /** As `sweep`, in steps of about a microsecond. The engine may be used between steps. */
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

  #sourceFor({ metadata }: ProxyRecord, typeUrl: string): ServedType | undefined {
    return this.#sourceOf(metadataText(metadata, 'GENERATOR'), typeUrl);
  }

  #sourceOf(generator: string, typeUrl: string): ServedType | undefined {
    const usual = generator === '' ? this.#usual.get(typeUrl) : undefined;
    return usual ?? findSource(this.#sources, typeUrl, generator);
  }

  #stands(known: TypeView, config: State, proxy: ProxyRecord): boolean {
    if (known.config === config) return true;
    if (known.held !== undefined && !this.tracker.isCurrent(config, proxy, known.held)) return false;
    known.config = config;
    return true;
  }

  #hold(
    config: State,
    proxy: ProxyRecord,
    source: ServedType,
    { wildcard, names }: Subscription,
  ): Handle<Made> | undefined {
    if (source.all !== undefined && (wildcard || source.byList === undefined))
      return this.tracker.handle(config, proxy, source.all, '');
    if (source.byList === undefined) return undefined;
    return this.tracker.handle(config, proxy, source.byList, this.#lists.idOf(names));
  }

  #make(
    { url, all, byList }: ServedType,
    { wildcard, names }: Subscription,
    made: Made,
    before: ResourceSet | undefined,
  ): ResourceSet {
    if (all === undefined || wildcard || byList !== undefined) return this.#setOf(url, made, before);
    const wanted = new Set(names);
    return new ResourceSet(
      url,
      made.filter(({ name }) => wanted.has(name)),
    );
  }

  /** `before`: what the same proxy had before. */
  #setOf(url: string, made: Made, before: ResourceSet | undefined): ResourceSet {
    if (made.length === 0) return new ResourceSet(url, made);
    const known = this.#sets.find(url, made);
    if (known !== undefined) return known;
    const isLong = made.length > LIST_ALONE_MIN;
    let fresh = false;
    const work: EncodingWork = {
      before: () => {
        this.tracker.spend();
        fresh = true;
      },
      after: bytes => {
        this.tracker.charge(bytes / BYTES_PER_UNIT);
        this.#encodings++;
      },
    };
    const begin = this.#encoded.get(made) ?? 0;
    for (let i = begin; i < made.length; i++) {
      const { name, message } = made[i]!;
      fresh = false;
      encodeResource(url, name, message, work, before?.resources.get(name));
      if (fresh) this.#encoded.set(made, i + 1);
      else if (isLong && (i + 1) % ENCODED_TOGETHER === 0) this.#encodedTo(made, i + 1);
    }
    if (isLong && begin < made.length) {
      // A long list becomes a set in a slice of its own, not in that which has gone through the last of it.
      this.#encoded.set(made, made.length);
      this.#endSlice();
    }
    const set = this.#sets.make(url, made);
    if (isLong) this.tracker.charge(made.length / SET_MEMBERS_PER_UNIT);
    return set;
  }

  /** Of a long list a part was found to be encoded, which costs as much as finding as many values. */
  #encodedTo(made: Made, end: number): void {
    this.#encoded.set(made, end);
    this.#encodings++;
    this.tracker.charge(ENCODED_TOGETHER / ENCODED_PER_UNIT);
    this.tracker.spend();
  }

  /** Interrupts `look`, which goes on from here in its next slice; nothing otherwise. */
  #endSlice(): void {
    this.tracker.charge(Number.MAX_SAFE_INTEGER);
    this.tracker.spend();
  }

  #viewsOf(proxy: ProxyRecord): ProxyViews {
    const { facets, metadata, extensions, identities, protocol } = proxy;
    const known = this.#views.get(facets);
    const isSame =
      known?.metadata === metadata &&
      known.extensions === extensions &&
      known.identities === identities &&
      known.protocol === protocol;
    if (isSame) return known;
    const generator = metadataText(metadata, 'GENERATOR');
    const remembered: ProxyViews = { metadata, extensions, identities, protocol, generator, sets: new Map() };
    this.#views.set(facets, remembered);
    return remembered;
  }

  /** One representative for all states that generate the same, so that the tracker has nothing to verify. */
  #configOf(state: State): State {
    if (this.#config !== undefined && this.#lastState === state) return this.#config;
    if (this.#config === undefined || !sameConfig(this.#config, state)) this.#config = state;
    this.#lastState = state;
    return this.#config;
  }
}

const nothing: Made = [];

/** Compares everything that a tracked reader can read (core/query/read-index.ts). */
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
