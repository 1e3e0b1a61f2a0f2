// How a request changes what a client watches. The rows named are those of spec-events §6.1 (state of the world) and §6.2 (delta);
// Istio pkg/xds/server.go ShouldRespond, pilot/pkg/xds/delta.go shouldRespondDelta. Where Istio departs from the xDS protocol in a way
// that loses requests, the protocol is followed; each such place says so.

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

/** The watch after a request; undefined: the client watches nothing of the type any more. */
export interface WatchChange {
  readonly watch: Watch | undefined;
  /** The request has to be answered, if only by looking whether there is something to say. */
  readonly asks: boolean;
}

const fresh: Watch = {
  names: noNames,
  wildcard: false,
  explicit: false,
  nonceSent: '',
  nonceAcked: '',
  lastError: '',
  held: noVersions,
  heldRemovals: new Map(),
  nackedNames: noNames,
  unanswered: [],
  syncedToSeq: 0,
  due: nothingDue,
};

/** Rows 4, 5 and 7; NACKs and expired nonces (rows 3 and 6) never come here. */
export function subscribeSotw(watch: Watch | undefined, request: SotwRequest): WatchChange {
  const rules = rulesOf(request.typeUrl);
  const names = new Set(request.names);
  const starred = names.delete(WILDCARD);
  const anew = watch === undefined || request.nonce === '';
  const explicit = names.size > 0 || starred || (!anew && watch.explicit);
  // An empty list means everything only to a client that has never named anything (xDS: "legacy wildcard").
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
 * Row 6: a request of state of the world that is too late says nothing of what the client wants now, but what it does not name the client did
 * not want then, and has dropped. If it names that again, as it may before it is ever heard, it needs it again: due from now on.
 */
export function resendUnnamed(watch: Watch, request: SotwRequest): Watch {
  const named = new Set(request.names);
  if (watch.wildcard || [...watch.names].every(name => named.has(name))) return watch;
  return withDue(watch, { answer: false, names: [...watch.names].filter(name => !named.has(name)) });
}

/** Rows 4 and 6. A request with an expired nonce comes here too: what it subscribes to would be lost otherwise (Istio does lose it). */
export function subscribeDelta(watch: Watch | undefined, request: DeltaRequest): WatchChange {
  return watch === undefined ? firstDelta(request) : nextDelta(watch, request);
}

function firstDelta(request: DeltaRequest): WatchChange {
  const rules = rulesOf(request.typeUrl);
  const plain = request.initial.size === 0 && request.unsubscribe.length === 0 && !request.subscribe.includes(WILDCARD);
  if (plain && request.subscribe.length > 0) return firstNames(setOf(request.subscribe));
  const names = new Set(request.subscribe);
  const starred = names.delete(WILDCARD);
  const wildcard = rules.wildcard && (starred || request.subscribe.length === 0);
  // A client that names what it holds watches it; under a wildcard that goes without saying, and is not worth a fact of the journal.
  if (!wildcard) for (const name of request.initial.keys()) if (name !== WILDCARD) names.add(name);
  for (const name of request.unsubscribe) names.delete(name);
  // The one that stands for nothing: what follows from it is worked out once for all who come with empty hands.
  const held = request.initial.size === 0 ? noVersions : wildcard ? request.initial : only(request.initial, names);
  const due: Due = { answer: true, everything: false, names: noNames };
  return { watch: { ...fresh, names, wildcard, explicit: names.size > 0 || starred, held, due }, asks: true };
}

/** Nothing but names, the set of which is shared by all clients that ask for the same. */
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
  const asked = new Set<string>();
  for (const name of request.subscribe) {
    if (name === WILDCARD) {
      wildcard = rules.wildcard;
    } else {
      names.add(name);
      // Asked for again means sent again (xDS: the client may have dropped it), where Istio would see no change.
      asked.add(name);
    }
  }
  for (const name of request.unsubscribe) {
    if (name === WILDCARD) wildcard = false;
    else if (names.delete(name)) asked.delete(name);
    // Still covered by the wildcard: the client has to hear how it stands (xDS protocol, "unsubscribing from resources").
    if (wildcard && name !== WILDCARD) asked.add(name);
  }
  const changed = dropUnwatched({ ...watch, names, wildcard, explicit: true });
  const asks = asked.size > 0 || (wildcard && !watch.wildcard);
  return asks
    ? { watch: withDue(changed, { answer: true, names: asked }), asks }
    : { watch: changed, asks: isDue(changed) };
}

/**
 * Forgets what is no longer watched: the client has dropped it, or will. If some of that was refused, it may have been the reason; what
 * was refused with it is due then.
 */
function dropUnwatched(watch: Watch): Watch {
  if (watch.wildcard) return watch;
  const { names } = watch;
  const nackedNames = new Set([...watch.nackedNames].filter(name => names.has(name)));
  const kept: Watch = {
    ...watch,
    held: only(watch.held, names),
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
