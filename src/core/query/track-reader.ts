// One run of a query: the reader that it is given, and what it reads through it. One object, and nothing else before it is needed: cold starts
// are made of runs by the hundred thousand.

import { assert } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { Indexes, IndexName, KindName } from '../kinds/kinds.ts';
import type { FeatureName, FeatureValue } from '../mesh/features.ts';
import type { MeshConfig, MeshNetworks } from '../mesh/mesh-config.ts';
import type { Settings } from '../mesh/settings.ts';
import type { VerifiedIdentity } from '../model/identity.ts';
import type { Obj } from '../model/object.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import type { Generator, InputMemo, MadeCell } from './memo.ts';
import type { Derivation, ProxyReader, Query, Selection } from './reader.ts';
import type { Asked, CallList, Entry, Place, QueryRead } from './track-entry.ts';
import type { Facet, FacetBook, FacetValue } from './track-facets.ts';
import type { Read, ReadIndex } from './track-reads.ts';
import { type Audience, Variants } from './track-variants.ts';

/** What runs need of the tracker that they belong to. */
export interface Tracking {
  readonly index: ReadIndex<Entry>;
  readonly facets: FacetBook;
  readonly made: InputMemo;
  /** What selections are about, as texts. */
  readonly tokens: InputMemo;
  readonly generation: () => number;
  /** Before a generator is run. */
  readonly generating: () => void;
  /** `place`: of a selection, which has no argument. */
  readonly ensure: (
    state: State,
    proxy: ProxyRecord | undefined,
    query: Query<string, unknown>,
    arg: string,
    place?: Place,
  ) => Entry;
  /** Whether a call that an entry for this proxy made would give the same now. */
  readonly stands: (state: State, proxy: ProxyRecord | undefined, call: QueryRead) => boolean;
  readonly facetValue: (state: State, proxy: ProxyRecord, facet: Facet) => FacetValue;
}

const NOTHING: readonly never[] = [];
const NO_PROXY = 'a query that looks at the proxy was asked for where there is none';
let runs = 0;

export class Run implements ProxyReader {
  readonly #tracking: Tracking;
  readonly #state: State;
  readonly #proxy: ProxyRecord | undefined;
  readonly #before: readonly CallList[];
  readonly #inherits: boolean;
  readonly #id = ++runs;
  /** What the query itself has asked of the proxy, with the answers. */
  #answered: Audience[number][] | undefined;
  /** Made when the first of those comes: until then it is the calls. */
  #asked: Asked[] | undefined;
  #reads: Read<Entry>[] | undefined;
  #calls: QueryRead[] | undefined;
  #lists: CallList[] | undefined;
  #made: MadeCell[] | undefined;

  /** `before` is or was for the same proxies: its lists are made use of. Of one that is gone the calls are nobody's any more. */
  constructor(tracking: Tracking, state: State, proxy: ProxyRecord | undefined, before?: Entry) {
    this.#tracking = tracking;
    this.#state = state;
    this.#proxy = proxy;
    this.#before = before?.lists ?? NOTHING;
    this.#inherits = before?.gone === true;
  }

  /** What adds to the audience, in the order of the first asking. Here and below: what was asked for twice may be there twice. */
  get asked(): readonly Asked[] {
    return this.#asked ?? this.calls;
  }

  get reads(): readonly Read<Entry>[] {
    return this.#reads ?? NOTHING;
  }

  get calls(): readonly QueryRead[] {
    return this.#calls ?? NOTHING;
  }

  get lists(): readonly CallList[] {
    return this.#lists ?? NOTHING;
  }

  get made(): readonly MadeCell[] {
    return this.#made ?? NOTHING;
  }

  object<K extends KindName>(kind: K, key: string): Obj<K> | undefined {
    return this.#read(this.#tracking.index.object(this.#state, kind, key));
  }

  objects<K extends KindName>(kind: K, prefix = ''): readonly Obj<K>[] {
    return this.#read(this.#tracking.index.range(this.#state, kind, prefix));
  }

  indexed<I extends IndexName>(index: I, key: string): readonly Obj<Indexes[I]>[] {
    return this.#read(this.#tracking.index.index(this.#state, index, key));
  }

  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F] {
    return this.#read(this.#tracking.index.mesh(this.#state, field));
  }

  networks(): MeshNetworks {
    return this.#read(this.#tracking.index.networks(this.#state));
  }

  setting<S extends keyof Settings>(name: S): Settings[S] {
    return this.#read(this.#tracking.index.setting(this.#state, name));
  }

  feature<F extends FeatureName>(name: F): FeatureValue<F> {
    return this.#read(this.#tracking.index.feature(this.#state, name));
  }

  get<A extends string, R>(query: Query<A, R>, arg: A): R {
    return this.#get(query as Query<string, unknown>, arg) as R;
  }

  about<I extends object, R>(selection: Selection<I, R>, of: I): R {
    const token = this.#token(selection, of);
    const place = token.value as Place;
    const entry = this.#tracking.ensure(this.#state, this.#proxy, place.query, '', place);
    if (entry.lastRun !== this.#id) this.#note(callOf(place.query, '', token, entry));
    return entry.value as R;
  }

  aboutEach<I extends object, R>(selection: Selection<I, R>, of: readonly I[]): readonly R[] {
    this.#lists ??= [];
    const before = this.#before[this.#lists.length];
    const find = before?.selection === selection ? finder(before) : undefined;
    const calls: QueryRead[] = [];
    for (const one of of) {
      const known = find?.(one);
      if (known !== undefined && this.#tracking.stands(this.#state, this.#proxy, known)) {
        const call = this.#inherits ? known : copyOf(known);
        this.#note(call);
        calls.push(call);
      } else {
        calls.push(this.#call(this.#token(selection, one)));
      }
    }
    this.#lists.push({ selection, of, calls });
    return calls.map(call => call.seen as R);
  }

  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O {
    const { made, generation, generating } = this.#tracking;
    const cell = made.make(generator as never, inputs, generation(), generating);
    if (cell.lastRun !== this.#id) {
      cell.lastRun = this.#id;
      this.#made ??= [];
      this.#made.push(cell);
    }
    return cell.value as O;
  }

  facet<F extends keyof NodeFacets>(name: F): NodeFacets[F] {
    return this.#facet(this.#tracking.facets.node(name)) as unknown as NodeFacets[F];
  }

  metadata(key: string): Json | undefined {
    return this.#facet(this.#tracking.facets.metadata(key));
  }

  hasExtension(name: string): boolean {
    return this.#facet(this.#tracking.facets.extension(name)) as boolean;
  }

  identity(): VerifiedIdentity | undefined {
    return this.#facet(this.#tracking.facets.identity()) as unknown as VerifiedIdentity | undefined;
  }

  derived<T extends Json>(derivation: Derivation<T>): T {
    return this.#facet(this.#tracking.facets.derived(derivation)) as T;
  }

  #token<I extends object>(selection: Selection<I, unknown>, of: I): MadeCell {
    const { tokens, generation } = this.#tracking;
    return tokens.make(placing(selection) as never, of, generation());
  }

  #read<T>(read: Read<Entry>): T {
    if (read.lastRun !== this.#id) {
      read.lastRun = this.#id;
      this.#reads ??= [];
      this.#reads.push(read);
    }
    return read.seen as T;
  }

  #facet(facet: Facet): FacetValue {
    const answered = this.#answered;
    if (answered !== undefined) {
      for (let i = 0; i < answered.length; i++) if (answered[i]![0] === facet) return answered[i]![1];
    }
    const proxy = this.#proxy;
    assert(proxy !== undefined, NO_PROXY);
    const value = this.#tracking.facetValue(this.#state, proxy, facet);
    const answer: Audience[number] = [facet, value];
    if (this.#answered === undefined) this.#answered = [answer];
    else this.#answered.push(answer);
    if (this.#asked === undefined) this.#asked = [...this.calls, answer];
    else this.#asked.push(answer);
    return value;
  }

  #get(query: Query<string, unknown>, arg: string): unknown {
    const entry = this.#tracking.ensure(this.#state, this.#proxy, query, arg);
    if (entry.lastRun !== this.#id) this.#note(callOf(query, arg, undefined, entry));
    return entry.value;
  }

  #call(token: MadeCell): QueryRead {
    const place = token.value as Place;
    const call = callOf(
      place.query,
      '',
      token,
      this.#tracking.ensure(this.#state, this.#proxy, place.query, '', place),
    );
    this.#note(call);
    return call;
  }

  /** A call passes the audience of the called on to the caller: its value depends on the same facets. */
  #note(call: QueryRead): void {
    call.entry.lastRun = this.#id;
    this.#calls ??= [];
    this.#calls.push(call);
    this.#asked?.push(call);
  }
}

/** Field by field: a spread of thousands takes its time. */
function copyOf({ query, arg, token, seen, entry, audience }: QueryRead): QueryRead {
  return { query, arg, token, seen, entry, audience };
}

function callOf(query: Query<string, unknown>, arg: string, token: MadeCell | undefined, entry: Entry): QueryRead {
  return { query, arg, token, seen: entry.value, entry, audience: entry.audience };
}

const placings = new WeakMap<object, Generator<object, Place>>();

/** Makes the place of what a selection is about: one for equal values. */
export function placing<I extends object>(selection: Selection<I, unknown>): Generator<I, Place> {
  let known = placings.get(selection) as Generator<I, Place> | undefined;
  if (known === undefined) {
    const { name } = selection;
    known = {
      name,
      run: of => ({
        query: { name, run: reader => selection.run(reader, of), follows: selection.follows?.(of) },
        variants: new Variants(),
      }),
    };
    placings.set(selection, known as unknown as Generator<object, Place>);
  }
  return known;
}

/** The call about a value. Mostly the next one is asked for; whoever leaves out or puts in something pays for an index once. */
function finder({ of, calls }: CallList): (one: object) => QueryRead | undefined {
  let at = 0;
  let places: ReadonlyMap<object, number> | undefined;
  return one => {
    if (of[at] === one) return calls[at++];
    places ??= new Map(of.map((other, i) => [other, i] as const));
    const place = places.get(one);
    if (place === undefined) return undefined;
    at = place + 1;
    return calls[place];
  };
}
