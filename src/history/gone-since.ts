// Since which event a proxy lacks something: back over the events of the objects that matter, until it is there.
//
// The way back needs no look at the events between: a state knows the last event of every object that it has, and only
// deletions, which are short, are read from the journal. So a recent change is found at once, and a long history of
// other objects costs nothing.

import { isObject, type Json } from '../core/base/json.ts';
import { definitionOf } from '../core/kinds/registry.ts';
import type { ObjectRecord } from '../core/model/object.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { State } from '../core/state.ts';
import { CDS, RDS } from '../xds/session/types.ts';
import type { GoneSince } from './answers.ts';
import type { History } from './history.ts';
import { lastChangeOf } from './last-change.ts';
import type { Subject } from './subject.ts';
import { objectOfRecord } from './what-if.ts';

/** Earlier positions that are looked at for the event after which it was gone. */
export const POSITIONS_TRIED_MAX = 24;
/** Events searched at once for deletions on the way back. */
const STRETCH = 65_536;
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
  const deletions = new Deletions(history, state.seq, matters);
  let after = state;
  for (let tried = 0; tried < POSITIONS_TRIED_MAX; tried++) {
    const change = later(lastChangeIn(after, matters), await deletions.upTo(after.seq));
    if (change === undefined || change.seq - 1 < history.first()) return undefined;
    const before = await history.at(change.seq - 1);
    const then = before.proxies.get(proxy.connection) ?? proxy;
    if (subject.answer(history.tracker, before, then) !== undefined) {
      const at = await history.at(change.seq);
      const lastChange = await lastChangeOf(history, at, change.object);
      return { ...change, time: at.time, ...(lastChange === undefined ? {} : { lastChange }) };
    }
    after = before;
  }
  return undefined;
}

/** An event of an object. */
interface Change {
  readonly seq: number;
  readonly object: string;
}

type Matters = (object: string) => boolean;

function later(a: Change | undefined, b: Change | undefined): Change | undefined {
  return a === undefined || (b !== undefined && b.seq > a.seq) ? b : a;
}

/** The last event of an object that is in the state, accepted or refused. */
function lastChangeIn(state: State, matters: Matters): Change | undefined {
  let last: Change | undefined;
  for (const record of state.records.values()) {
    const seq = lastEventOf(record);
    if (seq <= (last?.seq ?? 0)) continue;
    const object = objectOfRecord(record);
    if (matters(object)) last = { seq, object };
  }
  return last;
}

function lastEventOf({ accepted, acceptedAt, refused }: ObjectRecord): number {
  return Math.max(accepted === undefined ? 0 : acceptedAt, refused?.at ?? 0);
}

/** The deletions of objects that matter, from the newest on, read as far back as they are asked for. */
class Deletions {
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
    const first = this.#history.journal.base().seq + 1;
    for (;;) {
      while (this.#found.length > 0 && this.#found.at(-1)!.seq > seq) this.#found.pop();
      if (this.#found.length > 0 || this.#searchedFrom <= first) return this.#found.at(-1);
      const to = Math.min(this.#searchedFrom - 1, seq);
      const from = Math.max(first, to - STRETCH + 1);
      for await (const page of this.#history.journal.records({ from, to, kind: 'Delete' })) {
        for (const event of page) {
          const object = objectNamedIn(JSON.parse(event.body) as Json);
          if (this.#matters(object)) this.#found.push({ seq: event.seq, object });
        }
      }
      this.#searchedFrom = from;
    }
  }
}

/** `body`: of a deletion. The name is that of the object's record. */
function objectNamedIn(body: Json): string {
  const ref = isObject(body) && isObject(body.ref) ? body.ref : {};
  const { kind = String(ref.kind), clusterScoped = false } = definitionOf(ref.apiVersion, ref.kind) ?? {};
  const namespace = clusterScoped ? '' : String(ref.namespace) || 'default';
  return `${kind}/${namespace}/${String(ref.name)}`;
}

/** Whether an object may be why: it was read or looked for, or is named as the host. */
function mattersTo(history: History, state: State, proxy: ProxyRecord, subject: Subject): Matters {
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
    // A Service makes clusters and virtual hosts of its own name; a gateway's listeners depend on its own Service, too.
    if (isOfHost && kind === 'Service' && proxy.facets.type === 'sidecar') return isNamed;
    return isNamed || known.has(object) || ranges.some(range => object.startsWith(range));
  };
}
