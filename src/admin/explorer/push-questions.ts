// The questions about pushes: what was sent to whom and when, who refused it with which words, and how a change spread
// over the proxies. Read from receipts and refusals; what a push was about is history's answer.

import type { ProxyNacked, PushReceipt } from '../../core/event.ts';
import { explainNack, explainPush } from '../../history/pushes.ts';
import { refusalReason } from '../../history/refusal-reason.ts';
import type { Journal } from '../../journal/journal.ts';
import { rulesOf } from '../../xds/session/types.ts';
import type { PushRow } from './api.ts';
import type { Convergence, Nack, Push, PushPage } from './api-questions.ts';
import { type Asked, numberOf, positionIn, type Question, QuestionFault, requireAll, seqOf } from './question.ts';
import type { Reader } from './reader.ts';
import { rowOf } from './rows.ts';
import { slowProxies } from './slow-questions.ts';

export const PUSHES_MAX = 500;
const PUSHES_DEFAULT = 50;
/** Events read at a time on the way back. */
const STRETCH_EVENTS = 5_000;
/** Events that are looked forward over: for refusals, and for how a change spread. */
export const FOLLOWED_EVENTS_MAX = 20_000;
/** A response that leaves later than this after an event is another event's. */
export const CONVERGENCE_MS_MAX = 60_000;
/** Receipts that an event's page lists. */
const RECEIPTS_OF_EVENT_MAX = 10;

export const pushQuestions: Readonly<Record<string, Question<Reader>>> = {
  '/pushes': pushPage,
  '/push': push,
  '/nack': nack,
  '/convergence': convergence,
  '/slow': slowProxies,
};

interface Receipt extends PushReceipt {
  readonly seq: number;
  readonly time: number;
}
interface Refusal extends ProxyNacked {
  readonly seq: number;
  readonly time: number;
}

async function pushPage({ history }: Reader, asked: Asked): Promise<PushPage> {
  requireAll(asked);
  const { journal } = history;
  const from = await positionIn(journal, asked, 'from', 1);
  const to = await positionIn(journal, asked, 'to', journal.head().seq);
  const limit = numberOf(asked, 'limit', PUSHES_DEFAULT, 1, PUSHES_MAX);
  const before = numberOf(asked, 'before', to + 1, 0, to + 1);
  const receipts: Receipt[] = [];
  const floor = Math.max(from, journal.base().seq + 1);
  for (let end = before - 1; end >= floor && receipts.length <= limit; end -= STRETCH_EVENTS) {
    const stretch = await receiptsIn(journal, Math.max(floor, end - STRETCH_EVENTS + 1), end);
    receipts.push(...stretch.reverse());
    asked.progress(before - end, before - floor);
  }
  return { pushes: await rowsOf(journal, receipts.slice(0, limit)), earlier: receipts.length > limit };
}

async function receiptsIn(journal: Journal, from: number, to: number): Promise<Receipt[]> {
  const found: Receipt[] = [];
  for await (const page of journal.records({ from, to, kind: 'Receipt' }))
    for (const { seq, time, body } of page) found.push({ ...(JSON.parse(body) as PushReceipt), seq, time });
  return found;
}

async function refusalsIn(journal: Journal, from: number, to: number): Promise<readonly Refusal[]> {
  const found: Refusal[] = [];
  for await (const page of journal.records({ from, to, kind: 'ProxyNacked' }))
    for (const { seq, time, body } of page) found.push({ ...(JSON.parse(body) as ProxyNacked), seq, time });
  return found;
}

/** The receipts that follow an event and are, for some proxy, the first of their type from a state with it. */
export async function pushesAfter(journal: Journal, seq: number): Promise<readonly PushRow[]> {
  const to = Math.min(journal.head().seq, seq + FOLLOWED_EVENTS_MAX);
  const receipts: Receipt[] = [];
  for (let from = seq + 1; from <= to && receipts.length < RECEIPTS_OF_EVENT_MAX; from += STRETCH_EVENTS) {
    const stretch = await receiptsIn(journal, from, Math.min(to, from + STRETCH_EVENTS - 1));
    receipts.push(...stretch.filter(({ stateSeq }) => stateSeq >= seq));
  }
  const reached = new Set<string>();
  const isFirst = ({ typeUrl, connections }: Receipt): boolean => {
    const before = reached.size;
    for (const connection of connections) reached.add(`${connection} ${typeUrl}`);
    return reached.size > before;
  };
  return rowsOf(journal, receipts.slice(0, RECEIPTS_OF_EVENT_MAX).filter(isFirst));
}

/** A refusal is of the newest receipt before it with its type and connection. */
async function rowsOf(journal: Journal, receipts: readonly Receipt[]): Promise<readonly PushRow[]> {
  if (receipts.length === 0) return [];
  const seqs = receipts.map(({ seq }) => seq);
  const [first, last] = [Math.min(...seqs), Math.max(...seqs)];
  const to = Math.min(journal.head().seq, last + FOLLOWED_EVENTS_MAX);
  const refusals = await refusalsIn(journal, first, to);
  const later = refusals.length === 0 ? [] : await receiptsIn(journal, first, to);
  const nacks = new Map<number, PushRow['nacks'][number][]>();
  for (const { seq, connection, typeUrl, message } of refusals) {
    const of = later.findLast(one => one.seq < seq && one.typeUrl === typeUrl && one.connections.includes(connection));
    if (of === undefined) continue;
    nacks.set(of.seq, [
      ...(nacks.get(of.seq) ?? []),
      { seq, connection, message: message.trim(), reason: refusalReason(message) },
    ]);
  }
  return receipts.map(({ seq, time, typeUrl, connections, stateSeq, count }) => ({
    seq,
    time,
    type: rulesOf(typeUrl).short,
    connections,
    stateSeq,
    resources: count,
    nacks: nacks.get(seq) ?? [],
  }));
}

async function push({ history }: Reader, asked: Asked): Promise<Push> {
  requireAll(asked);
  const seq = seqOf(asked);
  const found = await explainPush(history, seq);
  const [row] = await rowsOf(history.journal, await receiptsIn(history.journal, seq, seq));
  return { ...found, nacks: row?.nacks ?? [] };
}

async function nack({ history }: Reader, asked: Asked): Promise<Nack> {
  requireAll(asked);
  const seq = asked.query.get('seq') ? seqOf(asked) : undefined;
  return explainNack(history, seq, asked.query.get('proxy') || undefined);
}

async function convergence({ history }: Reader, asked: Asked): Promise<Convergence> {
  requireAll(asked);
  const seq = seqOf(asked);
  const { journal } = history;
  if (seq <= journal.base().seq || seq > journal.head().seq) throw new QuestionFault(404, `there is no event ${seq}`);
  const state = await history.at(seq);
  const to = Math.min(journal.head().seq, seq + FOLLOWED_EVENTS_MAX);
  const isSoon = ({ time }: Receipt | Refusal): boolean => time - state.time <= CONVERGENCE_MS_MAX;
  const receipts = (await receiptsIn(journal, seq, to)).filter(one => one.stateSeq >= seq && isSoon(one));
  const refusals = (await refusalsIn(journal, seq, to)).filter(isSoon);
  const proxies = [...state.proxies.values()].map(({ connection, facets }) => {
    const sent = new Map<string, Convergence['proxies'][number]['sent'][number]>();
    for (const one of receipts) {
      const type = rulesOf(one.typeUrl).short;
      if (!one.connections.includes(connection) || sent.has(type)) continue;
      sent.set(type, { type, seq: one.seq, afterMs: one.time - state.time });
    }
    const nacks = refusals
      .filter(one => one.connection === connection)
      .map(({ typeUrl, seq: at, message }) => ({
        type: rulesOf(typeUrl).short,
        seq: at,
        message: message.trim(),
        reason: refusalReason(message),
      }));
    return { proxy: facets.id, connection, sent: [...sent.values()], nacks };
  });
  const ends = proxies
    .filter(({ sent }) => sent.length > 0)
    .map(({ sent }) => Math.max(...sent.map(({ afterMs }) => afterMs)))
    .sort((a, b) => a - b);
  for await (const [event] of journal.records({ from: seq, to: seq, secrets: 'redacted' })) {
    if (event === undefined) break;
    return { event: rowOf(event), proxies, curve: ends.map((afterMs, i) => ({ afterMs, proxies: i + 1 })) };
  }
  throw new QuestionFault(404, `there is no event ${seq}`);
}
