// The read-set index: every question that memoised values asked of the state, once, with its present answer and who rests on it.
//
// Moving to another state compares the two tables by table (what they share is not looked at), finds the questions that the differing keys
// can concern, asks those again, and names the dependents of answers that are not the same. So a change costs what it touches, not what
// there is. Invariant: each answer kept here is that of the state the index is at.

import { type Few, forEachOf, isEmpty, withOne, without } from '../base/small-set.ts';
import type { IndexName, KindName } from '../kinds/kinds.ts';
import { indexNames, kindNames } from '../kinds/registry.ts';
import { type FeatureName, featureOf } from '../mesh/features.ts';
import type { MeshConfig } from '../mesh/mesh-config.ts';
import type { Settings } from '../mesh/settings.ts';
import type { Obj } from '../model/object.ts';
import type { State } from '../state.ts';
import type { Table } from '../table.ts';

/** A question and its answer. Equal questions are one object. */
export abstract class Read<D> {
  abstract seen: unknown;
  #dependents: Few<D>;
  /** The run that read it last, so that most of what is asked twice in a run is noted once. */
  lastRun = 0;

  abstract ask(state: State): unknown;
  /** The objects this read sees (true) or misses (false), as `Kind/key`. */
  abstract objects(): readonly (readonly [string, boolean])[];

  add(dependent: D): void {
    this.#dependents = withOne(this.#dependents, dependent);
  }

  delete(dependent: D): void {
    this.#dependents = without(this.#dependents, dependent);
  }

  forEachDependent(visit: (dependent: D) => void): void {
    forEachOf(this.#dependents, visit);
  }

  get idle(): boolean {
    return isEmpty(this.#dependents);
  }
}

/** A field of the mesh, a flag and the like: not made from objects. */
class ValueRead<D> extends Read<D> {
  seen: unknown;
  readonly #ask: (state: State) => unknown;

  constructor(state: State, ask: (state: State) => unknown) {
    super();
    this.#ask = ask;
    this.seen = ask(state);
  }

  ask(state: State): unknown {
    return this.#ask(state);
  }

  objects(): readonly [] {
    return [];
  }
}

/** What is under one key of a table. */
class KeyRead<D> extends Read<D> {
  seen: Obj | undefined;
  readonly #space: Space<D>;
  readonly #key: string;

  constructor(state: State, space: Space<D>, key: string) {
    super();
    this.#space = space;
    this.#key = key;
    this.seen = this.ask(state);
  }

  ask(state: State): Obj | undefined {
    return this.#space.table(state).get(this.#key);
  }

  objects(): readonly (readonly [string, boolean])[] {
    return this.seen === undefined ? [[this.#space.missed(this.#key), false]] : [seenAs(this.seen)];
  }
}

/** All keys of a table that begin alike. */
class RangeRead<D> extends Read<D> {
  seen: readonly Obj[];
  readonly #space: Space<D>;
  readonly #prefix: string;

  constructor(state: State, space: Space<D>, prefix: string) {
    super();
    this.#space = space;
    this.#prefix = prefix;
    this.seen = this.ask(state);
  }

  ask(state: State): readonly Obj[] {
    return this.#space.table(state).range(this.#prefix);
  }

  objects(): readonly (readonly [string, boolean])[] {
    if (this.seen.length === 0) return [[this.#space.missed(this.#space.nameOfRange(this.#prefix)), false]];
    return this.seen.map(seenAs);
  }
}

function seenAs(obj: Obj): readonly [string, boolean] {
  return [`${obj.kind}/${obj.namespace}/${obj.name}`, true];
}

/** The questions about one table. */
interface Space<D> {
  readonly table: (state: State) => Table<Obj>;
  readonly single: Map<string, Read<D>>;
  readonly ranges: Map<string, Read<D>>;
  /** Lengths of the prefixes in `ranges`, to find those of a key without trying all. */
  lengths: Set<number>;
  readonly missed: (key: string) => string;
  readonly nameOfRange: (prefix: string) => string;
}

export class ReadIndex<D> {
  readonly #objects = {} as Record<KindName, Space<D>>;
  readonly #indexes = {} as Record<IndexName, Space<D>>;
  readonly #spaces: readonly Space<D>[];
  readonly #mesh = new Map<keyof MeshConfig, Read<D>>();
  readonly #settings = new Map<keyof Settings, Read<D>>();
  readonly #features = new Map<FeatureName, Read<D>>();
  readonly #networks = new Map<'', Read<D>>();
  /** What is not in tables: no more than there are names, so none is ever forgotten. */
  readonly #values: readonly Map<unknown, Read<D>>[] = [this.#mesh, this.#settings, this.#features, this.#networks];
  #at: State | undefined;

  constructor() {
    for (const kind of kindNames) {
      this.#objects[kind] = space(
        state => state.objects[kind],
        key => `${kind}/${key}`,
        prefix => `${prefix}*`,
      );
    }
    for (const index of indexNames) {
      this.#indexes[index] = space(
        state => state.indexes[index],
        key => `${index}/${key}`,
        prefix => prefix.slice(0, -1),
      );
    }
    this.#spaces = [...Object.values<Space<D>>(this.#objects), ...Object.values<Space<D>>(this.#indexes)];
  }

  /** Answers are of this state from now on. `touched` is told who rests on one that is not the same as before. */
  moveTo(state: State, touched: (dependent: D) => void): void {
    const before = this.#at;
    if (before === state) return;
    this.#at = state;
    if (before === undefined) return;
    const again = (read: Read<D>): void => {
      const seen = read.ask(state);
      if (sameElements(read.seen, seen)) return;
      read.seen = seen;
      read.forEachDependent(touched);
    };
    const { mesh, networks, settings } = before;
    if (mesh !== state.mesh || networks !== state.networks || settings !== state.settings) {
      for (const values of this.#values) for (const read of values.values()) again(read);
    }
    if (before.objects === state.objects && before.indexes === state.indexes) return;
    for (const one of this.#spaces) for (const read of concerned(one, before, state)) again(read);
  }

  object(state: State, kind: KindName, key: string): Read<D> {
    const space = this.#objects[kind];
    const known = space.single.get(key);
    if (known !== undefined) return known;
    const read = new KeyRead<D>(state, space, key);
    space.single.set(key, read);
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

  /** Forgets questions that nobody rests on any more. Yields after each. */
  *sweeping(): IterableIterator<undefined, void> {
    for (const one of this.#spaces) {
      yield* sweepMap(one.single);
      yield* sweepMap(one.ranges);
      one.lengths = new Set([...one.ranges.keys()].map(prefix => prefix.length));
    }
  }

  /** Questions kept, for metrics. */
  get size(): number {
    const values = this.#values.reduce((sum, { size }) => sum + size, 0);
    return this.#spaces.reduce((sum, { single, ranges }) => sum + single.size + ranges.size, values);
  }
}

function* sweepMap<D>(reads: Map<unknown, Read<D>>): IterableIterator<undefined, void> {
  for (const [key, { idle }] of reads) {
    if (idle) reads.delete(key);
    yield;
  }
}

function space<D>(
  table: (state: State) => Table<Obj>,
  missed: (key: string) => string,
  nameOfRange: (prefix: string) => string,
): Space<D> {
  return { table, single: new Map(), ranges: new Map(), lengths: new Set(), missed, nameOfRange };
}

function valueRead<K, D>(values: Map<K, Read<D>>, key: K, state: State, ask: (state: State) => unknown): Read<D> {
  const read = new ValueRead<D>(state, ask);
  values.set(key, read);
  return read;
}

/** The questions of a space that the difference between two states can concern, each once. */
function concerned<D>({ table, single, ranges, lengths }: Space<D>, before: State, after: State): ReadonlySet<Read<D>> {
  const found = new Set<Read<D>>();
  if (single.size === 0 && ranges.size === 0) return found;
  for (const key of table(before).keysUnlike(table(after))) {
    const one = single.get(key);
    if (one !== undefined) found.add(one);
    for (const length of lengths) {
      const range = length <= key.length ? ranges.get(key.slice(0, length)) : undefined;
      if (range !== undefined) found.add(range);
    }
  }
  return found;
}

function rangeOf<D>(space: Space<D>, state: State, prefix: string): Read<D> {
  const known = space.ranges.get(prefix);
  if (known !== undefined) return known;
  const read = new RangeRead<D>(state, space, prefix);
  space.ranges.set(prefix, read);
  space.lengths.add(prefix.length);
  return read;
}

function sameElements(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => item === b[i]);
}
