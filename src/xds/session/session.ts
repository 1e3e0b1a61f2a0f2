// One ADS stream as a value: what the client watches, what it holds, what it was sent and has not answered yet.
//
// `step` (step.ts) is the only thing that makes a new one. State of the world and delta share everything but how a request is read
// (subscribe.ts) and what a response has to contain (plan.ts).
//
// Invariant behind receipts: a response brings *everything* the client watches of that type up to the state it was made from. What
// the client holds of the type then equals what generation gives for its subscription at that state, whatever was sent before.

import { Watches } from './watches.ts';

/** Resource name → version (content hash), in name order. Identical while nothing in it changed. */
export type Versions = ReadonlyMap<string, string>;

/** What generation gives for every type the client watches, all from one state. */
export interface View {
  readonly stateSeq: number;
  /** A type that is missing here cannot be served: nothing is ever said about it. */
  readonly sets: ReadonlyMap<string, Versions>;
}

export interface SotwRequest {
  readonly protocol: 'sotw';
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly nonce: string;
  /** `error_detail.message`: this is a NACK. */
  readonly error?: string;
}

export interface DeltaRequest {
  readonly protocol: 'delta';
  readonly typeUrl: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** What the client says it holds, on the first request of a type. */
  readonly initial: Versions;
  readonly nonce: string;
  readonly error?: string;
}

export type ClientRequest = SotwRequest | DeltaRequest;

export type SessionInput =
  | { readonly kind: 'Request'; readonly request: ClientRequest }
  /** Something may have changed: look at every watched type again. */
  | { readonly kind: 'Push' }
  /** The answer to `Evaluate`. */
  | { readonly kind: 'Evaluated'; readonly ask: number; readonly view: View }
  /** The evaluation failed (our own bug, reported elsewhere): what was due stays due until the next input asks again. */
  | { readonly kind: 'Failed'; readonly ask: number }
  /** The transport took the response: the write callback. */
  | { readonly kind: 'Sent' }
  /** `CLUSTERS_WAIT_MS` have passed since the `Wait` with that nonce. */
  | { readonly kind: 'Waited'; readonly nonce: string };

/** Carried out in this order. */
export type SessionEffect =
  /** A fact to be recorded, and folded, before the effects after it are carried out. */
  | {
      readonly kind: 'Subscribed';
      readonly typeUrl: string;
      readonly subscribe: readonly string[];
      readonly unsubscribe: readonly string[];
      readonly wildcard: boolean;
    }
  /** A fact as well. `sent`: the names in the refused response; `blamed`: those that the client's message names. */
  | {
      readonly kind: 'Nacked';
      readonly typeUrl: string;
      readonly nonce: string;
      readonly message: string;
      readonly sent: readonly string[];
      readonly blamed: readonly string[];
    }
  | { readonly kind: 'Acked'; readonly typeUrl: string; readonly nonce: string }
  /** An answer to something older than the last response: `pilot_xds_expired_nonce`. */
  | { readonly kind: 'Expired'; readonly typeUrl: string; readonly nonce: string }
  /** Generate every watched type from the newest state, and come back with `Evaluated`. */
  | { readonly kind: 'Evaluate'; readonly ask: number }
  /** Commit the receipt, then write. Never more than one until `Sent`. */
  | Response
  /** Come back with `Waited` after `CLUSTERS_WAIT_MS`. */
  | { readonly kind: 'Wait'; readonly nonce: string }
  | { readonly kind: 'Debug'; readonly typeUrl: string; readonly names: readonly string[] }
  /** Nothing is due and nothing is being written: the push is done with this client. */
  | { readonly kind: 'Settled' }
  | { readonly kind: 'Close'; readonly code: 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED'; readonly message: string };

export interface Response {
  readonly kind: 'Respond';
  readonly typeUrl: string;
  readonly nonce: string;
  readonly stateSeq: number;
  /** To be sent, in name order. */
  readonly names: readonly string[];
  /** Delta only: to be named as removed, in name order. */
  readonly removed: readonly string[];
  /** Everything the client holds of the type is in `names`. */
  readonly full: boolean;
}

/** A response that the client has neither acknowledged nor refused. */
export interface Unanswered {
  readonly nonce: string;
  readonly names: ReadonlySet<string>;
}

/** What the next look at a type has to bring, beyond what changed. */
export interface Due {
  /** Answer even if there is nothing to say. */
  readonly answer: boolean;
  readonly everything: boolean;
  /** Names asked for: sent again even if the client should have them. */
  readonly names: ReadonlySet<string>;
}

export interface Watch {
  readonly names: ReadonlySet<string>;
  readonly wildcard: boolean;
  /** The client has named something: from now on an empty list means nothing, not everything. */
  readonly explicit: boolean;
  readonly nonceSent: string;
  readonly nonceAcked: string;
  readonly lastError: string;
  /** What the client holds if it accepted everything it was sent, clusters on hold included. */
  readonly held: Versions;
  /** Delta CDS: clusters that are gone but not yet taken away → state since when they are gone. */
  readonly heldRemovals: ReadonlyMap<string, number>;
  /** Names that were in a refused response and in no accepted one since: go along with the next response. */
  readonly nackedNames: ReadonlySet<string>;
  readonly unanswered: readonly Unanswered[];
  /** State up to which the client was brought (or found to be). 0: never. Counted on only while clusters are on hold: until then it may be older. */
  readonly syncedToSeq: number;
  readonly due: Due;
}

export interface Session {
  readonly protocol: 'sotw' | 'delta';
  /** Nonces are `<stream>/<count>`: unique in a stream, and never taken for one of an earlier stream. */
  readonly stream: string;
  readonly responses: number;
  readonly watches: Watches<Watch>;
  /** Clusters sent since their endpoints were last sent: Envoy warms them and waits for endpoints, even for ones it had. */
  readonly warmingClusters: ReadonlySet<string>;
  /** A new view is needed before anything else is sent. */
  readonly evaluationDue: boolean;
  readonly evaluations: number;
  readonly evaluating: boolean;
  /** The view being sent, and the types of it that are still to be looked at, in push order. */
  readonly view: View | undefined;
  readonly pendingTypes: readonly string[];
  readonly writing: boolean;
  /** Listeners and routes wait for the answer to that CDS response: see step.ts. */
  readonly awaitedCdsNonce: string | undefined;
  readonly pushing: boolean;
}

/** Limits of one stream. A stream that goes past one is closed with RESOURCE_EXHAUSTED. */
export const WATCHED_TYPES_MAX = 64;
export const WATCHED_NAMES_MAX = 100_000;
/** Responses of one type without an answer that are told apart; older ones are taken together. */
export const UNANSWERED_MAX = 16;
/** How long listeners and routes wait for a client to take note of new clusters. */
export const CDS_ACK_WAIT_MS = 5_000;
/** A client's message is kept up to this many characters. */
export const NACK_MESSAGE_MAX = 4096;

export const noVersions: Versions = new Map();
export const noNames: ReadonlySet<string> = new Set();
export const nothingDue: Due = { answer: false, everything: false, names: noNames };

const noWatches = new Watches<Watch>();

export function openSession(protocol: 'sotw' | 'delta', stream: string): Session {
  return {
    protocol,
    stream,
    responses: 0,
    watches: noWatches,
    warmingClusters: noNames,
    evaluationDue: false,
    evaluations: 0,
    evaluating: false,
    view: undefined,
    pendingTypes: [],
    writing: false,
    awaitedCdsNonce: undefined,
    pushing: false,
  };
}

export function withWatch(session: Session, typeUrl: string, watch: Watch | undefined): Session {
  const { watches } = session;
  return { ...session, watches: watch === undefined ? watches.without(typeUrl) : watches.with(typeUrl, watch) };
}
