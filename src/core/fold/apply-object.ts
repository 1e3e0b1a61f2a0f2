// Applies an object fact: decode, validate, accept or refuse, put the object with precedence in force, index it, and
// call the handler of its kind for the push request.
//
// Per key there is one record for each source that knows it; a refused version stands beside the accepted one, which
// stays in force. Between sources a fixed precedence decides (in-force.ts), never the order of arrival (law 3).

import { type Origin, type Problem, problem } from '../base/problem.ts';
import type { Effect } from '../effect.ts';
import type { Event } from '../event.ts';
import type { Change } from '../handlers/change.ts';
import { changeHandler } from '../handlers/handlers.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { namespaceOf } from '../kinds/meta.ts';
import { definitionOf, definitions } from '../kinds/registry.ts';
import type { KindName } from '../model/kind.ts';
import type { Obj, ObjectRecord } from '../model/object.ts';
import type { State } from '../state.ts';
import { putInForce } from './in-force.ts';
import { clusterOf, decodeRecord, keyFor, recordKey } from './record.ts';
import type { Reduced } from './reduced.ts';

/** Added to every message about a refused object that has a stand-in. */
export function standInText({ kind, spec }: Obj<KindName>): string {
  const { standIn }: KindDefinition = definitions[kind];
  return standIn === undefined ? '' : `until a version is accepted, ${standIn.effect(spec)}`;
}

type AddEvent = Event & { readonly kind: 'Add' | 'Update' };
type DeleteEvent = Event & { readonly kind: 'Delete' };

/** `ask`: call the handler of the kind for a push request; the state is the same either way. */
export function applyObject(state: State, event: AddEvent, ask: boolean): Reduced {
  const outcome = decodeRecord(key => state.records.get(key), event);
  if ('problems' in outcome) return [state, [verdict(event.origin, outcome.object, outcome.problems)]];
  const { record, definition, before } = outcome;
  const shown = `${definition.kind}/${record.key}`;
  const next: State = {
    ...state,
    records: state.records.with(recordKey(definition.kind, record.key, event.source), record),
  };
  if (record.refused !== undefined) {
    const effects = [verdict(event.origin, shown, [...record.refused.problems, ...standInProblems(record)])];
    return record.accepted === undefined
      ? settle(next, definition, record.key, event.seq, effects, ask)
      : [next, effects];
  }
  const notYet = record.accepted === before?.accepted ? [] : notYetProblems(definition);
  const hasNews = before?.refused !== undefined || notYet.length > 0;
  const effects = hasNews ? [verdict(event.origin, shown, notYet, true)] : [];
  return settle(next, definition, record.key, event.seq, effects, ask);
}

export function removeObject(state: State, event: DeleteEvent, ask: boolean): Reduced {
  const definition = definitionOf(event.ref.apiVersion, event.ref.kind);
  if (definition === undefined) return [state, []];
  const key = keyOfRef(definition, event);
  const records = state.records.without(recordKey(definition.kind, key, event.source));
  if (records === state.records) return [state, []];
  return settle({ ...state, records }, definition, key, event.seq, [], ask);
}

function keyOfRef(definition: KindDefinition, { ref, source }: DeleteEvent): string {
  return keyFor(definition, clusterOf(source), namespaceOf(ref.namespace, definition.clusterScoped), ref.name);
}

/** Puts in force what now has precedence under a key, and lets the kind's handler compare before and after. */
function settle(
  state: State,
  definition: KindDefinition,
  key: string,
  seq: number,
  effects: readonly Effect[],
  ask: boolean,
): Reduced {
  const settled = putInForce(state, definition, key);
  if (settled === undefined) return [state, effects];
  const { next, before, after } = settled;
  if (!ask) return [next, effects];
  const change: Change = { seq, kind: definition.kind, key, before, after };
  const request = changeHandler(state, next, change);
  return [next, request === undefined ? effects : [...effects, { kind: 'Push', request }]];
}

/** Warning to the author of a refused object: something of it is in force. */
function standInProblems({ standIn }: ObjectRecord): readonly Problem[] {
  return standIn === undefined ? [] : [problem('', standInText(standIn))];
}

/** Warnings to the author of an accepted object. */
function notYetProblems({ kind, objectKind = kind, notYet }: KindDefinition): readonly Problem[] {
  if (notYet === undefined) return [];
  return [problem('', `accepted, but Periplus does not act on ${objectKind} yet: ${notYet}`)];
}

function verdict(origin: Origin | undefined, object: string, problems: readonly Problem[], accepted = false): Effect {
  return { kind: 'Verdict', object, origin, accepted, problems };
}
