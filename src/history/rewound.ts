// The state before an event of an object, as far as that object goes: its record is put back to the version before, and
// everything else stays as it is. Going back over the events of one object costs what changed in that object; the
// state of the past itself costs what changed in the mesh.
//
// The journal has no index by object: stored texts are searched for the object's name, from the event back, until the
// version before is found.

import { isObject, type Json } from '../core/base/json.ts';
import type { Event, ObjectRef } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { rawRef } from '../core/fold/novelty.ts';
import { judge } from '../core/fold/record.ts';
import { namespaceOf } from '../core/kinds/meta.ts';
import { definitionOf } from '../core/kinds/registry.ts';
import { objectName } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import { bodyOf } from '../journal/stored-body.ts';
import type { History } from './history.ts';
import { withFact } from './what-if.ts';

/** Events searched at once; doubled on the way back, up to STRETCH_MAX. */
const STRETCH_MIN = 1_024;
const STRETCH_MAX = 65_536;

const NONE: ReadonlySet<number> = new Set();

/** An event of an object of one source. */
export interface ObjectEvent {
  readonly seq: number;
  readonly source: string;
  /** `Kind/namespace/name` */
  readonly object: string;
  readonly ref: ObjectRef;
}

/**
 * `state`: one in which the event is the last of its object. Undefined: the version before the event is older than the
 * journal, which was compacted.
 */
export async function rewound(history: History, state: State, change: ObjectEvent): Promise<State | undefined> {
  const definition = definitionOf(change.ref.apiVersion, change.ref.kind);
  const absent = withFact(state, change.source, { kind: 'Delete', ref: change.ref });
  const versions: Event[] = [];
  let isComplete = history.journal.base().seq === 0;
  const rejected = await history.rejectedAfter(state.seq);
  for await (const event of eventsBefore(history, change)) {
    if (rejected.has(event.seq) || state.rejected.has(String(event.seq))) continue;
    versions.unshift(event);
    // A refused version left in force what was accepted before it.
    const isAccepted = 'object' in event && definition !== undefined && judge(definition, event).outcome === 'accepted';
    if (event.kind !== 'Delete' && !isAccepted) continue;
    isComplete = true;
    break;
  }
  return isComplete ? versions.reduce((before, event) => fold(before, event, NONE, false).state, absent) : undefined;
}

/** Of the same object and source, the newest first. */
async function* eventsBefore(history: History, { seq, source, object, ref }: ObjectEvent): AsyncIterable<Event> {
  const first = history.journal.base().seq + 1;
  const containing = `"name":${JSON.stringify(ref.name)}`;
  let stretch = STRETCH_MIN;
  for (let to = seq - 1; to >= first; ) {
    const from = Math.max(first, to - stretch + 1);
    const found: number[] = [];
    for await (const page of history.journal.records({ from, to, containing })) {
      for (const record of page) {
        if (record.source === source && objectIn(bodyOf(record, history.journal.path)) === object)
          found.push(record.seq);
      }
    }
    for (const at of found.reverse()) yield await history.event(at);
    to = from - 1;
    stretch = Math.min(STRETCH_MAX, stretch * 2);
  }
}

/** `Kind/namespace/name` as records are named, of the stored body of an Add, Update or Delete; '' if it has none. */
export function objectIn(body: Json): string {
  const ref = refIn(body);
  return ref === undefined ? '' : objectOfRef(ref);
}

export function refIn(body: Json): ObjectRef | undefined {
  if (!isObject(body)) return undefined;
  if (isObject(body.object)) return rawRef(body.object);
  return isObject(body.ref) ? (body.ref as unknown as ObjectRef) : undefined;
}

/** `Kind/namespace/name`, as records are named. */
export function objectOfRef(ref: ObjectRef): string {
  const { kind = ref.kind, clusterScoped = false } = definitionOf(ref.apiVersion, ref.kind) ?? {};
  return objectName({ kind, namespace: namespaceOf(ref.namespace, clusterScoped), name: ref.name });
}
