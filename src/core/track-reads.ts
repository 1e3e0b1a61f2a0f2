// The read-set index: every question that memoised values asked of the state, once, with its present answer and who rests on it.
//
// Moving to another state compares the two tables by table (what they share is not looked at), finds the questions that the differing keys
// can concern, asks those again, and names the dependents of answers that are not the same. So a change costs what it touches, not what
// there is. Invariant: each answer kept here is that of the state the index is at.

import { type FeatureName, featureOf } from './features.ts';
import type { IndexName, KindName } from './kinds/kinds.ts';
import { indexNames, kindNames } from './kinds/registry.ts';
import type { MeshConfig } from './mesh.ts';
import type { Obj } from './object.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';
import type { Table } from './table.ts';

/** A question and its answer. Equal questions are one object. */
export interface Read<D> {
  seen: unknown;
  readonly ask: (state: State) => unknown;
  readonly dependents: Set<D>;
  /** The objects this read sees (true) or misses (false), as `Kind/key`. */
  readonly objects: () => readonly (readonly [string, boolean])[];
}

/** The questions about one table. */
interface Space<D> {
  readonly table: (state: State) => Table<Obj>;
  readonly single: Map<string, Read<D>>;
  readonly ranges: Map<string, Read<D>>;
  /** Lengths of the prefixes in `ranges`, to find those of a key without trying all. */
  lengths: Set<number>;
  readonly missed: (key: string) => string;
}

export class ReadIndex<D> {
  readonly #objects = {} as Record<KindName, Space<D>>;
  readonly #indexes = {} as Record<IndexName, Space<D>>;
  readonly #spaces: readonly Space<D>[];
  readonly #values = new Map<string, Read<D>>();
  #at: State | undefined;

  constructor() {
    for (const kind of kindNames) {
      this.#objects[kind] = space(
        state => state.objects[kind],
        key => `${kind}/${key}`,
      );
    }
    for (const index of indexNames) {
      this.#indexes[index] = space(
        state => state.indexes[index],
        key => `${index}/${key}`,
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
      for (const dependent of read.dependents) touched(dependent);
    };
    const { mesh, networks, settings } = before;
    if (mesh !== state.mesh || networks !== state.networks || settings !== state.settings) {
      for (const read of this.#values.values()) again(read);
    }
    if (before.objects === state.objects && before.indexes === state.indexes) return;
    for (const one of this.#spaces) for (const read of concerned(one, before, state)) again(read);
  }

  object(state: State, kind: KindName, key: string): Read<D> {
    const { single, table, missed } = this.#objects[kind];
    const known = single.get(key);
    if (known !== undefined) return known;
    const read = readOf<D>(
      state,
      s => table(s).get(key),
      () => missed(key),
    );
    single.set(key, read);
    return read;
  }

  range(state: State, kind: KindName, prefix: string): Read<D> {
    return rangeOf(this.#objects[kind], state, prefix, `${prefix}*`);
  }

  index(state: State, index: IndexName, key: string): Read<D> {
    return rangeOf(this.#indexes[index], state, `${key}|`, key);
  }

  mesh(state: State, field: keyof MeshConfig): Read<D> {
    return this.#value(state, `m ${String(field)}`, s => s.mesh.effective[field]);
  }

  networks(state: State): Read<D> {
    return this.#value(state, 'n', s => s.networks.effective);
  }

  setting(state: State, name: keyof Settings): Read<D> {
    return this.#value(state, `s ${name}`, s => s.settings[name]);
  }

  feature(state: State, name: FeatureName): Read<D> {
    return this.#value(state, `f ${name}`, s => featureOf(s.settings, name));
  }

  /** Forgets dependents that are not kept, and questions that nobody rests on any more. */
  sweep(keep: (dependent: D) => boolean): void {
    const sweepMap = (reads: Map<string, Read<D>>): void => {
      for (const [key, read] of reads) {
        for (const dependent of read.dependents) if (!keep(dependent)) read.dependents.delete(dependent);
        if (read.dependents.size === 0) reads.delete(key);
      }
    };
    sweepMap(this.#values);
    for (const one of this.#spaces) {
      sweepMap(one.single);
      sweepMap(one.ranges);
      one.lengths = new Set([...one.ranges.keys()].map(prefix => prefix.length));
    }
  }

  /** Questions kept, for metrics. */
  get size(): number {
    return this.#spaces.reduce((sum, { single, ranges }) => sum + single.size + ranges.size, this.#values.size);
  }

  #value(state: State, id: string, ask: (state: State) => unknown): Read<D> {
    const known = this.#values.get(id);
    if (known !== undefined) return known;
    const read: Read<D> = { seen: ask(state), ask, dependents: new Set(), objects: () => [] };
    this.#values.set(id, read);
    return read;
  }
}

function space<D>(table: (state: State) => Table<Obj>, missed: (key: string) => string): Space<D> {
  return { table, single: new Map(), ranges: new Map(), lengths: new Set(), missed };
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

function rangeOf<D>({ table, ranges, lengths, missed }: Space<D>, state: State, prefix: string, name: string): Read<D> {
  const known = ranges.get(prefix);
  if (known !== undefined) return known;
  const read = readOf<D>(
    state,
    s => table(s).range(prefix),
    () => missed(name),
  );
  ranges.set(prefix, read);
  lengths.add(prefix.length);
  return read;
}

function readOf<D>(
  state: State,
  ask: (state: State) => Obj | undefined | readonly Obj[],
  missed: () => string,
): Read<D> {
  const read: Read<D> = {
    seen: ask(state),
    ask,
    dependents: new Set(),
    objects: () => {
      const { seen } = read;
      const all = (seen === undefined ? [] : Array.isArray(seen) ? seen : [seen]) as readonly Obj[];
      if (all.length === 0) return [[missed(), false]];
      return all.map(obj => [`${obj.kind}/${obj.namespace}/${obj.name}`, true] as const);
    },
  };
  return read;
}

function sameElements(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => item === b[i]);
}
