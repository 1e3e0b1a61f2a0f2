// State: the result of folding the journal. A small root of records above persistent tables; every version stays valid
// for ever.

import type { Json } from './base/json.ts';
import type { Origin } from './base/problem.ts';
import type { NameLists } from './fold/name-lists.ts';
import { indexNames, kindNames } from './kinds/registry.ts';
import type { MeshConfig, MeshNetworks } from './mesh/effective.ts';
import type { Applied } from './mesh/mesh-config.ts';
import { defaultMeshConfig, defaultMeshNetworks } from './mesh/mesh-defaults.ts';
import { defaultSettings, type Settings } from './mesh/settings.ts';
import type { IndexName, KindName } from './model/kind.ts';
import type { Obj, ObjectRecord } from './model/object.ts';
import type { ProxyRecord } from './model/proxy.ts';
import type { WorldPosition } from './model/world-position.ts';
import { Table } from './table.ts';

export type Objects = { readonly [K in KindName]: Table<Obj> };

/** As InputMalformed has it. */
export interface MalformedFile {
  readonly origin: Origin;
  readonly reasons: readonly string[];
  readonly ignored?: readonly string[];
  readonly at: number;
}

export interface State {
  readonly seq: number;
  /** Recorded time of the last event, ms since the epoch. */
  readonly time: number;
  readonly settings: Settings;
  readonly mesh: Applied<MeshConfig>;
  readonly networks: Applied<MeshNetworks>;
  /** The objects in force, one a key: of several sources the one with precedence. */
  readonly objects: Objects;
  /** index → `<index key>|<object key>` → object */
  readonly indexes: { readonly [I in IndexName]: Table<Obj> };
  /** `Kind|key|source` → that source's record. */
  readonly records: Table<ObjectRecord>;
  /** `source|file` → documents that are no object of ours. */
  readonly malformed: Table<MalformedFile>;
  /** source → seq of its first complete list. */
  readonly synced: Table<number>;
  readonly interned: Table<Json>;
  readonly proxies: Table<ProxyRecord>;
  /** digest → names that subscriptions share: see name-lists.ts. */
  readonly nameLists: NameLists;
  /** seqs that replay skips, with our assertion's message. */
  readonly rejected: Table<string>;
  /** Absent: no log is shared with other replicas. */
  readonly worldLog?: WorldPosition;
}

function tables<N extends string>(names: readonly N[]): { readonly [K in N]: Table<Obj> } {
  return Object.fromEntries(names.map(name => [name, Table.empty<Obj>()])) as { readonly [K in N]: Table<Obj> };
}

export const emptyState: State = {
  seq: 0,
  time: 0,
  settings: defaultSettings,
  mesh: { effective: defaultMeshConfig, raw: undefined, at: 0 },
  networks: { effective: defaultMeshNetworks, raw: undefined, at: 0 },
  objects: tables(kindNames),
  indexes: tables(indexNames),
  records: Table.empty(),
  malformed: Table.empty(),
  synced: Table.empty(),
  interned: Table.empty(),
  proxies: Table.empty(),
  nameLists: Table.empty(),
  rejected: Table.empty(),
};
