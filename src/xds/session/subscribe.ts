// The effect of a request on a watch: names, wildcard, and due resources. State of the world follows Istio's
// pkg/xds/server.go ShouldRespond, delta pilot/pkg/xds/delta.go shouldRespondDelta.
//
// Invariant: a subscription that a client sends is never lost. Where Istio loses one (expired nonces, names in a NACK,
// repeated subscriptions) the xDS protocol is followed instead; each place says so.

import { setOf } from './name-sets.ts';
import {
  type DeltaRequest,
  type Due,
  noNames,
  nothingDue,
  noVersions,
  type SotwRequest,
  type Watch,
} from './session.ts';
import { rulesOf } from './types.ts';

export const WILDCARD = '*';

/** The changes by a request. */
export interface WatchChange {
  /** Undefined: the client no longer watches the type. */
  readonly watch: Watch | undefined;
  /** The request may need a response: evaluate. */
  readonly asks: boolean;
}

const fresh: Watch = {
  names: noNames,
  wildcard: false,
  explicit: false,
  nonceSent: '',
  nonceAcked: '',
  lastError: '',
  clientVersions: noVersions,
  heldRemovals: new Map(),
  nackedNames: noNames,
  unanswered: [],
  syncedToSeq: 0,
  due: nothingDue,
};

/**
 * Istio's ShouldRespond after its checks for NACK and expired nonce: first request, unsubscribe, changed names, plain
 * ACK.
 */
export function subscribeSotw(watch: Watch | undefined, request: SotwRequest): WatchChange {
  const rules = rulesOf(request.typeUrl);
  const names = new Set(request.names);
  const starred = names.delete(WILDCARD);
  const anew = watch === undefined || request.nonce === '';
  const explicit = names.size > 0 || starred || (!anew && watch.explicit);
  // An empty list is a wildcard only from a client that has never named a resource (xDS protocol: "legacy wildcard").
  const wildcard = rules.wildcard && (starred || !explicit);
  if (names.size === 0 && !wildcard) return { watch: undefined, asks: false };
  if (anew) {
    const due: Due = { answer: true, everything: true, names: noNames };
    return { watch: { ...fresh, names, wildcard, explicit, due }, asks: true };
  }
  if (sameNames(names, watch.names) && wildcard === watch.wildcard) return { watch, asks: isDue(watch) };
  const added = [...names].filter(name => !watch.names.has(name));
  const changed = dropUnwatched({ ...watch, names, wildcard, explicit });
  const asks = rules.wildcard || added.length > 0;
  return asks
    ? { watch: withDue(changed, { answer: true, names: added }), asks }
    : { watch: changed, asks: isDue(changed) };
}

/**
 * For a state-of-the-world request with an expired nonce. It does not change the subscription, but names that it leaves
 * out the client did not want at that time and has dropped. The client may have subscribed to them again since, so they
 * are sent again.
 */
export function resendUnnamed(watch: Watch, request: SotwRequest): Watch {
  const named = new Set(request.names);
  if (watch.wildcard || [...watch.names].every(name => named.has(name))) return watch;
  return withDue(watch, { answer: false, names: [...watch.names].filter(name => !named.has(name)) });
}

/**
 * Istio's shouldRespondDelta. Unlike there, a request with an expired nonce counts: its subscriptions would be lost
 * otherwise.
 */
export function subscribeDelta(watch: Watch | undefined, request: DeltaRequest): WatchChange {
  return watch === undefined ? firstDelta(request) : nextDelta(watch, request);
}

function firstDelta(request: DeltaRequest): WatchChange {
  const rules = rulesOf(request.typeUrl);
  const plain = request.initial.size === 0 && request.unsubscribe.length === 0 && !request.subscribe.includes(WILDCARD);
  if (plain && request.subscribe.length > 0) return firstNames(setOf(request.subscribe));
  const names = new Set(request.subscribe);
  const starred = names.delete(WILDCARD);
  // A subscription to everything that is taken back at once leaves nothing: ztunnel asks for addresses on demand so.
  const everything = starred && !request.unsubscribe.includes(WILDCARD);
  const wildcard = rules.wildcard && (everything || request.subscribe.length === 0);
  // A client watches what it says it holds. A wildcard covers that already, so it adds no names to the recorded
  // subscription.
  if (!wildcard) for (const name of request.initial.keys()) if (name !== WILDCARD) names.add(name);
  for (const name of request.unsubscribe) names.delete(name);
  // `noVersions` has one identity, so clients that hold nothing share everything that is memoised by it (name-sets.ts).
  const clientVersions =
    request.initial.size === 0 ? noVersions : wildcard ? request.initial : only(request.initial, names);
  const due: Due = { answer: true, everything: false, names: noNames };
  return { watch: { ...fresh, names, wildcard, explicit: names.size > 0 || starred, clientVersions, due }, asks: true };
}

/** The fast path for names alone: the set is shared by all clients that subscribe to the same list. */
function firstNames(names: ReadonlySet<string>): WatchChange {
  return {
    watch: { ...fresh, names, explicit: true, due: { answer: true, everything: false, names: noNames } },
    asks: true,
  };
}

function nextDelta(watch: Watch, request: DeltaRequest): WatchChange {
  const rules = rulesOf(request.typeUrl);
  if (request.subscribe.length === 0 && request.unsubscribe.length === 0) return { watch, asks: false };
  const names = new Set(watch.names);
  let wildcard = watch.wildcard;
  const requested = new Set<string>();
  for (const name of request.subscribe) {
    if (name === WILDCARD) {
      wildcard = rules.wildcard;
    } else {
      names.add(name);
      // A repeated subscription is answered (xDS protocol: the client may have dropped the resource); Istio sees no
      // change.
      requested.add(name);
    }
  }
  for (const name of request.unsubscribe) {
    if (name === WILDCARD) wildcard = false;
    else if (names.delete(name)) requested.delete(name);
    // The wildcard still covers the name, so the client has to be sent its state (xDS protocol, "Unsubscribing from
    // Resources").
    if (wildcard && name !== WILDCARD) requested.add(name);
  }
  const changed = rules.aliased
    ? { ...watch, names, wildcard, explicit: true }
    : dropUnwatched({ ...watch, names, wildcard, explicit: true });
  const asks = requested.size > 0 || (wildcard && !watch.wildcard);
  return asks
    ? { watch: withDue(changed, { answer: true, names: requested }), asks }
    : { watch: changed, asks: isDue(changed) };
}

/**
 * Forgets names that are no longer watched: the client drops them. If one of them was NACKed, it may have been the
 * reason for the NACK, so the other names of that response are due again.
 */
function dropUnwatched(watch: Watch): Watch {
  if (watch.wildcard) return watch;
  const { names } = watch;
  const nackedNames = new Set([...watch.nackedNames].filter(name => names.has(name)));
  const kept: Watch = {
    ...watch,
    clientVersions: only(watch.clientVersions, names),
    heldRemovals: only(watch.heldRemovals, names),
    nackedNames,
    due: { ...watch.due, names: new Set([...watch.due.names].filter(name => names.has(name))) },
  };
  return nackedNames.size < watch.nackedNames.size ? withDue(kept, { answer: false, names: nackedNames }) : kept;
}

function isDue(watch: Watch): boolean {
  return watch.due.names.size > 0;
}

export function withDue(watch: Watch, more: { readonly answer: boolean; readonly names: Iterable<string> }): Watch {
  const { due } = watch;
  return {
    ...watch,
    due: { ...due, answer: due.answer || more.answer, names: new Set([...due.names, ...more.names]) },
  };
}

function only<V>(from: ReadonlyMap<string, V>, names: ReadonlySet<string>): ReadonlyMap<string, V> {
  return new Map([...from].filter(([name]) => names.has(name)));
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const name of a) if (!b.has(name)) return false;
  return true;
}
