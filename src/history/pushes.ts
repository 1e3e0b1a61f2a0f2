// What was sent and what was refused, explained: a receipt names the state that a response was made from, so what was
// new in it is what differs from the receipt before, and why is in the events between the two states.

import type { JsonObject } from '../core/base/json.ts';
import type { Event, PushReceipt } from '../core/event.ts';
import { fold } from '../core/fold/fold-event.ts';
import { mergePushRequests, noPush, type PushRequest } from '../core/push-request.ts';
import type { State } from '../core/state.ts';
import { resourceSources } from '../xds/assemble/types.ts';
import type { EncodedResource } from '../xds/engine/encode.ts';
import { Engine } from '../xds/engine/engine.ts';
import { blamedNames } from '../xds/session/blame.ts';
import { toProtoJson } from '../xds/wire/protojson.ts';
import type { NackExplanation, PushCause, PushExplanation, PushedResource } from './answers.ts';
import type { History } from './history.ts';
import { HistoryFault } from './history-fault.ts';
import { jsonDiff } from './json-diff.ts';
import { managerOf, objectOfEvent } from './last-change.ts';
import { withoutPrivateKeys } from './private-fields.ts';
import { refusalReason } from './refusal-reason.ts';

/** Resources of one response whose differences are looked into; the rest is named. */
export const RESOURCES_COMPARED_MAX = 50;

type Receipt = Event & PushReceipt;

/** `seq`: of a receipt. Rejects with a HistoryFault if it is none. */
export async function explainPush(history: History, seq: number): Promise<PushExplanation> {
  const event = await history.event(seq);
  if (event.kind !== 'Receipt') {
    throw new HistoryFault(
      `event ${seq} is ${event.kind}, not a Receipt; \`periplus journal ls --kind Receipt\` lists what was pushed`,
    );
  }
  return pushOf(history, event);
}

/** `seq`: of a NACK; undefined: the last one, of the proxy if that is given by a part of its connection. */
export async function explainNack(history: History, seq: number | undefined, proxy?: string): Promise<NackExplanation> {
  const nack = seq === undefined ? await lastNack(history, proxy) : await history.event(seq);
  if (nack?.kind !== 'ProxyNacked') {
    const which = seq === undefined ? 'the journal has no NACK' : `event ${seq} is no NACK`;
    throw new HistoryFault(
      `${which}${proxy === undefined ? '' : ` of ${proxy}`}; \`periplus journal ls --kind ProxyNacked\` lists them`,
    );
  }
  const receipt = await lastReceipt(history, nack.connection, nack.typeUrl, nack.seq - 1);
  const push = receipt === undefined ? undefined : await pushOf(history, receipt, nack.connection);
  const names =
    push === undefined ? [] : push.resources.filter(({ change }) => change !== 'removed').map(({ name }) => name);
  return {
    seq: nack.seq,
    time: nack.time,
    connection: nack.connection,
    typeUrl: nack.typeUrl,
    message: nack.message.trim(),
    reason: refusalReason(nack.message),
    blamed: blamedNames(nack.message, names),
    ...(push === undefined ? {} : { push }),
  };
}

async function pushOf(
  history: History,
  receipt: Receipt,
  connection = receipt.connections[0] ?? '',
): Promise<PushExplanation> {
  const { seq, time, typeUrl, connections, stateSeq } = receipt;
  const before = await lastReceipt(history, connection, typeUrl, seq - 1);
  const engine = new Engine(resourceSources, history.tracker);
  const now = await history.at(stateSeq);
  const then = before === undefined ? undefined : await history.at(before.stateSeq);
  const [left, right] = [heldAt(engine, then, connection, typeUrl), heldAt(engine, now, connection, typeUrl)];
  const causes = then === undefined ? [] : await causesBetween(history, then, stateSeq);
  const names = [...new Set([...left.keys(), ...right.keys()])].sort();
  const different = names.filter(name => left.get(name)?.version !== right.get(name)?.version);
  const changed = new Set(causes.map(({ object }) => object));
  const resources = different.map((name, i): PushedResource => {
    const [old, made] = [left.get(name), right.get(name)];
    const compared = i < RESOURCES_COMPARED_MAX && old !== undefined && made !== undefined;
    return {
      name,
      change: old === undefined ? 'added' : made === undefined ? 'removed' : 'changed',
      changes: compared ? jsonDiff(jsonOf(old), jsonOf(made)) : [],
      because: i < RESOURCES_COMPARED_MAX ? becauseOf(engine, now, then, { connection, typeUrl, name }, changed) : [],
    };
  });
  return {
    seq,
    time,
    typeUrl,
    connections,
    stateSeq,
    ...(before === undefined ? {} : { previousStateSeq: before.stateSeq }),
    resources,
    unchanged: names.length - different.length,
    bytes: different.reduce((sum, name) => sum + (right.get(name)?.size ?? 0), 0),
    causes,
  };
}

function heldAt(
  engine: Engine,
  state: State | undefined,
  connection: string,
  typeUrl: string,
): ReadonlyMap<string, EncodedResource> {
  const proxy = state?.proxies.get(connection);
  const subscription = proxy?.subscriptions[typeUrl];
  if (state === undefined || proxy === undefined || subscription === undefined) return new Map();
  return engine.resourcesFor(state, proxy, typeUrl, subscription)?.resources ?? new Map();
}

function jsonOf({ body }: EncodedResource): JsonObject {
  return withoutPrivateKeys(toProtoJson('google.protobuf.Any', body)) as JsonObject;
}

function becauseOf(
  engine: Engine,
  now: State,
  then: State | undefined,
  { connection, typeUrl, name }: { readonly connection: string; readonly typeUrl: string; readonly name: string },
  changed: ReadonlySet<string>,
): readonly string[] {
  const read = new Set<string>();
  for (const state of [now, then]) {
    const proxy = state?.proxies.get(connection);
    if (state === undefined || proxy === undefined) continue;
    const provenance = engine.provenance(state, proxy, typeUrl, name);
    for (const object of provenance?.found ?? []) if (changed.has(object)) read.add(object);
    for (const object of provenance?.missed ?? []) if (changed.has(object)) read.add(object);
  }
  return [...read].sort();
}

/** Events after `from` up to `to` that requested a push. */
async function causesBetween(history: History, from: State, to: number): Promise<readonly PushCause[]> {
  const causes: PushCause[] = [];
  let state = from;
  if (from.seq >= to) return causes;
  const rejected = await history.rejectedAfter(from.seq);
  for await (const page of history.events(from.seq + 1, to)) {
    for (const event of page) {
      const folded = fold(state, event, rejected);
      state = folded.state;
      let request: PushRequest = noPush;
      for (const effect of folded.effects)
        if (effect.kind === 'Push') request = mergePushRequests(request, effect.request);
      if (request === noPush) continue;
      causes.push({
        seq: event.seq,
        time: event.time,
        kind: event.kind,
        object: objectOfEvent(event),
        source: event.source,
        manager: event.kind === 'Add' || event.kind === 'Update' ? managerOf(event.object) : '',
        reasons: Object.keys(request.reasons),
      });
    }
  }
  return causes;
}

async function lastReceipt(
  history: History,
  connection: string,
  typeUrl: string,
  to: number,
): Promise<Receipt | undefined> {
  for await (const event of backwards(history, to)) {
    if (event.kind === 'Receipt' && event.typeUrl === typeUrl && event.connections.includes(connection)) return event;
    if (event.kind === 'ProxyConnected' && event.connection === connection) return undefined;
  }
  return undefined;
}

async function lastNack(history: History, proxy: string | undefined): Promise<Event | undefined> {
  const seqs = await history.journal.seqsOf('ProxyNacked', { from: 1 });
  for (const seq of [...seqs].reverse()) {
    const event = await history.event(seq);
    if (event.kind === 'ProxyNacked' && (proxy === undefined || event.connection.includes(proxy))) return event;
  }
  return undefined;
}

/** Events read at a time when going back. */
const STRETCH = 500;

async function* backwards(history: History, to: number): AsyncGenerator<Event> {
  for (let end = to; end > history.journal.base().seq; end -= STRETCH) {
    const stretch: Event[] = [];
    for await (const page of history.events(Math.max(1, end - STRETCH + 1), end)) stretch.push(...page);
    yield* stretch.reverse();
  }
}
