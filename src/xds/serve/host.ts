// The services that the xDS side needs from the process around it: recording facts, the newest state, time, logging.
// The runtime is one host; tests and the simulator have others.

import type { Unrecorded } from '../../core/event.ts';
import type { PushRequest } from '../../core/push-request.ts';
import type { State } from '../../core/state.ts';
import type { EndCode } from './transport.ts';

export interface HostTimer {
  cancel(): void;
}

export interface HostClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs `run` once, at the earliest after `ms`. */
  after(ms: number, run: () => void): HostTimer;
}

export interface XdsHost {
  readonly clock: HostClock;
  /**
   * Resolves with the state once the facts are in the journal and folded. Concurrent calls share a commit. Rejects if
   * nothing may be served any more (the process is stopping, or the journal cannot be written and --journal-strict is
   * set).
   */
  record(facts: readonly Unrecorded[]): Promise<State>;
  /** The newest folded state. */
  state(): State;
  /** False: new streams are refused with UNAVAILABLE. */
  ready(): boolean;
  /** Resolves when a new stream may be served, in a bounded time. Absent: at once. */
  caughtUp?(): Promise<void>;
  /** A connection name that is unique in this journal. */
  connectionName(proxyId: string): string;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void;
  /** A proxy NACKed a response; already recorded. `resources`: those that its message names, possibly none. */
  nacked?(nack: Nack): void;
  /** Machines that register themselves. Absent: none does. */
  readonly machines?: Machines;
  /** For metrics. */
  observe?(event: XdsObservation): void;
  /** The answer to a debug request over xDS. Absent: there is none. */
  debug?(question: DebugQuestion): Promise<DebugReply>;
}

/** Who of the connected proxies is a machine that registers is found out behind it. Each call returns at once. */
export interface Machines {
  /** Its `ProxyConnected` is folded. */
  connected(connection: string): void;
  disconnected(connection: string): void;
  /** `message`: why the probe failed. */
  health(connection: string, healthy: boolean, message: string): void;
}

export interface Nack {
  readonly connection: string;
  readonly typeUrl: string;
  readonly message: string;
  readonly resources: readonly string[];
}

/** A request of a type below `istio.io/debug`. `identities`: proven on an encrypted connection, possibly none. */
export interface DebugQuestion {
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly identities: readonly string[];
}

/** `controlPlane`: the identifier of this control plane, where the type has it. */
export type DebugReply =
  | { readonly resources: readonly DebugResource[]; readonly controlPlane?: string }
  | { readonly refused: EndCode; readonly message: string };

/** `body`: an encoded google.protobuf.Any. */
export interface DebugResource {
  readonly name: string;
  readonly body: Uint8Array;
}

export type XdsObservation =
  /**
   * `pushMs`: from the moment the response was due until the transport took it, receipt included; `sendMs`: the write
   * alone.
   */
  | {
      readonly kind: 'Sent';
      readonly typeUrl: string;
      readonly bytes: number;
      readonly resources: number;
      readonly pushMs: number;
      readonly sendMs: number;
    }
  /** A push to one connection starts, `queuedMs` after its release. */
  | { readonly kind: 'Started'; readonly queuedMs: number }
  | { readonly kind: 'Acked' | 'Nacked' | 'Expired'; readonly typeUrl: string }
  | { readonly kind: 'Released'; readonly request: PushRequest; readonly waitedMs: number }
  /** A push to one connection is complete. `tookMs`: from its start until the transport took the last byte. */
  | { readonly kind: 'Settled'; readonly tookMs: number }
  | { readonly kind: 'WriteSlow'; readonly connection: string }
  | { readonly kind: 'Failed'; readonly connection: string; readonly message: string };

/** Facts of the xDS side carry this source. */
export const XDS_SOURCE = 'xds';
