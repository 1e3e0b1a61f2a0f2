// The table of wishes as a user reads it: what Periplus wants to be written, whether this state's objects have it
// already, and who may write it.

import { allWishes } from '../admission/wishes/table.ts';
import { canonicalJson, type Json, type JsonObject } from '../core/base/json.ts';
import { keyFor } from '../core/fold/record.ts';
import type { KindDefinition } from '../core/kinds/definition.ts';
import { definitions } from '../core/kinds/registry.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { lockName } from '../core/wishes/elections.ts';
import { planOf } from '../core/wishes/plan.ts';
import type { WishTable } from '../core/wishes/table.ts';
import { showTarget, type Wish } from '../core/wishes/wish.ts';

export interface WishRow {
  readonly cluster: string;
  readonly target: string;
  readonly manager: string;
  /** `fulfilled`, `create`, `merge`, `apply`, `delete`; `unknown` for statuses, which no state holds. */
  readonly plan: string;
  /** The lock whose holder writes it; null: every replica. */
  readonly lock: string | null;
  /** True if the state says that its process holds the lock. */
  readonly leads: boolean;
  /** Why the API server refused it last; null: it did not. */
  readonly refused: string | null;
  /** null: the object is to be absent. */
  readonly fields: Json;
}

export interface WishReport {
  readonly wishes: readonly WishRow[];
  readonly clashes: readonly string[];
}

/** In the order of the table. */
export function wishReport(state: State, table: WishTable = tableAt(state)): WishReport {
  const refused = new Map<string, string>();
  for (const { spec } of state.objects.WriteRefusal.values()) {
    const { target, reason } = spec as { readonly target: string; readonly reason: string };
    refused.set(target, reason);
  }
  return { wishes: table.wishes.map(wish => rowOf(state, wish, refused)), clashes: table.clashes };
}

export function wishReportJson({ wishes, clashes }: WishReport): Json {
  return JSON.parse(canonicalJson({ wishes, clashes } as unknown as Json)) as Json;
}

function tableAt(state: State): WishTable {
  return new Tracker().get(state, undefined, allWishes, '');
}

function rowOf(state: State, wish: Wish, refused: ReadonlyMap<string, string>): WishRow {
  const { cluster, manager, gate, fields, subresource } = wish;
  const target = showTarget(wish);
  const lock = gate === undefined ? null : lockName(gate, state.settings.revision);
  const definition: KindDefinition = definitions[wish.kind] as KindDefinition;
  const apiVersion = [definition.group, definition.versions[0]].filter(part => part !== '').join('/');
  const { kind, why } = {
    why: '',
    ...planOf(wish, observed(state, wish, definition), apiVersion, definition.objectKind ?? wish.kind),
  };
  return {
    cluster,
    target,
    manager,
    plan: subresource !== '' ? 'unknown' : kind === 'none' ? why : kind,
    lock,
    leads: lock === null || state.objects.Leadership.has(`${cluster}/${lock}`),
    refused: refused.get(target) ?? null,
    fields: fields ?? null,
  };
}

/** The object as its source said it, the cluster before files. */
function observed(
  state: State,
  { kind, cluster, namespace, name }: Wish,
  definition: KindDefinition,
): JsonObject | undefined {
  const key = keyFor(definition, cluster, namespace, name);
  const known = [...state.records.range(`${kind}|${key}|`)];
  return (known.find(({ source }) => source === `kube/${cluster}`) ?? known[0])?.raw;
}
