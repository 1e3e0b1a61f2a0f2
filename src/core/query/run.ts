// One run of a query: the tracked reader that the query is given, and the record of what it read.
//
// Invariant: the record names everything that the value depends on (reads, misses included; calls; facets, its own and
// those of its calls), each in the order of the run, and every memo cell that the run used, which sweeps keep with the
// entry. A call taken over from the previous entry is current. It is copied unless that entry is unlinked and was one
// of the same variants, so no two linked entries share a Call: verifying an entry updates its Calls in place, and the
// other one would not become a caller of what they hold then.
//
// The record is one flat object, and each list in it is made when its first element comes: a cold start makes hundreds
// of thousands of runs, and most read one or two things. Reads and calls are noted once per run in the common case, by
// the id of the run left on the thing noted (`lastRun`); a duplicate is possible when another run comes in between, and
// harmless. A list that grew has room for 16 elements more; `evaluate` cuts that off, since an entry keeps its lists.

import { assert } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { MeshConfig, MeshNetworks } from '../mesh/effective.ts';
import type { FeatureName, FeatureValue } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { VerifiedIdentity } from '../model/identity.ts';
import type { Indexes, IndexName, KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';
import type { NodeFacets, ProxyRecord } from '../model/proxy.ts';
import type { State } from '../state.ts';
import type { BoundSelection, Call, CallList, Entry } from './entry.ts';
import type { FacetKey, FacetSource } from './facet-key.ts';
import type { Facet, FacetRegistry, FacetValue } from './facets.ts';
import type { Generator, InputMemo, MemoCell } from './memo.ts';
import type { Read, ReadIndex } from './read-index.ts';
import type { AnyQuery, Derivation, ProxyReader, Query, Selection } from './reader.ts';
import { Variants } from './variants.ts';

/** What a run needs of its tracker. */
export interface RunContext {
  readonly index: ReadIndex<Entry>;
  readonly facets: FacetRegistry;
  /** Outputs of generators, by inputs. */
  readonly generatorMemo: InputMemo;
  /** Bound selections, by item. */
  readonly bindings: InputMemo;
  /** The current sweep epoch. */
  readonly epoch: () => number;
  /** Called before each run of a generator. */
  readonly beforeGenerator: () => void;
  /** Called after it, with the work beyond that of one run. */
  readonly afterGenerator: (work: number) => void;
  /** Called after its output was found or made, with the number of atoms of its inputs. */
  readonly afterFind: (members: number) => void;
  /** The valid entry of a query; `bound` is given for a selection, whose `arg` is empty. */
  readonly ensure: (
    state: State,
    proxy: ProxyRecord | undefined,
    query: AnyQuery,
    arg: unknown,
    bound?: BoundSelection,
  ) => Entry;
  /** True if a call made for this proxy would give the same value now. */
  readonly callIsCurrent: (state: State, proxy: ProxyRecord | undefined, call: Call) => boolean;
  readonly facetValue: (state: State, proxy: ProxyRecord, facet: Facet) => FacetValue;
}

const NOTHING: readonly never[] = [];
const NO_PROXY = 'a query that reads the proxy was asked for without a proxy';
let runs = 0;

export class Run implements ProxyReader {
  readonly #context: RunContext;
  readonly #state: State;
  readonly #proxy: ProxyRecord | undefined;
  /** Call lists of the previous entry, in which `selectEach` finds calls that are still current. */
  readonly #previousLists: readonly CallList[];
  /**
   * The previous entry is unlinked and one of `variants`: no other run can take its Call objects, so they are reused
   * without a copy. One of other variants is a predecessor, and has lent its calls to the run that replaces it, too.
   */
  readonly #ownsPreviousCalls: boolean;
  readonly #id = ++runs;
  /** Facets that this query itself read, with their values. */
  #ownFacets: Map<Facet, FacetValue> | undefined;
  /** Made at the first own facet; until then the calls are all there is. */
  #facetSources: FacetSource[] | undefined;
  #reads: Read<Entry>[] | undefined;
  #calls: Call[] | undefined;
  #callLists: CallList[] | undefined;
  #generated: MemoCell[] | undefined;

  /**
   * `variants`: what the entry of this run will be one of. `previous`: the entry that this run replaces or, by its
   * lineage, succeeds; it must match the proxy.
   */
  constructor(
    context: RunContext,
    state: State,
    proxy: ProxyRecord | undefined,
    variants: Variants<Entry>,
    previous?: Entry,
  ) {
    this.#context = context;
    this.#state = state;
    this.#proxy = proxy;
    this.#previousLists = previous?.callLists ?? NOTHING;
    this.#ownsPreviousCalls = previous?.unlinked === true && previous.variants === variants;
  }

  /** The sources of the facet key, in the order of the reads. */
  get facetSources(): readonly FacetSource[] {
    return this.#facetSources ?? this.calls;
  }

  get reads(): readonly Read<Entry>[] {
    return this.#reads ?? NOTHING;
  }

  get calls(): readonly Call[] {
    return this.#calls ?? NOTHING;
  }

  get callLists(): readonly CallList[] {
    return this.#callLists ?? NOTHING;
  }

  get generated(): readonly MemoCell[] {
    return this.#generated ?? NOTHING;
  }

  /** Runs the query, then gives the lists of the record their final length. */
  evaluate(query: AnyQuery, arg: unknown): unknown {
    const value = query.run(this, arg as never);
    this.#reads = this.#reads?.slice();
    this.#calls = this.#calls?.slice();
    this.#facetSources = this.#facetSources?.slice();
    this.#generated = this.#generated?.slice();
    return value;
  }

  object<K extends KindName>(kind: K, key: string): Obj<K> | undefined {
    return this.#read(this.#context.index.object(this.#state, kind, key));
  }

  objects<K extends KindName>(kind: K, prefix = ''): readonly Obj<K>[] {
    return this.#read(this.#context.index.range(this.#state, kind, prefix));
  }

  indexed<I extends IndexName>(index: I, key: string): readonly Obj<Indexes[I]>[] {
    return this.#read(this.#context.index.index(this.#state, index, key));
  }

  mesh<F extends keyof MeshConfig>(field: F): MeshConfig[F] {
    return this.#read(this.#context.index.mesh(this.#state, field));
  }

  networks(): MeshNetworks {
    return this.#read(this.#context.index.networks(this.#state));
  }

  setting<S extends keyof Settings>(name: S): Settings[S] {
    return this.#read(this.#context.index.setting(this.#state, name));
  }

  feature<F extends FeatureName>(name: F): FeatureValue<F> {
    return this.#read(this.#context.index.feature(this.#state, name));
  }

  get<A, R>(query: Query<A, R>, arg: NoInfer<A>): R {
    return this.#get(query as AnyQuery, arg) as R;
  }

  select<I extends object, R>(selection: Selection<I, R>, item: I): R {
    const binding = this.#bind(selection, item);
    const bound = binding.value as BoundSelection;
    const entry = this.#context.ensure(this.#state, this.#proxy, bound.query, '', bound);
    if (entry.lastRun !== this.#id) this.#note(callOf(bound.query, '', binding, entry));
    return entry.value as R;
  }

  selectEach<I extends object, R>(selection: Selection<I, R>, items: readonly I[]): readonly R[] {
    this.#callLists ??= [];
    const previous = this.#previousLists[this.#callLists.length];
    const find = previous?.selection === selection ? finderOf(previous) : undefined;
    const calls: Call[] = [];
    for (const item of items) {
      const known = find?.(item);
      if (known !== undefined && this.#context.callIsCurrent(this.#state, this.#proxy, known)) {
        const call = this.#ownsPreviousCalls ? known : copyOf(known);
        this.#note(call);
        calls.push(call);
      } else {
        calls.push(this.#call(this.#bind(selection, item)));
      }
    }
    this.#callLists.push({ selection, items, calls: calls.slice() });
    return calls.map(call => call.value as R);
  }

  make<I extends object, O>(generator: Generator<I, O>, inputs: I): O {
    const { generatorMemo, epoch, beforeGenerator, afterGenerator, afterFind } = this.#context;
    const cell = generatorMemo.make(generator as never, inputs, epoch(), beforeGenerator, afterGenerator);
    afterFind(cell.atoms.length);
    if (cell.lastRun !== this.#id) {
      cell.lastRun = this.#id;
      this.#generated ??= [];
      this.#generated.push(cell);
    }
    return cell.value as O;
  }

  facet<F extends keyof NodeFacets>(name: F): NodeFacets[F] {
    return this.#facet(this.#context.facets.node(name)) as unknown as NodeFacets[F];
  }

  metadata(key: string): Json | undefined {
    return this.#facet(this.#context.facets.metadata(key));
  }

  hasExtension(name: string): boolean {
    return this.#facet(this.#context.facets.extension(name)) as boolean;
  }

  identity(): VerifiedIdentity | undefined {
    return this.#facet(this.#context.facets.identity()) as unknown as VerifiedIdentity | undefined;
  }

  protocol(): ProxyRecord['protocol'] {
    return this.#facet(this.#context.facets.protocol()) as ProxyRecord['protocol'];
  }

  derived<T extends Json>(derivation: Derivation<T>): T {
    return this.#facet(this.#context.facets.derived(derivation)) as T;
  }

  /** The cell of the selection bound to the item: one for equal items. */
  #bind<I extends object>(selection: Selection<I, unknown>, item: I): MemoCell {
    const { bindings, epoch } = this.#context;
    return bindings.make(binderOf(selection) as never, item, epoch());
  }

  #read<T>(read: Read<Entry>): T {
    if (read.lastRun !== this.#id) {
      read.lastRun = this.#id;
      this.#reads ??= [];
      this.#reads.push(read);
    }
    return read.value as T;
  }

  #facet(facet: Facet): FacetValue {
    const known = this.#ownFacets;
    if (known?.has(facet) === true) return known.get(facet);
    const proxy = this.#proxy;
    assert(proxy !== undefined, NO_PROXY);
    const value = this.#context.facetValue(this.#state, proxy, facet);
    const pair: FacetKey[number] = [facet, value];
    if (known === undefined) this.#ownFacets = new Map([pair]);
    else known.set(facet, value);
    if (this.#facetSources === undefined) this.#facetSources = [...this.calls, pair];
    else this.#facetSources.push(pair);
    return value;
  }

  #get(query: AnyQuery, arg: unknown): unknown {
    const entry = this.#context.ensure(this.#state, this.#proxy, query, arg);
    if (entry.lastRun !== this.#id) this.#note(callOf(query, arg, undefined, entry));
    return entry.value;
  }

  #call(binding: MemoCell): Call {
    const bound = binding.value as BoundSelection;
    const call = callOf(
      bound.query,
      '',
      binding,
      this.#context.ensure(this.#state, this.#proxy, bound.query, '', bound),
    );
    this.#note(call);
    return call;
  }

  /**
   * Records the call. It is also a source of facets: the caller's value depends on every facet that the callee's does.
   */
  #note(call: Call): void {
    call.entry.lastRun = this.#id;
    this.#calls ??= [];
    this.#calls.push(call);
    this.#facetSources?.push(call);
  }
}

/** Field by field: measurably faster than a spread for lists of thousands. */
function copyOf({ query, arg, binding, value, entry, facetKey }: Call): Call {
  return { query, arg, binding, value, entry, facetKey };
}

function callOf(query: AnyQuery, arg: unknown, binding: MemoCell | undefined, entry: Entry): Call {
  return { query, arg, binding, value: entry.value, entry, facetKey: entry.facetKey };
}

const binders = new WeakMap<object, Generator<object, BoundSelection>>();

/** The generator that binds a selection to an item. Run through a memo, it gives one BoundSelection for equal items. */
export function binderOf<I extends object>(selection: Selection<I, unknown>): Generator<I, BoundSelection> {
  let known = binders.get(selection) as Generator<I, BoundSelection> | undefined;
  if (known === undefined) {
    const { name } = selection;
    known = {
      name,
      run: item => ({
        item,
        query: { name, run: reader => selection.run(reader, item), lineage: selection.lineage?.(item) },
        variants: new Variants(),
      }),
    };
    binders.set(selection, known as unknown as Generator<object, BoundSelection>);
  }
  return known;
}

/**
 * Finds the earlier call for an item. Lists change little from run to run, so the next call is usually the one wanted;
 * the first insertion or removal builds an index.
 */
function finderOf({ items, calls }: CallList): (item: object) => Call | undefined {
  let next = 0;
  let positions: ReadonlyMap<object, number> | undefined;
  return item => {
    if (items[next] === item) return calls[next++];
    positions ??= new Map(items.map((other, i) => [other, i] as const));
    const position = positions.get(item);
    if (position === undefined) return undefined;
    next = position + 1;
    return calls[position];
  };
}
