// Since which event a proxy lacks something: back over the events that matter, until it is there.
//
// On the way back only the objects that matter are put back to their earlier versions (rewound.ts); the state of the
// past itself is made where that finds something, to confirm it. A state knows the last event of every object that it
// has, and only deletions and mesh configurations, which are few, are read from the journal. So a long history of
// other objects costs nothing.

import type { Json } from '../core/base/json.ts';
import type { ObjectRef } from '../core/event.ts';
import type { ObjectRecord } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import type { StoredEvent } from '../journal/journal.ts';
import { bodyOf } from '../journal/stored-body.ts';
import { CDS, RDS } from '../xds/session/types.ts';
import type { GoneSince } from './answers.ts';
import type { History } from './history.ts';
import { lastChangeOf } from './last-change.ts';
import { type ObjectEvent, objectIn, objectOfRef, refIn, rewound } from './rewound.ts';
import type { Subject } from './subject.ts';
import { objectOfRecord, refOf } from './what-if.ts';

/** Events that are tried for the one since which it is gone. */
export const EVENTS_TRIED_MAX = 200;
/** Events searched at once for deletions and mesh configurations on the way back. */
const STRETCH = 65_536;
/** They change what a cluster or virtual host holds, never whether it is there. */
const ENDPOINT_KINDS: ReadonlySet<string> = new Set(['Endpoints', 'EndpointSlice', 'Node']);
/** They make and hide only what they name: a host, or a wildcard for it. */
const HOST_KINDS: ReadonlySet<string> = new Set(['VirtualService', 'DestinationRule', 'ServiceEntry', 'WorkloadEntry']);
/** Of HOST_KINDS. */
const HOST_GROUP = 'networking.istio.io';
/** In the stored body of an object of HOST_KINDS. */
const HOST_KIND = new RegExp(`"kind":"(?:${[...HOST_KINDS].join('|')})"`);
/** Of no object, and may decide any resource. */
const MESH_KINDS: readonly string[] = ['MeshConfig', 'MeshNetworks'];

export interface GoneSearch {
  /** Undefined: it was not there from `searchedFrom` on. */
  readonly gone?: GoneSince;
  /** Undefined: the whole journal was searched. */
  readonly searchedFrom?: number;
}

export async function goneSince(
  history: History,
  state: State,
  proxy: ProxyRecord,
  subject: Subject,
): Promise<GoneSearch> {
  const matters = await mattersTo(history, state, proxy, subject);
  const others = new OtherEvents(history, state.seq, matters);
  const isThere = (then: State): boolean =>
    subject.answer(history.tracker, then, then.proxies.get(proxy.connection) ?? proxy) !== undefined;
  let after = state;
  let position = state.seq;
  for (let tried = 0; tried < EVENTS_TRIED_MAX; tried++) {
    const change = later(lastChangeIn(after, position, matters), await others.upTo(position));
    if (change === undefined) return {};
    position = change.seq - 1;
    if (position < history.first()) return {};
    const back = isOfObject(change) ? await rewound(history, after, change) : undefined;
    if (back !== undefined && !isThere(back)) {
      after = back;
      continue;
    }
    const before = await history.at(position);
    if (isThere(before)) return { gone: await goneWith(history, change) };
    after = before;
  }
  return { searchedFrom: position + 1 };
}

async function goneWith(history: History, { seq, object }: Change): Promise<GoneSince> {
  const at = await history.at(seq);
  const lastChange = object === '' ? undefined : await lastChangeOf(history, at, object);
  return { seq, object, time: at.time, ...(lastChange === undefined ? {} : { lastChange }) };
}

/** `object`: '' of an event of the mesh configuration. */
type Change = ObjectEvent | { readonly seq: number; readonly object: '' };

function isOfObject(change: Change): change is ObjectEvent {
  return 'ref' in change;
}

type Matters = (object: string) => boolean;

function later(a: Change | undefined, b: Change | undefined): Change | undefined {
  return a === undefined || (b !== undefined && b.seq > a.seq) ? b : a;
}

/** The last event up to `position` of an object that is in the state, accepted or refused. */
function lastChangeIn(state: State, position: number, matters: Matters): ObjectEvent | undefined {
  let last: ObjectEvent | undefined;
  for (const record of state.records.values()) {
    const seq = lastEventOf(record);
    if (seq <= (last?.seq ?? 0) || seq > position) continue;
    const object = objectOfRecord(record);
    const ref = matters(object) ? refOf(record) : undefined;
    if (ref !== undefined) last = { seq, object, source: record.source, ref };
  }
  return last;
}

function lastEventOf({ accepted, acceptedAt, refused }: ObjectRecord): number {
  return Math.max(accepted === undefined ? 0 : acceptedAt, refused?.at ?? 0);
}

/**
 * The events that matter and that no record of a state has: deletions of objects, and mesh configurations. From the
 * newest on, read as far back as they are asked for.
 */
class OtherEvents {
  readonly #history: History;
  readonly #matters: Matters;
  /** Ascending; those past the last question are gone. */
  #found: Change[] = [];
  /** What is before it has not been searched. */
  #searchedFrom: number;

  constructor(history: History, to: number, matters: Matters) {
    this.#history = history;
    this.#matters = matters;
    this.#searchedFrom = to + 1;
  }

  /** The last one at or before `seq`. Questions go back. */
  async upTo(seq: number): Promise<Change | undefined> {
    const { journal } = this.#history;
    const first = journal.base().seq + 1;
    for (;;) {
      while (this.#found.length > 0 && this.#found.at(-1)!.seq > seq) this.#found.pop();
      if (this.#found.length > 0 || this.#searchedFrom <= first) return this.#found.at(-1);
      const to = Math.min(this.#searchedFrom - 1, seq);
      const from = Math.max(first, to - STRETCH + 1);
      for await (const page of journal.records({ from, to, kind: ['Delete', ...MESH_KINDS] })) {
        for (const event of page) this.#found.push(...this.#changeOf(event));
      }
      this.#searchedFrom = from;
    }
  }

  #changeOf({ seq, source, kind, body }: StoredEvent): readonly Change[] {
    if (kind !== 'Delete') return [{ seq, object: '' }];
    const json = JSON.parse(body) as Json;
    const ref: ObjectRef | undefined = refIn(json);
    const object = objectIn(json);
    return ref !== undefined && this.#matters(object) ? [{ seq, source, object, ref }] : [];
  }
}

/** Whether an object may be why: it was read or looked for, or is named as the host. */
async function mattersTo(history: History, state: State, proxy: ProxyRecord, subject: Subject): Promise<Matters> {
  const { found, missed } = subject.provenance(history.tracker, state, proxy);
  const ranges = missed.filter(key => key.endsWith('*')).map(key => key.slice(0, -1));
  const known = new Set([...found, ...missed]);
  const isRead = (object: string): boolean => known.has(object) || ranges.some(range => object.startsWith(range));
  const { host } = subject;
  if (host === undefined || (subject.typeUrl !== CDS && subject.typeUrl !== RDS)) {
    const label = host?.split('.')[0];
    return object => (label !== undefined && object.endsWith(`/${label}`)) || isRead(object);
  }
  const [label = host] = host.split('.');
  const [pod = '', namespace = ''] = proxy.facets.id.split('.');
  const own = `Pod/${namespace}/${pod}`;
  // A rule for a wildcard can hide the virtual host of a service.
  const texts = [label === '*' ? host : label, ...(subject.typeUrl === RDS ? ['"*'] : [])];
  const mentioning = await objectsMentioning(history, state.seq, texts);
  return object => {
    const kind = object.slice(0, object.indexOf('/'));
    if (ENDPOINT_KINDS.has(kind) || (kind === 'Pod' && object !== own)) return false;
    const isNamed = object.endsWith(`/${label}`);
    // A Service makes clusters and virtual hosts of its own name; a gateway's listeners depend on its own Service, too.
    if (kind === 'Service' && proxy.facets.type === 'sidecar') return isNamed;
    return isNamed || (isRead(object) && (!HOST_KINDS.has(kind) || mentioning?.has(object) !== false));
  };
}

/**
 * `Kind/namespace/name` of the objects of HOST_KINDS any version of which has one of the texts, as whole words.
 * Undefined: of a compacted journal, whose first versions are in no event.
 */
async function objectsMentioning(
  history: History,
  to: number,
  texts: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const from = history.journal.base().seq + 1;
  const objects = new Set<string>();
  if (from > 1) return undefined;
  for (const containing of texts) {
    const word = new RegExp(`(?<![a-zA-Z0-9-])${containing.replaceAll(/[.*]/g, '\\$&')}(?![a-zA-Z0-9-])`);
    for await (const page of history.journal.records({ from, to, containing, group: HOST_GROUP })) {
      for (const { seq, body } of page) {
        const ref =
          HOST_KIND.test(body) && word.test(body) ? refIn(bodyOf({ seq, body }, history.journal.path)) : undefined;
        if (ref !== undefined) objects.add(objectOfRef(ref));
      }
    }
  }
  return objects;
}
