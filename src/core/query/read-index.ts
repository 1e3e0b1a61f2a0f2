// The read index: each read that memoised entries made of the state, once, with its current value and its dependents.
//
// `moveTo` another state (newer or older) compares the states table by table, skipping tables they share; finds the
// reads that the differing keys affect; evaluates those, and reports the dependents of each read whose value changed.
// So a change costs what it affects, not the size of the state.
//
// Invariants: the value of each read here is its value at the state that the index was last moved to. So the `state`
// given to `object`, `range` and the other look-ups must be that one (a read that is made there begins with its value),
// and nothing is looked up while `moveTo` runs. A read is here while something depends on it: a sweep drops one without
// dependents, so a run adds its entry to what it read before the next slice of a sweep. Values are compared by
// identity, lists by that of their elements: a record that changes is another object.

import { type Few, forEachOf, isEmpty, withOne, without } from '../base/small-set.ts';
import { indexNames, kindNames } from '../kinds/registry.ts';
import type { MeshConfig } from '../mesh/effective.ts';
import { type FeatureName, featureOf } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { IndexName, KindName } from '../model/kind.ts';
import { type Obj, objectName } from '../model/object.ts';
import type { State } from '../state.ts';
import type { Table } from '../table.ts';

/** Reads that are evaluated, with their dependents, before a move can be interrupted. */
export const READS_PER_STEP = 8;

/**
 * One read of the state (an object, a range, a field …) with its current value. Equal reads are one object. `D` is what
 * depends on it: an Entry.
 */
export abstract class Read<D> {
  abstract value: unknown;
  #dependents: Few<D>;
  /** Id of the run that read it last, so that a run records it once. */
  lastRun = 0;

  abstract evaluate(state: State): unknown;
  /** Keys of the objects found (true) or missed (false), as `Kind/key`. */
  abstract objectKeys(): readonly (readonly [string, boolean])[];

  add(dependent: D): void {
    this.#dependents = withOne(this.#dependents, dependent);
  }

  delete(dependent: D): void {
    this.#dependents = without(this.#dependents, dependent);
  }

  forEachDependent(visit: (dependent: D) => void): void {
    forEachOf(this.#dependents, visit);
  }

  get unused(): boolean {
    return isEmpty(this.#dependents);
  }
}

/** A mesh field, a setting, a feature flag or the networks: nothing that lies in a table. */
class ValueRead<D> extends Read<D> {
  value: unknown;
  readonly #evaluate: (state: State) => unknown;

  constructor(state: State, evaluate: (state: State) => unknown) {
    super();
    this.#evaluate = evaluate;
    this.value = evaluate(state);
  }

  evaluate(state: State): unknown {
    return this.#evaluate(state);
  }

  objectKeys(): readonly [] {
    return [];
  }
}

/** The object under one key of a table. */
class KeyRead<D> extends Read<D> {
  value: Obj | undefined;
  readonly #reads: TableReads<D>;
  readonly #key: string;

  constructor(state: State, reads: TableReads<D>, key: string) {
    super();
    this.#reads = reads;
    this.#key = key;
    this.value = this.evaluate(state);
  }

  evaluate(state: State): Obj | undefined {
    return this.#reads.table(state).get(this.#key);
  }

  objectKeys(): readonly (readonly [string, boolean])[] {
    return this.value === undefined ? [[this.#reads.nameOfMiss(this.#key), false]] : [foundAs(this.value)];
  }
}

/** The objects of a table whose key begins with a prefix. */
class RangeRead<D> extends Read<D> {
  value: readonly Obj[];
  readonly #reads: TableReads<D>;
  readonly #prefix: string;

  constructor(state: State, reads: TableReads<D>, prefix: string) {
    super();
    this.#reads = reads;
    this.#prefix = prefix;
    this.value = this.evaluate(state);
  }

  evaluate(state: State): readonly Obj[] {
    return this.#reads.table(state).range(this.#prefix);
  }

  objectKeys(): readonly (readonly [string, boolean])[] {
    if (this.value.length === 0) return [[this.#reads.nameOfMiss(this.#reads.nameOfRange(this.#prefix)), false]];
    return this.value.map(foundAs);
  }
}

function foundAs(obj: Obj): readonly [string, boolean] {
  return [objectName(obj), true];
}

/** The reads of one table. */
interface TableReads<D> {
  readonly table: (state: State) => Table<Obj>;
  readonly byKey: Map<string, Read<D>>;
  readonly byPrefix: Map<string, Read<D>>;
  /** The lengths that occur in `byPrefix`: a key's prefixes are looked up by length, not compared with all. */
  prefixLengths: Set<number>;
  readonly nameOfMiss: (key: string) => string;
  readonly nameOfRange: (prefix: string) => string;
}

export class ReadIndex<D> {
  readonly #objects = {} as Record<KindName, TableReads<D>>;
  readonly #indexes = {} as Record<IndexName, TableReads<D>>;
  readonly #tables: readonly TableReads<D>[];
  readonly #mesh = new Map<keyof MeshConfig, Read<D>>();
  readonly #settings = new Map<keyof Settings, Read<D>>();
  readonly #features = new Map<FeatureName, Read<D>>();
  readonly #networks = new Map<'', Read<D>>();
  /** Reads outside tables. Bounded by the names in the program, so none is ever dropped. */
  readonly #values: readonly Map<unknown, Read<D>>[] = [this.#mesh, this.#settings, this.#features, this.#networks];
  /** Steps of moves so far. */
  steps = 0;
  /** The target of the last move, which is under way while `#move` is there. */
  #at: State | undefined;
  #move: IterableIterator<undefined, void> | undefined;

  constructor() {
    for (const kind of kindNames) {
      this.#objects[kind] = reads(
        state => state.objects[kind],
        key => `${kind}/${key}`,
        prefix => `${prefix}*`,
      );
    }
    for (const index of indexNames) {
      this.#indexes[index] = reads(
        state => state.indexes[index],
        key => `${index}/${key}`,
        prefix => prefix.slice(0, -1),
      );
    }
    this.#tables = [...Object.values<TableReads<D>>(this.#objects), ...Object.values<TableReads<D>>(this.#indexes)];
  }

  /**
   * Evaluates the affected reads at this state. `onChanged` is called with each dependent of a read whose value
   * changed, once for each such read, and looks nothing up here: other reads may still have their old values.
   *
   * `between` is called before each further READS_PER_STEP of many and may throw; nothing may be looked up then before
   * another call, for whichever state, has ended the move.
   */
  moveTo(state: State, onChanged: (dependent: D) => void, between: () => void = () => undefined): void {
    while (this.#at !== state || this.#move !== undefined) {
      const before = this.#at;
      this.#at = this.#move === undefined ? state : before;
      if (before === undefined) return;
      this.#move ??= this.#moving(before, state, onChanged);
      for (; this.#move.next().done !== true; this.steps++) between();
      this.#move = undefined;
    }
  }

  *#moving(before: State, state: State, onChanged: (dependent: D) => void): IterableIterator<undefined, void> {
    const reevaluate = (read: Read<D>): void => {
      const value = read.evaluate(state);
      if (sameElements(read.value, value)) return;
      read.value = value;
      read.forEachDependent(onChanged);
    };
    const { mesh, networks, settings } = before;
    if (mesh !== state.mesh || networks !== state.networks || settings !== state.settings) {
      for (const values of this.#values) for (const read of values.values()) reevaluate(read);
    }
    if (before.objects === state.objects && before.indexes === state.indexes) return;
    let steps = 0;
    for (const one of this.#tables) {
      for (const read of affectedReads(one, before, state)) {
        if (++steps % READS_PER_STEP === 0) yield;
        reevaluate(read);
      }
    }
  }

  object(state: State, kind: KindName, key: string): Read<D> {
    const reads = this.#objects[kind];
    const known = reads.byKey.get(key);
    if (known !== undefined) return known;
    const read = new KeyRead<D>(state, reads, key);
    reads.byKey.set(key, read);
    return read;
  }

  range(state: State, kind: KindName, prefix: string): Read<D> {
    return rangeOf(this.#objects[kind], state, prefix);
  }

  index(state: State, index: IndexName, key: string): Read<D> {
    return rangeOf(this.#indexes[index], state, `${key}|`);
  }

  mesh(state: State, field: keyof MeshConfig): Read<D> {
    return this.#mesh.get(field) ?? valueRead(this.#mesh, field, state, s => s.mesh.effective[field]);
  }

  networks(state: State): Read<D> {
    return this.#networks.get('') ?? valueRead(this.#networks, '', state, s => s.networks.effective);
  }

  setting(state: State, name: keyof Settings): Read<D> {
    return this.#settings.get(name) ?? valueRead(this.#settings, name, state, s => s.settings[name]);
  }

  feature(state: State, name: FeatureName): Read<D> {
    return this.#features.get(name) ?? valueRead(this.#features, name, state, s => featureOf(s.settings, name));
  }

  /** Drops reads without dependents. Yields after each. */
  *sweeping(): IterableIterator<undefined, void> {
    for (const one of this.#tables) {
      yield* sweepMap(one.byKey);
      yield* sweepMap(one.byPrefix);
      one.prefixLengths = new Set([...one.byPrefix.keys()].map(prefix => prefix.length));
    }
  }

  /** Reads kept, for metrics. */
  get size(): number {
    const values = this.#values.reduce((sum, { size }) => sum + size, 0);
    return this.#tables.reduce((sum, { byKey, byPrefix }) => sum + byKey.size + byPrefix.size, values);
  }
}

function* sweepMap<D>(reads: Map<unknown, Read<D>>): IterableIterator<undefined, void> {
  for (const [key, { unused }] of reads) {
    if (unused) reads.delete(key);
    yield;
  }
}

function reads<D>(
  table: (state: State) => Table<Obj>,
  nameOfMiss: (key: string) => string,
  nameOfRange: (prefix: string) => string,
): TableReads<D> {
  return { table, byKey: new Map(), byPrefix: new Map(), prefixLengths: new Set(), nameOfMiss, nameOfRange };
}

function valueRead<K, D>(values: Map<K, Read<D>>, key: K, state: State, evaluate: (state: State) => unknown): Read<D> {
  const read = new ValueRead<D>(state, evaluate);
  values.set(key, read);
  return read;
}

/** The reads of a table that the differing keys of two states can affect, each once. */
function affectedReads<D>(
  { table, byKey, byPrefix, prefixLengths }: TableReads<D>,
  before: State,
  after: State,
): ReadonlySet<Read<D>> {
  const found = new Set<Read<D>>();
  if (byKey.size === 0 && byPrefix.size === 0) return found;
  for (const key of table(before).keysUnlike(table(after))) {
    const one = byKey.get(key);
    if (one !== undefined) found.add(one);
    for (const length of prefixLengths) {
      const range = length <= key.length ? byPrefix.get(key.slice(0, length)) : undefined;
      if (range !== undefined) found.add(range);
    }
  }
  return found;
}

function rangeOf<D>(reads: TableReads<D>, state: State, prefix: string): Read<D> {
  const known = reads.byPrefix.get(prefix);
  if (known !== undefined) return known;
  const read = new RangeRead<D>(state, reads, prefix);
  reads.byPrefix.set(prefix, read);
  reads.prefixLengths.add(prefix.length);
  return read;
}

function sameElements(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => item === b[i]);
}
