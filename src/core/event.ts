// The envelope of the journal: every fact that Periplus acts on, in the past tense, carrying the new value only, as
// received.
//
// Decoding and validation are not done here: a verdict is derived state, which a newer release may judge anew.
// The journal gives `seq` (dense, from 1) and `time`; `time` is the only clock the core ever sees and never decreases.

import type { Json, JsonObject } from './base/json.ts';
import type { Origin } from './base/problem.ts';
import type { Caller, Proof } from './model/caller.ts';

export interface EventHead {
  /** Dense, from 1, given at enqueue. */
  readonly seq: number;
  /** Milliseconds since the epoch, recorded by the runtime, never decreasing. */
  readonly time: number;
  /** The reporter: `<adapter>/<cluster>`, e.g. `file/Kubernetes`; `runtime` and `xds` for our own facts. */
  readonly source: string;
}

/** A Kubernetes-style object as received: apiVersion, kind, metadata and all other members. */
export type RawObject = JsonObject;

export interface ObjectRef {
  /** e.g. `networking.istio.io/v1`, `v1`. Only the group identifies; versions of a group name one object. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}

// --- objects -------------------------------------------------------------------------------------------------------

/** `Add` of what exists is an update; an equal value has no effect. */
export interface ObjectAdded {
  readonly kind: 'Add' | 'Update';
  readonly object: RawObject;
  readonly origin?: Origin;
}
/** Deleting what does not exist is a no-op. */
export interface ObjectDeleted {
  readonly kind: 'Delete';
  readonly ref: ObjectRef;
}
/** The source has delivered its initial list (or a relist). */
export interface SourceSynced {
  readonly kind: 'Synced';
}
/**
 * Documents that are no object of ours. The next `Malformed` of the same place replaces it; one without reasons clears
 * it.
 */
export interface InputMalformed {
  readonly kind: 'Malformed';
  readonly origin: Origin;
  /** `line:column: problem`. */
  readonly reasons: readonly string[];
  /** As `reasons`, of objects of other projects' kinds, with which nothing is wrong; absent: none. */
  readonly ignored?: readonly string[];
}
/** Where a mesh configuration stands; absent: the file. */
export type MeshLayer = 'configMap' | 'shared';
/** MeshConfig as in the `mesh` key of the istio ConfigMap; null: the source is gone. */
export interface MeshConfigSet {
  readonly kind: 'MeshConfig';
  readonly layer?: MeshLayer;
  readonly value: Json;
  readonly origin?: Origin;
  /** Why the source could not be parsed; `value` is its text, which is refused. */
  readonly reason?: string;
}
/** MeshNetworks as in the `meshNetworks` key; null: the source is gone. */
export interface MeshNetworksSet {
  readonly kind: 'MeshNetworks';
  readonly layer?: MeshLayer;
  readonly value: Json;
  readonly origin?: Origin;
  /** As in MeshConfigSet. */
  readonly reason?: string;
}

// --- the engine ----------------------------------------------------------------------------------------------------

/** What the process was started with, as far as it changes generated config: see core/mesh/settings.ts. */
export interface EngineConfigured {
  readonly kind: 'Engine';
  readonly settings: JsonObject;
}
export interface TimerFired {
  readonly kind: 'TimerFired';
  readonly name: string;
}
/** An assertion of ours failed while folding `rejected`; replay skips it too. */
export interface EventRejected {
  readonly kind: 'Rejected';
  readonly rejected: number;
  readonly reason: string;
}
/**
 * The journal could not be written for a while: what follows, up to a time of recording, was acted on before it was
 * recorded.
 */
export interface GapRecorded {
  readonly kind: 'Gap';
  readonly reason: string;
  /** Milliseconds since the epoch at which writing first failed. */
  readonly since: number;
  readonly lost: number;
}

/**
 * An entry of the world log, which several replicas follow: the next `facts` events are what it says. Only journals of
 * replicas have it.
 */
export interface WorldEntryFolded {
  readonly kind: 'WorldEntry';
  /** Which log; another one after it was made anew. */
  readonly log: string;
  /** Where in the log it ends. */
  readonly position: number;
  /** The term of its writer; each leader begins a term of its own. */
  readonly term: number;
  readonly writer: string;
  /** The entry begins the term. */
  readonly begins?: true;
  /** When it was written, milliseconds since the epoch. */
  readonly written: number;
  readonly facts: number;
  /** Why its facts do not count, at any replica. */
  readonly ignored?: string;
  /** Hex sha256 over all entries up to this one. */
  readonly chain: string;
}

// --- proxies -------------------------------------------------------------------------------------------------------

/**
 * A large value that many facts share (node.extensions of a stock Envoy is 100 KB), by the sha256 of its canonical
 * text.
 */
export interface ValueInterned {
  readonly kind: 'Interned';
  readonly digest: string;
  readonly value: Json;
}
export interface ProxyConnected {
  readonly kind: 'ProxyConnected';
  readonly connection: string;
  /** envoy.config.core.v3.Node in protojson without `extensions`. */
  readonly node: JsonObject;
  /** Digest of the interned `node.extensions`, if the proxy listed any. */
  readonly extensions?: string;
  readonly protocol: 'sotw' | 'delta';
  /** Verified SPIFFE identities, if the stream was authenticated. */
  readonly identities?: readonly string[];
  /** How they were proven; absent in journals of before, and where nothing was. */
  readonly proof?: Proof;
}
/**
 * Names that many subscriptions ask for, by the sha256 of their canonical text; stands before the first that refers to
 * it.
 */
export interface NamesListed {
  readonly kind: 'Names';
  readonly digest: string;
  /** Sorted, no repeats. */
  readonly names: readonly string[];
}
/** The change of a subscription, not every ACK. */
export interface ProxySubscribed {
  readonly kind: 'ProxySubscribed';
  readonly connection: string;
  readonly typeUrl: string;
  /** Digest of listed names that are subscribed to besides those of `subscribe`. */
  readonly list?: string;
  readonly subscribe: readonly string[];
  readonly unsubscribe: readonly string[];
  readonly wildcard: boolean;
}
export interface ProxyNacked {
  readonly kind: 'ProxyNacked';
  readonly connection: string;
  readonly typeUrl: string;
  /** Envoy's message, shortened to a named limit. */
  readonly message: string;
}
export interface ProxyDisconnected {
  readonly kind: 'ProxyDisconnected';
  readonly connection: string;
  readonly reason: string;
}
/**
 * What was sent, to whom, from which state; committed before the bytes leave. `digest` covers everything the client
 * holds of the type after this response (sorted `name@version`) except clusters whose removal is held back, so that
 * replay can reproduce it from the state alone.
 */
export interface PushReceipt {
  readonly kind: 'Receipt';
  readonly typeUrl: string;
  readonly connections: readonly string[];
  readonly stateSeq: number;
  readonly digest: string;
  readonly count: number;
}

// --- certificates --------------------------------------------------------------------------------------------------

/** An audit trail: nothing that is sent follows from it. */
export interface CertificateIssued {
  readonly kind: 'CertificateIssued';
  /** What the certificate says, in order. */
  readonly identities: readonly string[];
  readonly caller: Caller;
  /** Hex. */
  readonly serial: string;
  /** Milliseconds since the epoch. */
  readonly notAfter: number;
  /** sha256 of the certified public key (SubjectPublicKeyInfo). */
  readonly keyDigest: string;
}
/** Refusals of callers that proved nothing are counted, not recorded: anybody could fill the journal with them. */
export interface CertificateRefused {
  readonly kind: 'CertificateRefused';
  readonly caller: Caller;
  /** Whom the caller asked to be instead of itself. */
  readonly impersonated?: string;
  /** gRPC status, e.g. `INVALID_ARGUMENT`. */
  readonly code: string;
  readonly reason: string;
}

export type Fact =
  | ObjectAdded
  | ObjectDeleted
  | SourceSynced
  | InputMalformed
  | MeshConfigSet
  | MeshNetworksSet
  | EngineConfigured
  | TimerFired
  | EventRejected
  | GapRecorded
  | WorldEntryFolded
  | ValueInterned
  | ProxyConnected
  | NamesListed
  | ProxySubscribed
  | ProxyNacked
  | ProxyDisconnected
  | PushReceipt
  | CertificateIssued
  | CertificateRefused;

export type FactKind = Fact['kind'];
export type Event = EventHead & Fact;
/** A fact on its way to the journal: everything but `seq` and `time`. */
export type Unrecorded = { readonly source: string } & Fact;
