// How an object came to be as it is: the event that brought it, when, from which source and file, and who changed it
// last.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { showOrigin, showProblem } from '../core/base/problem.ts';
import type { Event } from '../core/event.ts';
import { type ObjectRecord, objectName } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import type { LastChange } from './answers.ts';
import type { History } from './history.ts';
import { recordsOf } from './what-if.ts';

/** The record in force. */
export function recordInForce(state: State, object: string): ObjectRecord | undefined {
  const records = recordsOf(state, object);
  return records.find(record => record.accepted !== undefined && isInForce(state, record)) ?? records[0];
}

function isInForce(state: State, { kind, key, accepted }: ObjectRecord): boolean {
  return state.objects[kind].get(key) === accepted;
}

export async function lastChangeOf(history: History, state: State, object: string): Promise<LastChange | undefined> {
  const record = recordInForce(state, object);
  if (record === undefined) return undefined;
  const seq = record.accepted === undefined ? (record.refused?.at ?? 0) : record.acceptedAt;
  const time =
    seq > history.journal.base().seq && seq <= history.head().seq ? (await history.event(seq)).time : undefined;
  const { refused } = record;
  return {
    object,
    seq,
    ...(time === undefined ? {} : { time }),
    source: record.source,
    origin: showOrigin(record.origin),
    manager: managerOf(record.raw ?? refused?.raw ?? {}),
    ...(refused === undefined ? {} : { refused: { seq: refused.at, problems: refused.problems.map(showProblem) } }),
  };
}

/** Who wrote last, as the API server keeps it. */
export function managerOf(raw: JsonObject): string {
  const fields = isObject(raw.metadata) ? raw.metadata.managedFields : undefined;
  if (!Array.isArray(fields)) return '';
  let last: JsonObject | undefined;
  for (const entry of fields as readonly Json[]) {
    if (isObject(entry) && (last === undefined || String(entry.time ?? '') >= String(last.time ?? ''))) last = entry;
  }
  return typeof last?.manager === 'string' ? last.manager : '';
}

/** `Kind/namespace/name` of an event's object; '' if it has none. */
export function objectOfEvent(event: Event): string {
  if (event.kind === 'Delete') return objectName(event.ref);
  if (event.kind !== 'Add' && event.kind !== 'Update') return '';
  const meta = isObject(event.object.metadata) ? event.object.metadata : {};
  const namespace = typeof meta.namespace === 'string' ? meta.namespace : '';
  return objectName({ kind: String(event.object.kind), namespace, name: String(meta.name) });
}
