// States that never were: without an object, with another version of one. Folded by the reducer as if a source had
// reported it, and nowhere recorded. A state is persistent, so a trial costs only its changes.

import type { Fact, ObjectRef, RawObject } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { rawRef } from '../core/fold/novelty.ts';
import { type ObjectRecord, objectName, partsOfName } from '../core/model/object.ts';
import type { State } from '../core/state.ts';

const noneRejected: ReadonlySet<number> = new Set();

/** The state after a fact of that source, at the time of the state. */
export function withFact(state: State, source: string, fact: Fact): State {
  return fold(state, { ...fact, source, seq: state.seq + 1, time: state.time }, noneRejected, false).state;
}

/** Every source's record of the object `Kind/namespace/name`; cluster-scoped kinds have an empty namespace. */
export function recordsOf(state: State, object: string): readonly ObjectRecord[] {
  const { kind, namespace, name } = partsOfName(object);
  return state.records.range(`${kind}|`).filter(record => {
    const meta = record.accepted ?? refOf(record);
    return meta !== undefined && meta.name === name && (meta.namespace || '') === namespace;
  });
}

/** As the record's source names it. */
export function refOf(record: ObjectRecord): ObjectRef | undefined {
  const ref = rawRef(record.raw ?? record.refused?.raw ?? {});
  if (ref === undefined) return undefined;
  return ref.namespace === '' && record.key.includes('/') && !isClusterScoped(record)
    ? { ...ref, namespace: 'default' }
    : ref;
}

function isClusterScoped(record: ObjectRecord): boolean {
  return record.accepted?.namespace === '';
}

/** `Kind/namespace/name`, by which explanations name it. */
export function objectOfRecord(record: ObjectRecord): string {
  const meta = record.accepted ?? refOf(record);
  return objectName({ kind: record.kind, namespace: meta?.namespace ?? '', name: meta?.name ?? '' });
}

export function without(state: State, record: ObjectRecord): State {
  const ref = refOf(record);
  return ref === undefined ? state : withFact(state, record.source, { kind: 'Delete', ref });
}

/** Without the object, in every source. */
export function withoutObject(state: State, object: string): State {
  return recordsOf(state, object).reduce(without, state);
}

/** With another version of the object; undefined if it would be refused. */
export function withVersion(state: State, record: ObjectRecord, object: RawObject): State | undefined {
  const next = withFact(state, record.source, { kind: 'Update', object });
  const after = next.records.get(`${record.kind}|${record.key}|${record.source}`);
  return after === undefined || after.refused !== undefined ? undefined : next;
}
