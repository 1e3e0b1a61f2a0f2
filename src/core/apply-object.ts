// What an object fact does: decode, validate, keep or refuse, put the object with precedence in force, index it, and ask the
// handler of its kind what has to be pushed.
//
// Per key there is one record for each source that knows it; a refused version stands beside the accepted one, which stays in force.
// Between sources a fixed precedence decides (in-force.ts), never the order of arrival (law 3).

import { isLeft } from 'fp-ts/lib/Either.js';
import type { Effect } from './effect.ts';
import type { Event, RawObject } from './event.ts';
import type { Change } from './handlers/change.ts';
import { changeHandler } from './handlers/handlers.ts';
import { inForce } from './in-force.ts';
import { canonicalJson, isObject, jsonEqual } from './json.ts';
import type { KindDefinition } from './kinds/kinds.ts';
import { decodeMeta, namespaceOf, type ObjectMeta } from './kinds/meta.ts';
import { definitionOf } from './kinds/registry.ts';
import { configKey, kubernetesKey, type Obj, type ObjectRecord } from './object.ts';
import { type Origin, type Problem, problem } from './problem.ts';
import type { Step } from './reduce.ts';
import type { State } from './state.ts';

type AddEvent = Event & { readonly kind: 'Add' | 'Update' };
type DeleteEvent = Event & { readonly kind: 'Delete' };

/** `ask`: whether the handler of the kind is asked what to push; the state is the same either way. */
export function applyObject(state: State, event: AddEvent, ask: boolean): Step {
  const outcome = decodeRecord(key => state.records.get(key), event.source, event.object, event.origin, event.seq);
  if ('problems' in outcome) return [state, [verdict(event.origin, outcome.object, outcome.problems)]];
  const { record, definition, before } = outcome;
  const shown = `${definition.kind}/${record.key}`;
  const next: State = { ...state, records: state.records.with(recordKey(record), record) };
  if (record.refused !== undefined) return [next, [verdict(event.origin, shown, record.refused.problems)]];
  const notYet = record.accepted === before?.accepted ? [] : notYetProblems(definition);
  const said = before?.refused !== undefined || notYet.length > 0;
  const effects = said ? [verdict(event.origin, shown, notYet, true)] : [];
  return settle(next, definition, record.key, event.seq, effects, ask);
}

interface DecodedRecord {
  readonly record: ObjectRecord;
  readonly definition: KindDefinition;
  readonly before: ObjectRecord | undefined;
}
interface Undecodable {
  readonly object: string;
  readonly problems: readonly Problem[];
}

/** What a source's record becomes by a new version of the object: accepted, or refused beside the accepted one. `known`: by record key. */
export function decodeRecord(
  known: (key: string) => ObjectRecord | undefined,
  source: string,
  raw: RawObject,
  origin: Origin | undefined,
  at: number,
): DecodedRecord | Undecodable {
  if (!isObject(raw))
    return { object: 'object', problems: [problem('', 'expected an object with apiVersion and kind')] };
  const definition = definitionOf(raw.apiVersion, raw.kind);
  if (definition === undefined) return unknownKind(raw);
  const meta = decodeMeta(raw, definition);
  if (isLeft(meta)) return { object: definition.kind, problems: meta.left };
  const cluster = clusterOf(source);
  const key = keyFor(definition, cluster, meta.right.namespace, meta.right.name);
  const before = known(`${definition.kind}|${key}|${source}`);
  const decoded = definition.decode(raw);
  if (isLeft(decoded)) {
    const old = before ?? { source, kind: definition.kind, key, acceptedAt: 0 };
    return { record: { ...old, refused: { at, raw, problems: decoded.left, origin } }, definition, before };
  }
  const accepted = sameObject(before?.accepted, makeObject(definition, cluster, meta.right, decoded.right));
  const record: ObjectRecord = { source, kind: definition.kind, key, accepted, raw, acceptedAt: at, origin };
  if (before === undefined || accepted !== before.accepted) return { record, definition, before };
  const same = { ...record, acceptedAt: before.acceptedAt };
  const writtenAt = jsonEqual(raw, before.raw ?? null) ? before.writtenAt : at;
  return { record: writtenAt === undefined ? same : { ...same, writtenAt }, definition, before };
}

export function removeObject(state: State, event: DeleteEvent, ask: boolean): Step {
  const definition = definitionOf(event.ref.apiVersion, event.ref.kind);
  if (definition === undefined) return [state, []];
  const key = keyOfRef(definition, event);
  const records = state.records.without(`${definition.kind}|${key}|${event.source}`);
  if (records === state.records) return [state, []];
  return settle({ ...state, records }, definition, key, event.seq, [], ask);
}

/** The record that a deletion is about; undefined for a kind unknown to Periplus. */
export function removedKey(event: DeleteEvent): string | undefined {
  const definition = definitionOf(event.ref.apiVersion, event.ref.kind);
  return definition && `${definition.kind}|${keyOfRef(definition, event)}|${event.source}`;
}

function keyOfRef(definition: KindDefinition, { ref, source }: DeleteEvent): string {
  return keyFor(definition, clusterOf(source), namespaceOf(ref.namespace, definition.clusterScoped), ref.name);
}

/** The table key of an object. */
export function keyFor(definition: KindDefinition, cluster: string, namespace: string, name: string): string {
  return definition.store === 'config' ? configKey(namespace, name) : kubernetesKey(cluster, namespace, name);
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
  ask: boolean,
): Step {
  const settled = inForce(state, definition, key);
  if (settled === undefined) return [state, effects];
  const { next, before, after } = settled;
  if (!ask) return [next, effects];
  const change: Change = { seq, kind: definition.kind, key, before, after };
  const request = changeHandler(state, next, change);
  return [next, request === undefined ? effects : [...effects, { kind: 'Push', request }]];
}

/** As in `State.records`. */
export function recordKey(record: ObjectRecord): string {
  return `${record.kind}|${record.key}|${record.source}`;
}

function makeObject(definition: KindDefinition, cluster: string, meta: ObjectMeta, spec: Obj['spec']): Obj {
  return { kind: definition.kind, cluster, ...meta, spec };
}

/** Identity is version: the old record when the new one says the same. */
function sameObject(old: Obj | undefined, now: Obj): Obj {
  return old !== undefined && jsonEqual(old as never, now as never) ? old : now;
}

function unknownKind(raw: RawObject): Undecodable {
  // Either may be anything, even an object that cannot be made a text.
  const object = [raw.apiVersion, raw.kind]
    .map(part => (typeof part === 'string' ? part : canonicalJson(part ?? null)))
    .join(' ');
  return { object, problems: [problem('', `${object} is not a kind that Periplus knows; the object is ignored`)] };
}

/** What the author of an accepted object should know. */
function notYetProblems({ kind, objectKind = kind, notYet }: KindDefinition): readonly Problem[] {
  if (notYet === undefined) return [];
  return [problem('', `accepted, but Periplus does not act on ${objectKind} yet: ${notYet}`)];
}

function verdict(origin: Origin | undefined, object: string, problems: readonly Problem[], accepted = false): Effect {
  return { kind: 'Verdict', object, origin, accepted, problems };
}
