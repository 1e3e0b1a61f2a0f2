// step: (session, input) → [session, effects]. The ADS protocol on one stream, pure.
//
// One view at a time. A request that needs a response, a push, or a held removal that may be sent now (plan.ts) makes
// an evaluation due. As soon as nothing is being written, the session asks for *one view of all watched types from one
// state* and works through it in push order, one response at a time. A newer view replaces the rest of the old one. A
// push only sets a flag, so a slow client has one pending push, never a queue.
// Invariants: at most one evaluation is awaited and one response is being written (answers to debug requests do not
// count), and routes are never sent from a newer state than the clusters before them. Only the result of the last
// `Evaluate` counts: a changed subscription drops the rest of the view and the evaluation under way. A push, with those
// that join it, ends with one `Settled`, also if its evaluation fails. What was due stays due until its type is
// compared with a view. While a removal is held (plan.ts), comparing a type moves its `syncedToSeq`, also without a
// response. A change of a watch's names or wildcard is a `Subscribed` before the `Evaluate` that needs it: views are
// generated from the recorded subscription, not from the watch.

import { unreachable } from '../../core/base/assert.ts';
import { recordAck, recordNack, withUnanswered } from './ack-nack.ts';
import { blamedNames } from './blame.ts';
import { noList, sorted, unionOf } from './name-sets.ts';
import { addsNames, hasReleasableRemoval, isUnchanged, planResponse, warmingAfter } from './plan.ts';
import {
  type ClientRequest,
  NACK_MESSAGE_MAX,
  noNames,
  nothingDue,
  type Session,
  type SessionEffect,
  type SessionInput,
  TYPE_URL_CHARS_MAX,
  WATCHED_NAMES_MAX,
  WATCHED_TYPES_MAX,
  type Watch,
  withWatch,
} from './session.ts';
import { resendUnnamed, subscribeDelta, subscribeSotw, type WatchChange } from './subscribe.ts';
import { CDS, DEBUG_NONCE, DEBUG_PREFIX, HEALTH, LDS, RDS, rulesOf } from './types.ts';

export type SessionStep = readonly [Session, readonly SessionEffect[]];

export function step(session: Session, input: SessionInput): SessionStep {
  switch (input.kind) {
    case 'Request':
      return onRequest(session, input.request);
    case 'Push':
      return proceed({ ...session, evaluationDue: true, pushing: true }, []);
    case 'Evaluated': {
      if (!session.evaluating || input.evaluation !== session.evaluations) return [session, []];
      return proceed({ ...session, evaluating: false, view: input.view, pendingTypes: session.watches.typeUrls }, []);
    }
    case 'Failed':
      if (!session.evaluating || input.evaluation !== session.evaluations) return [session, []];
      return giveUp({ ...session, evaluating: false });
    case 'Sent':
      return proceed({ ...session, writing: false }, []);
    case 'CdsWaitOver':
      if (session.cdsWait?.began !== input.nonce) return [session, []];
      return proceed({ ...session, cdsWait: undefined }, []);
    default:
      return unreachable(input);
  }
}

function onRequest(before: Session, request: ClientRequest): SessionStep {
  const { typeUrl } = request;
  const session = typeUrl === CDS ? endCdsWait(before, request.nonce) : before;
  if (typeUrl === '') return close(session, 'INVALID_ARGUMENT', 'the request has no type_url');
  if (typeUrl.length > TYPE_URL_CHARS_MAX) return close(session, 'INVALID_ARGUMENT', 'the type_url is too long');
  if (request.protocol !== session.protocol)
    return close(session, 'INVALID_ARGUMENT', `expected a ${session.protocol} request`);
  if (typeUrl === HEALTH) return [session, []];
  if (typeUrl.startsWith(DEBUG_PREFIX)) {
    if (request.nonce.startsWith(DEBUG_NONCE)) return [session, []];
    const names = request.protocol === 'sotw' ? request.names : request.subscribe;
    return [session, [{ kind: 'Debug', typeUrl, names }]];
  }
  const watch = session.watches.get(typeUrl);
  if (request.error !== undefined) return onNack(session, watch, request, request.error);
  const known = watch !== undefined && request.nonce !== '';
  const expired = known && request.nonce !== watch.nonceSent && !unsubscribesAll(request);
  const answered = known ? recordAck(watch, request.nonce) : watch;
  const effects: SessionEffect[] = [];
  if (expired) effects.push({ kind: 'Expired', typeUrl, nonce: request.nonce });
  else if (known) effects.push({ kind: 'Acked', typeUrl, nonce: request.nonce });
  if (expired && request.protocol === 'sotw')
    return proceed(withWatch(session, typeUrl, resendUnnamed(answered!, request)), effects);
  if (answered !== undefined && isPlainAck(request)) return proceed(withWatch(session, typeUrl, answered), effects);
  const change = request.protocol === 'sotw' ? subscribeSotw(answered, request) : subscribeDelta(answered, request);
  return applyChange(session, typeUrl, change, effects);
}

/** A delta request that subscribes to nothing: an ACK, as most requests are. */
function isPlainAck(request: ClientRequest): boolean {
  return request.protocol === 'delta' && request.subscribe.length === 0 && request.unsubscribe.length === 0;
}

/** Ends the wait for the CDS ACK if this request answers that response, or starts CDS anew (no nonce). */
function endCdsWait(session: Session, nonce: string): Session {
  const { cdsWait } = session;
  const ends = cdsWait !== undefined && (nonce === cdsWait.awaited || nonce === '');
  return ends ? { ...session, cdsWait: undefined } : session;
}

function applyChange(
  session: Session,
  typeUrl: string,
  change: WatchChange,
  effects: readonly SessionEffect[],
): SessionStep {
  const before = session.watches.get(typeUrl);
  const after = change.watch;
  if (after !== undefined && after.names.size > WATCHED_NAMES_MAX) {
    return close(session, 'RESOURCE_EXHAUSTED', `more than ${WATCHED_NAMES_MAX} names of ${typeUrl} on one stream`);
  }
  const next = withWatch(session, typeUrl, after);
  if (next.watches.size > WATCHED_TYPES_MAX) {
    return close(session, 'RESOURCE_EXHAUSTED', `more than ${WATCHED_TYPES_MAX} types on one stream`);
  }
  const fact = subscriptionFact(typeUrl, before, after);
  if (fact === undefined) return proceed({ ...next, evaluationDue: session.evaluationDue || change.asks }, effects);
  // A view from before the change belongs to another subscription: the rest of it is dropped, and so is an outstanding
  // evaluation.
  const stale = session.evaluating || session.pendingTypes.length > 0;
  const evaluationDue = session.evaluationDue || change.asks || stale;
  return proceed({ ...next, evaluationDue, evaluating: false, pendingTypes: [] }, [...effects, fact]);
}

/**
 * Istio checks this before the nonce (ShouldRespond): unsubscribing from the last name takes effect even with an
 * expired nonce.
 */
function unsubscribesAll(request: ClientRequest): boolean {
  return request.protocol === 'sotw' && request.names.length === 0 && !rulesOf(request.typeUrl).wildcard;
}

/** The change as a fact; undefined if the recorded subscription stays true. */
function subscriptionFact(
  typeUrl: string,
  before: Watch | undefined,
  after: Watch | undefined,
): SessionEffect | undefined {
  const old = before?.names ?? noNames;
  const now = after?.names ?? noNames;
  if (before !== undefined && old === now && before.wildcard === after?.wildcard) return undefined;
  const subscribe = old.size === 0 ? sorted(now) : [...now].filter(name => !old.has(name)).sort();
  const unsubscribe = [...old].filter(name => !now.has(name)).sort();
  const wildcard = after?.wildcard ?? false;
  const known = before === undefined ? after === undefined : before.wildcard === wildcard;
  if (known && subscribe.length === 0 && unsubscribe.length === 0) return undefined;
  return { kind: 'Subscribed', typeUrl, subscribe, unsubscribe, wildcard };
}

/** Both ends are kept: Envoy names the resource at the beginning or prints it, and then says the reason at the end. */
function shortened(error: string): string {
  if (error.length <= NACK_MESSAGE_MAX) return error;
  const half = NACK_MESSAGE_MAX / 2;
  return `${error.slice(0, half)}\n…\n${error.slice(-half)}`;
}

/**
 * A NACK of an unwatched type is ignored. Unlike Istio (ShouldRespond returns early), the names in a state-of-the-world
 * NACK change the subscription: the request that first named them may have had an expired nonce, and the client does
 * not repeat them. A NACK without names leaves the subscription as it is.
 */
function onNack(session: Session, watch: Watch | undefined, request: ClientRequest, error: string): SessionStep {
  if (watch === undefined) return [session, []];
  const { typeUrl, nonce } = request;
  const message = shortened(error);
  const [after, sent] = recordNack(session.protocol, watch, nonce, message);
  const nacked: SessionEffect = { kind: 'Nacked', typeUrl, nonce, message, sent, blamed: blamedNames(error, sent) };
  const evaluationDue = session.evaluationDue || after.due.names.size > 0;
  if (request.protocol === 'sotw' && nonce === watch.nonceSent && request.names.length > 0) {
    return applyChange({ ...session, evaluationDue }, typeUrl, subscribeSotw(after, request), [nacked]);
  }
  const late = request.protocol === 'sotw' && request.names.length > 0 ? resendUnnamed(after, request) : after;
  return proceed({ ...withWatch(session, typeUrl, late), evaluationDue }, [nacked]);
}

/** Runs until the session has to wait: sends the next response of the view, asks for a new view, or settles. */
function proceed(before: Session, effects: readonly SessionEffect[]): SessionStep {
  let session = before;
  let done = effects;
  while (!session.writing && !session.evaluating) {
    if (session.evaluationDue || (session.pendingTypes.length === 0 && hasReleasableRemoval(session))) {
      const evaluations = session.evaluations + 1;
      session = {
        ...session,
        evaluationDue: false,
        evaluating: true,
        evaluations,
        pendingTypes: noList,
        view: undefined,
      };
      done = [...done, { kind: 'Evaluate', evaluation: evaluations }];
    } else if (session.pendingTypes.length > 0) {
      if (awaitsCdsAck(session, session.pendingTypes[0]!)) break;
      const [next, sending] = toNextResponse(session);
      session = next;
      if (sending.length > 0) done = done.length === 0 ? sending : [...done, ...sending];
    } else {
      if (session.pushing) done = [...done, settled];
      if (session.pushing || session.view !== undefined) session = { ...session, pushing: false, view: undefined };
      break;
    }
  }
  return [session, done];
}

const settled: SessionEffect = { kind: 'Settled' };

/**
 * After a failed evaluation: what was due stays due, but nothing is evaluated until a push or a request asks for it;
 * repeating the evaluation at once would fail again. The rest of an older view was dropped when it began, so its
 * differences wait, too.
 */
function giveUp(session: Session): SessionStep {
  if (session.evaluationDue) return proceed(session, []);
  return [{ ...session, pushing: false }, session.pushing ? [{ kind: 'Settled' }] : []];
}

/**
 * Envoy warms a new cluster until it has its endpoints, and a route that arrives earlier fails. So LDS and RDS, and
 * what follows them in push order, wait until the client answers the newest CDS response; by then its EDS request has
 * arrived and was answered. The session waits only for a client that has acknowledged clusters before. A wait ends
 * CDS_ACK_WAIT_MS after it began, also if more CDS responses followed.
 */
function awaitsCdsAck(session: Session, typeUrl: string): boolean {
  return session.cdsWait !== undefined && (typeUrl === LDS || typeUrl === RDS);
}

/**
 * Passes over unchanged types, and makes the response of the first other one if any is due. Most types of most pushes
 * are unchanged and are passed over in one step. For those `syncedToSeq` is written only if something reads it (held
 * removals) or it is still 0, so an idle push makes no new watch.
 */
function toNextResponse(session: Session): SessionStep {
  const { pendingTypes, view } = session;
  const recordSync = (session.watches.get(CDS)?.heldRemovals.size ?? 0) > 0;
  let { watches } = session;
  let at = 0;
  for (; at < pendingTypes.length; at++) {
    const typeUrl = pendingTypes[at]!;
    const watch = watches.get(typeUrl);
    const set = view?.sets.get(typeUrl);
    if (view === undefined || watch === undefined || set === undefined) break;
    if (awaitsCdsAck(session, typeUrl) || !isUnchanged(session, typeUrl, watch, set)) break;
    if (recordSync || watch.syncedToSeq === 0)
      watches = watches.with(typeUrl, { ...watch, syncedToSeq: view.stateSeq });
  }
  const next = pendingTypes[at];
  if (next === undefined) return [{ ...session, watches, pendingTypes: noList }, noEffects];
  if (awaitsCdsAck(session, next)) return [{ ...session, watches, pendingTypes: pendingTypes.slice(at) }, noEffects];
  return respondIfDue({ ...session, watches, pendingTypes: pendingTypes.slice(at + 1) }, next);
}

const noEffects: readonly SessionEffect[] = [];

function respondIfDue(session: Session, typeUrl: string): SessionStep {
  const watch = session.watches.get(typeUrl);
  const set = session.view?.sets.get(typeUrl);
  if (watch === undefined || session.view === undefined) return [session, []];
  const { stateSeq } = session.view;
  // The type cannot be served: it gets no response, and nothing waits for it.
  if (set === undefined) {
    return [
      withWatch(session, typeUrl, { ...watch, syncedToSeq: stateSeq, heldRemovals: new Map(), due: nothingDue }),
      [],
    ];
  }
  const aliases = watch.wildcard ? undefined : session.view.aliased?.get(typeUrl)?.aliases;
  const [watchAfter, planned] = planResponse(session, typeUrl, watch, set, stateSeq, aliases);
  if (planned === undefined) return [withWatch(session, typeUrl, watchAfter), []];
  const responses = session.responses + 1;
  const nonce = `${session.stream}/${responses}`;
  const unanswered = withUnanswered(watchAfter.unanswered, { nonce, names: unionOf(planned.names, planned.removed) });
  const { cdsWait } = session;
  const waits =
    typeUrl === CDS &&
    (cdsWait !== undefined || (watch.nonceAcked !== '' && addsNames(planned, watch.clientVersions))) &&
    (session.watches.has(LDS) || session.watches.has(RDS));
  const next: Session = {
    ...session,
    watches: session.watches.with(typeUrl, { ...watchAfter, nonceSent: nonce, unanswered }),
    responses,
    writing: true,
    warmingClusters: warmingAfter(session, typeUrl, planned, watchAfter),
    cdsWait: waits ? { began: cdsWait?.began ?? nonce, awaited: nonce } : cdsWait,
  };
  const { names, removed, full } = planned;
  const response: SessionEffect = { kind: 'Respond', typeUrl, nonce, stateSeq, names, removed, full };
  return [next, waits && cdsWait === undefined ? [response, { kind: 'AwaitCdsAck', nonce }] : [response]];
}

function close(session: Session, code: 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED', message: string): SessionStep {
  return [session, [{ kind: 'Close', code, message }]];
}
