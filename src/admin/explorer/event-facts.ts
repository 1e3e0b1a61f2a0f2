// What the timeline's index keeps of an event, read out of its stored text: whom it is about and who wrote it. Most
// events are versions of objects, so those are not parsed: the members are looked up in the canonical text.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import { managerOf } from '../../history/last-change.ts';
import type { StoredEvent } from '../../journal/journal.ts';
import { objectRefIn } from '../../journal/object-ref.ts';
import { bodyOf } from '../../journal/stored-body.ts';
import { rulesOf } from '../../xds/session/types.ts';

export interface EventFacts {
  /** `Kind/namespace/name` of an object; of other events a connection, a type, a file or nothing. */
  readonly subject: string;
  readonly isObject: boolean;
  readonly namespace: string;
  readonly manager: string;
}

const NOTHING: EventFacts = { subject: '', isObject: false, namespace: '', manager: '' };
const MANAGED = '"managedFields":[';
/** Members of an entry in canonical order; `fieldsV1` stands before and cannot hold this text outside of a string. */
const ENTRY =
  /"manager":"((?:[^"\\]|\\.)*)"(?:,"operation":"[^"\\]*")?(?:,"subresource":"[^"\\]*")?(?:,"time":"([^"\\]*)")?\}/g;
/** As the xDS server names connections: the id of the node and a number of the process. */
const CONNECTION = /^[^.]+\.([a-z0-9-]+?)-[0-9]+(?:-[0-9a-f]+-[0-9]+)?$/;

export function eventFacts(event: Pick<StoredEvent, 'seq' | 'kind' | 'body'>): EventFacts {
  switch (event.kind) {
    case 'Add':
    case 'Update':
      return ofObject(event);
    case 'Delete':
      return ofRef(bodyOf(event).ref);
    case 'Receipt':
      return { ...NOTHING, subject: typeIn(event.body) };
    default:
      return ofOther(bodyOf(event));
  }
}

function ofObject(event: Pick<StoredEvent, 'seq' | 'body'>): EventFacts {
  const { body } = event;
  const ref = objectRefIn(body);
  if (ref === undefined) {
    const { object } = bodyOf(event);
    if (!isObject(object)) return NOTHING;
    const meta = isObject(object.metadata) ? object.metadata : {};
    const names = { kind: object.kind, namespace: meta.namespace, name: meta.name };
    return { ...ofRef(names), manager: managerOf(object) };
  }
  return { ...ofRef({ ...ref }), manager: lastManager(body) };
}

function ofRef(ref: unknown): EventFacts {
  if (!isObject(ref)) return NOTHING;
  const { kind, namespace, name } = ref;
  const given = typeof namespace === 'string' ? namespace : '';
  return { ...NOTHING, subject: `${String(kind)}/${given}/${String(name)}`, isObject: true, namespace: given };
}

/** As managerOf: the entry with the latest time, of equal ones the last. */
function lastManager(body: string): string {
  const start = body.indexOf(MANAGED);
  if (start < 0) return '';
  // A name follows in every metadata; within managed fields there is no such text, since quotes are escaped there.
  const end = body.indexOf('],"name":', start);
  let [found, latest] = ['', ''];
  for (const [, manager = '', time = ''] of body.slice(start, end < 0 ? undefined : end).matchAll(ENTRY)) {
    if (time >= latest) [found, latest] = [manager, time];
  }
  return found.includes('\\') ? String(JSON.parse(`"${found}"`)) : found;
}

function typeIn(body: string): string {
  const match = /"typeUrl":"([^"\\]*)"\}$/.exec(body);
  return match === null ? '' : rulesOf(match[1]!).short;
}

function ofOther({ connection, origin, name }: JsonObject): EventFacts {
  if (typeof connection === 'string') {
    return { ...NOTHING, subject: connection, namespace: CONNECTION.exec(connection)?.[1] ?? '' };
  }
  if (isObject(origin)) return { ...NOTHING, subject: String(origin.file) };
  return typeof name === 'string' ? { ...NOTHING, subject: name } : NOTHING;
}
