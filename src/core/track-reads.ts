// Reads of the state as data: what was asked, what was seen, and whether asking again would give the same.

import { type FeatureName, featureOf } from './features.ts';
import type { IndexName, KindName } from './kinds/kinds.ts';
import type { MeshConfig } from './mesh.ts';
import type { Obj } from './object.ts';
import type { Settings } from './settings.ts';
import type { State } from './state.ts';
import type { Table } from './table.ts';

export interface Read {
  /** Names the question: equal ids are the same question. */
  readonly id: string;
  readonly seen: unknown;
  /** The table looked into, as it was when `seen` was last confirmed; an untouched table needs no look. */
  table: Table<Obj> | undefined;
  readonly tableNow: (state: State) => Table<Obj> | undefined;
  readonly again: (state: State) => unknown;
  /** The objects this read saw (true) or missed (false), as `Kind/key`. */
  readonly objects: () => readonly (readonly [string, boolean])[];
}

export function readStillHolds(read: Read, state: State): boolean {
  const table = read.tableNow(state);
  if (table !== undefined && table === read.table) return true;
  if (!sameElements(read.seen, read.again(state))) return false;
  read.table = table;
  return true;
}

function sameElements(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
  return a.every((item, i) => item === b[i]);
}

const nothing = (): readonly (readonly [string, boolean])[] => [];
const noTable = (): undefined => undefined;

function tableRead(
  id: string,
  state: State,
  tableNow: (state: State) => Table<Obj>,
  look: (table: Table<Obj>) => Obj | undefined | readonly Obj[],
  missed: string,
): Read {
  const table = tableNow(state);
  const seen = look(table);
  return {
    id,
    seen,
    table,
    tableNow,
    again: later => look(tableNow(later)),
    objects: () => {
      const all: readonly Obj[] = seen === undefined ? [] : Array.isArray(seen) ? seen : [seen as Obj];
      if (all.length === 0) return [[missed, false]];
      return all.map(obj => [`${obj.kind}/${obj.namespace}/${obj.name}`, true] as const);
    },
  };
}

function valueRead(id: string, state: State, look: (state: State) => unknown): Read {
  return { id, seen: look(state), table: undefined, tableNow: noTable, again: look, objects: nothing };
}

/** Asks the state now, and keeps the question. */
export const readNow = {
  object: (state: State, kind: KindName, key: string): Read =>
    tableRead(
      `o ${kind} ${key}`,
      state,
      s => s.objects[kind],
      t => t.get(key),
      `${kind}/${key}`,
    ),
  range: (state: State, kind: KindName, prefix: string): Read =>
    tableRead(
      `r ${kind} ${prefix}`,
      state,
      s => s.objects[kind],
      t => t.range(prefix),
      `${kind}/${prefix}*`,
    ),
  index: (state: State, index: IndexName, key: string): Read =>
    tableRead(
      `i ${index} ${key}`,
      state,
      s => s.indexes[index],
      t => t.range(`${key}|`),
      `${index}/${key}`,
    ),
  mesh: (state: State, field: keyof MeshConfig): Read =>
    valueRead(`m ${String(field)}`, state, s => s.mesh.effective[field]),
  networks: (state: State): Read => valueRead('n', state, s => s.networks.effective),
  setting: (state: State, name: keyof Settings): Read => valueRead(`s ${name}`, state, s => s.settings[name]),
  feature: (state: State, name: FeatureName): Read => valueRead(`f ${name}`, state, s => featureOf(s.settings, name)),
};
