// Since which event a proxy lacks something: back over the events of the objects that matter, until it is there.
//
// The way back reads versions without parsing them. Positions are tried from the newest on: a recent change is found at
// once.

import type { Event } from '../core/event.ts';
import type { UnreadVersion } from '../core/fold/record.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { CDS, RDS } from '../xds/session/types.ts';
import type { GoneSince } from './answers.ts';
import type { History } from './history.ts';
import { lastChangeOf, objectOfEvent } from './last-change.ts';
import type { Subject } from './subject.ts';

/** Earlier positions that are looked at for the event after which it was gone. */
export const POSITIONS_TRIED_MAX = 60;
/** Events read at once on the way back. */
const STRETCH = 4_096;
/** They change what a cluster or virtual host holds, never whether it is there. */
const ENDPOINT_KINDS: ReadonlySet<string> = new Set(['Endpoints', 'EndpointSlice', 'Node']);

/** Undefined: it was not there as far back as was looked. */
export async function goneSince(
  history: History,
  state: State,
  proxy: ProxyRecord,
  subject: Subject,
): Promise<GoneSince | undefined> {
  const matters = mattersTo(history, state, proxy, subject);
  let tried = 0;
  for await (const event of eventsBack(history, state.seq)) {
    if (!matters(event.object)) continue;
    if (event.seq - 1 < history.first() || ++tried > POSITIONS_TRIED_MAX) return undefined;
    const before = await history.at(event.seq - 1);
    const then = before.proxies.get(proxy.connection) ?? proxy;
    if (subject.answer(history.tracker, before, then) === undefined) continue;
    const lastChange = await lastChangeOf(history, await history.at(event.seq), event.object);
    return { ...event, ...(lastChange === undefined ? {} : { lastChange }) };
  }
  return undefined;
}

/** Whether an object may be why: it was read or looked for, or is named as the host. */
function mattersTo(history: History, state: State, proxy: ProxyRecord, subject: Subject): (object: string) => boolean {
  const { found, missed } = subject.provenance(history.tracker, state, proxy);
  const ranges = missed.filter(key => key.endsWith('*')).map(key => key.slice(0, -1));
  const known = new Set([...found, ...missed]);
  const label = subject.host?.split('.')[0];
  const isOfHost = subject.host !== undefined && (subject.typeUrl === CDS || subject.typeUrl === RDS);
  const [pod = '', namespace = ''] = proxy.facets.id.split('.');
  return object => {
    const kind = object.slice(0, object.indexOf('/'));
    if (isOfHost && ENDPOINT_KINDS.has(kind)) return false;
    if (isOfHost && kind === 'Pod' && object !== `Pod/${namespace}/${pod}`) return false;
    const isNamed = label !== undefined && object.endsWith(`/${label}`);
    return isNamed || known.has(object) || ranges.some(range => object.startsWith(range));
  };
}

/** The events of objects up to `to`, the newest first. */
async function* eventsBack(history: History, to: number): AsyncGenerator<Omit<GoneSince, 'lastChange'>> {
  const first = history.journal.base().seq + 1;
  for (let end = to; end >= first; end -= STRETCH) {
    const found: Omit<GoneSince, 'lastChange'>[] = [];
    const range = { from: Math.max(first, end - STRETCH + 1), to: end };
    for await (const page of history.journal.readUnparsed(range)) {
      for (const event of page) {
        const object = objectOf(event);
        if (object !== '') found.push({ seq: event.seq, time: event.time, object });
      }
    }
    yield* found.reverse();
  }
}

function objectOf(event: Event | UnreadVersion): string {
  if (event.kind !== 'Unread') return objectOfEvent(event);
  const { kind, namespace, name } = event.ref;
  return `${kind}/${namespace}/${name}`;
}
