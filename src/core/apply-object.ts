// What an object fact does: decode, validate, keep or refuse, put the object with precedence in force, index it, and ask the
// handler of its kind what has to be pushed.
//
// Per key there is one record for each source that knows it; a refused version stands beside the accepted one, which stays in force.
// Between sources a fixed precedence decides (config.ts order below), never the order of arrival (law 3).

import { isLeft } from 'fp-ts/lib/Either.js';
import type { Effect } from './effect.ts';
import type { Event, ObjectRef, RawObject } from './event.ts';
import { changeHandler } from './handlers/handlers.ts';
import type { Change } from './handlers/change.ts';
import { isObject, jsonEqual } from './json.ts';
import type { IndexName, KindDefinition, KindName } from './kinds/kinds.ts';
import { definitionOf } from './kinds/registry.ts';
import { decodeMeta, type ObjectMeta } from './kinds/meta.ts';
import { compareText, configKey, kubernetesKey, type Obj, type ObjectRecord } from './object.ts';
import { type Problem, showOrigin, showProblem } from './problem.ts';
import type { Step } from './reduce.ts';
import type { State } from './state.ts';
import { Table } from './table.ts';

type AddEvent = Event & { readonly kind: 'Add' | 'Update' };
type DeleteEvent = Event & { readonly kind: 'Delete' };

export function applyObject(state: State, event: AddEvent): Step {
  const raw = event.object;
  const definition = definitionOf(raw.apiVersion, raw.kind);
  if (definition === undefined) return [state, [unknownKind(event, raw)]];
  const meta = decodeMeta(raw, definition.clusterScoped);
  if (isLeft(meta)) return [state, [verdict(event, `${definition.kind}/?`, meta.left)]];
  const cluster = clusterOf(event.source);
  const key = keyFor(definition, cluster, meta.right.namespace, meta.right.name);
  const recordKey = `${definition.kind}|${key}|${event.source}`;
  const known = state.records.get(recordKey);
  const decoded = definition.decode(raw);
  const shown = `${definition.kind}/${meta.right.namespace}/${meta.right.name}`;
  if (isLeft(decoded)) {
    const record: ObjectRecord = {
      ...(known ?? { source: event.source, kind: definition.kind, key, acceptedAt: 0 }),
      refused: { at: event.seq, problems: decoded.left, origin: event.origin },
    };
    return [{ ...state, records: state.records.with(recordKey, record) }, [verdict(event, shown, decoded.left)]];
  }
  const accepted = sameObject(known?.accepted, makeObject(definition, cluster, meta.right, decoded.right));
  const record: ObjectRecord = {
    source: event.source,
    kind: definition.kind,
    key,
    accepted,
    acceptedAt: accepted === known?.accepted ? known.acceptedAt : event.seq,
    origin: event.origin,
  };
  const effects: Effect[] = known?.refused === undefined ? [] : [verdict(event, shown, [])];
  return settle({ ...state, records: state.records.with(recordKey, record) }, definition, key, event.seq, effects);
}

export function removeObject(state: State, event: DeleteEvent): Step {
  const { ref } = event;
  const definition = definitionOf(ref.apiVersion, ref.kind);
  if (definition === undefined) return [state, []];
  const key = keyFor(definition, clusterOf(event.source), ref.namespace, ref.name);
  const records = state.records.without(`${definition.kind}|${key}|${event.source}`);
  if (records === state.records) return [state, []];
  return settle({ ...state, records }, definition, key, event.seq, []);
}

/** The table key of an object. */
export function keyFor(definition: KindDefinition, cluster: string, namespace: string, name: string): string {
  return definition.store === 'config' ? configKey(namespace, name) : kubernetesKey(cluster, namespace, name);
}

export function refOf(raw: RawObject): ObjectRef | undefined {
  const meta = raw.metadata;
  if (typeof raw.apiVersion !== 'string' || typeof raw.kind !== 'string' || !isObject(meta)) return undefined;
  if (typeof meta.name !== 'string') return undefined;
  const namespace = typeof meta.namespace === 'string' ? meta.namespace : '';
  return { apiVersion: raw.apiVersion, kind: raw.kind, namespace, name: meta.name };
}

/** The part after the first slash of a source, e.g. `Kubernetes` of `file/Kubernetes`. */
export function clusterOf(source: string): string {
  const slash = source.indexOf('/');
  return slash < 0 ? '' : source.slice(slash + 1);
}

/** Puts in force what now has precedence under a key, and lets the kind's handler compare before and after. */
function settle(
  state: State,
  definition: KindDefinition,
  key: string,
  seq: number,
  effects: readonly Effect[],
): Step {
  const { kind } = definition;
  const before = state.objects[kind].get(key);
  const after = winner(state, kind, key);
  if (before === after) return [state, effects];
  const table = after === undefined ? state.objects[kind].without(key) : state.objects[kind].with(key, after);
  const next: State = {
    ...state,
    objects: { ...state.objects, [kind]: table },
    indexes: reindex(state, definition, key, before, after),
  };
  const change: Change = { seq, kind, key, before, after };
  const request = changeHandler(state, next, change);
  return [next, request === undefined ? effects : [...effects, { kind: 'Push', request }]];
}

/** Sources in fixed precedence: by name of the adapter, then of the cluster; the first with an accepted version wins. */
function winner(state: State, kind: KindName, key: string): Obj | undefined {
  const records = state.records.range(`${kind}|${key}|`).filter(record => record.accepted !== undefined);
  return [...records].sort((a, b) => compareText(a.source, b.source))[0]?.accepted;
}

function reindex(
  state: State,
  definition: KindDefinition,
  key: string,
  before: Obj | undefined,
  after: Obj | undefined,
): State['indexes'] {
  const old = before === undefined ? {} : definition.indexes(before);
  const now = after === undefined ? {} : definition.indexes(after);
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].sort() as IndexName[];
  if (names.length === 0) return state.indexes;
  const indexes: { [I in IndexName]: Table<Obj> } = { ...state.indexes };
  for (const name of names) {
    let table = indexes[name];
    for (const entry of old[name] ?? []) table = table.without(`${entry}|${key}`);
    if (after !== undefined) for (const entry of now[name] ?? []) table = table.with(`${entry}|${key}`, after);
    indexes[name] = table;
  }
  return indexes;
}

function makeObject(
  definition: KindDefinition,
  cluster: string,
  meta: ObjectMeta,
  spec: Obj['spec'],
): Obj {
  return { kind: definition.kind, cluster, ...meta, spec };
}

/** Identity is version: the old record when the new one says the same. */
function sameObject(old: Obj | undefined, now: Obj): Obj {
  return old !== undefined && jsonEqual(old as never, now as never) ? old : now;
}

function unknownKind(event: AddEvent, raw: RawObject): Effect {
  const what = `${String(raw.apiVersion)} ${String(raw.kind)}`;
  return verdict(event, what, [{ path: '', message: `${what} is not a kind that Periplus knows; the object is ignored` }]);
}

function verdict(event: AddEvent, object: string, problems: readonly Problem[]): Effect {
  return {
    kind: 'Verdict',
    object,
    origin: showOrigin(event.origin),
    accepted: problems.length === 0,
    messages: problems.map(showProblem),
  };
}
