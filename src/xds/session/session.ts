// The state of one ADS stream as a value: for each type the watch, the client's resources, and the unanswered
// responses.
//
// Outside of this file only `step` (step.ts) makes a new one. State of the world and delta share everything except the
// reading of requests (subscribe.ts) and the content of responses (plan.ts).
//
// Invariant that receipts rest on: when a type of a view is done, with a response or without, the client's resources of
// the type (`clientVersions`, without `heldRemovals`) equal the generated ones for its subscription at the state of the
// view. A changed subscription alone adds no resources: they come with the next response. A removal that cannot be told
// (TypeRules.absence; in state of the world, of a type without wildcard) counts as done: the client drops such a
// resource with the one that names it.

import { Watches } from './watches.ts';

/** Resource name → version (content hash), in name order. Identical while nothing in it changed. */
export type Versions = ReadonlyMap<string, string>;

/** The generated versions of every watched type, all from one state. */
export interface View {
  readonly stateSeq: number;
  /** A type that is missing here cannot be served: it gets no response. */
  readonly sets: ReadonlyMap<string, Versions>;
  /** By type URL; absent: no resource has another name. Read for subscriptions by names alone. */
  readonly aliased?: ReadonlyMap<string, { readonly aliases: Aliases }>;
}

/** Other name → the names of the resources that have it too. */
export type Aliases = ReadonlyMap<string, readonly string[]>;

export interface SotwRequest {
  readonly protocol: 'sotw';
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly nonce: string;
  /** `error_detail.message`; present only in a NACK. */
  readonly error?: string;
}

export interface DeltaRequest {
  readonly protocol: 'delta';
  readonly typeUrl: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  /** `initial_resource_versions`: the client's resources; only on the first request of a type. */
  readonly initial: Versions;
  readonly nonce: string;
  readonly error?: string;
}

export type ClientRequest = SotwRequest | DeltaRequest;

export type SessionInput =
  | { readonly kind: 'Request'; readonly request: ClientRequest }
  /** The state may have changed: evaluate every watched type again. */
  | { readonly kind: 'Push' }
  /** The result of the `Evaluate` effect with that number. */
  | { readonly kind: 'Evaluated'; readonly evaluation: number; readonly view: View }
  /**
   * The evaluation threw (a bug of ours, reported elsewhere): what was due waits for the next push or asking request.
   */
  | { readonly kind: 'Failed'; readonly evaluation: number }
  /** The transport has taken the response (the write callback). */
  | { readonly kind: 'Sent' }
  /** `CDS_ACK_WAIT_MS` have passed since the `AwaitCdsAck` with that nonce, which began a wait. */
  | { readonly kind: 'CdsWaitOver'; readonly nonce: string };

/** The caller carries effects out in this order. */
export type SessionEffect =
  /** A fact. The caller records and folds it before it carries out the next effect. */
  | {
      readonly kind: 'Subscribed';
      readonly typeUrl: string;
      readonly subscribe: readonly string[];
      readonly unsubscribe: readonly string[];
      readonly wildcard: boolean;
    }
  /**
   * A fact, too. `sent`: the names in the refused response; `blamed`: those of them that the client's message names.
   */
  | {
      readonly kind: 'Nacked';
      readonly typeUrl: string;
      readonly nonce: string;
      readonly message: string;
      readonly sent: readonly string[];
      readonly blamed: readonly string[];
    }
  | { readonly kind: 'Acked'; readonly typeUrl: string; readonly nonce: string }
  /** The request answers an older response than the last one (istiod's metric pilot_xds_expired_nonce). */
  | { readonly kind: 'Expired'; readonly typeUrl: string; readonly nonce: string }
  /** Generate every watched type from the newest state, then send `Evaluated` or `Failed` with the same number. */
  | { readonly kind: 'Evaluate'; readonly evaluation: number }
  /** Commit the receipt, then write. At most one is outstanding until `Sent`. */
  | Response
  /** Send `CdsWaitOver` after `CDS_ACK_WAIT_MS`. */
  | { readonly kind: 'AwaitCdsAck'; readonly nonce: string }
  | { readonly kind: 'Debug'; readonly typeUrl: string; readonly names: readonly string[] }
  /** No response is due and none is being written: the push to this client is complete. */
  | { readonly kind: 'Settled' }
  | { readonly kind: 'Close'; readonly code: 'INVALID_ARGUMENT' | 'RESOURCE_EXHAUSTED'; readonly message: string };

export interface Response {
  readonly kind: 'Respond';
  readonly typeUrl: string;
  readonly nonce: string;
  readonly stateSeq: number;
  /** Resources in the response, in name order. */
  readonly names: readonly string[];
  /** Delta only: `removed_resources`, in name order. */
  readonly removed: readonly string[];
  /** `names` is everything that the client then holds of the type. */
  readonly full: boolean;
}

/** A response without an ACK or NACK so far, or several that were merged. */
export interface Unanswered {
  /** Of the newest. */
  readonly nonce: string;
  /** In any of them. */
  readonly names: ReadonlySet<string>;
  /** Nonce of the oldest of several. */
  readonly oldest?: string;
  /** One of several was NACKed, it is not known which names that had: an ACK of the others accepts none. */
  readonly isRefused?: true;
}

/** The content of the next response of a type beyond the changes. */
export interface Due {
  /** Respond even if nothing changed. */
  readonly answer: boolean;
  /** Send all resources, also those that the client holds. */
  readonly everything: boolean;
  /** Requested names: sent even if the client should hold them. */
  readonly names: ReadonlySet<string>;
}

export interface Watch {
  readonly names: ReadonlySet<string>;
  readonly wildcard: boolean;
  /** The client has named a resource: from then on an empty list no longer means the wildcard. */
  readonly explicit: boolean;
  readonly nonceSent: string;
  readonly nonceAcked: string;
  readonly lastError: string;
  /**
   * The client's resources if it accepted every response and dropped what no message can remove; clusters in
   * `heldRemovals` included.
   */
  readonly clientVersions: Versions;
  /** Delta CDS only: cluster → seq of the state in which it disappeared. Its removal is not sent yet. */
  readonly heldRemovals: ReadonlyMap<string, number>;
  /** Names in a NACKed response and in no accepted one since. The next response repeats them. */
  readonly nackedNames: ReadonlySet<string>;
  readonly unanswered: readonly Unanswered[];
  /**
   * Seq of the newest state whose resources the client was sent or already had; 0: none. Exact only while removals
   * are held back; otherwise it may be older, as then only "0 or not" is read.
   */
  readonly syncedToSeq: number;
  readonly due: Due;
}

/** Nonces of CDS responses: the one with which the wait began, and the newest, whose answer ends it. */
interface CdsWait {
  readonly began: string;
  readonly awaited: string;
}

export interface Session {
  readonly protocol: 'sotw' | 'delta';
  /** Nonces are `<stream>/<count>`: unique, and never confused with those of an earlier stream. */
  readonly stream: string;
  readonly responses: number;
  readonly watches: Watches<Watch>;
  /**
   * Clusters that were sent after their endpoints: Envoy warms them again and waits for EDS, even if it had the
   * endpoints.
   */
  readonly warmingClusters: ReadonlySet<string>;
  /** The view is outdated: evaluate again before the next response. */
  readonly evaluationDue: boolean;
  /** Number of the last `Evaluate`. */
  readonly evaluations: number;
  /** Its result is outstanding. */
  readonly evaluating: boolean;
  /** The view that is being sent. */
  readonly view: View | undefined;
  /** Types of `view` that are not compared yet, in push order. */
  readonly pendingTypes: readonly string[];
  /** A response is on its way to the transport. */
  readonly writing: boolean;
  /** LDS and RDS wait for the client's answer to clusters: see step.ts. */
  readonly cdsWait: CdsWait | undefined;
  /** A push has begun and is not `Settled`. */
  readonly pushing: boolean;
}

/** Limits of one stream. A stream that exceeds one is closed with RESOURCE_EXHAUSTED. */
export const WATCHED_TYPES_MAX = 64;
/** Of one type: as many as a request of 4 MiB can name with 64 bytes each. */
export const WATCHED_NAMES_MAX = 65_536;
export const TYPE_URL_CHARS_MAX = 512;
/** Unanswered responses of one type that are kept apart; the oldest are merged. */
export const UNANSWERED_MAX = 16;
/** How long LDS and RDS wait for the answer to new clusters, however many responses with more of them follow. */
export const CDS_ACK_WAIT_MS = 5_000;
/** Longer NACK messages are truncated to this many characters. */
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
    cdsWait: undefined,
    pushing: false,
  };
}

export function withWatch(session: Session, typeUrl: string, watch: Watch | undefined): Session {
  const { watches } = session;
  return { ...session, watches: watch === undefined ? watches.without(typeUrl) : watches.with(typeUrl, watch) };
}
