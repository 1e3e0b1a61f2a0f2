// What the xDS server needs of the process around it: a place to record facts, the newest state, push requests, time. The runtime is
// one host; tests and the simulator have others. The server decides nothing that is not in the session's or the schedule's step.

import type { Unrecorded } from '../../core/event.ts';
import type { PushRequest } from '../../core/push-request.ts';
import type { State } from '../../core/state.ts';

export interface HostTimer {
  cancel(): void;
}

export interface HostClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once, not before `ms` have passed. */
  after(ms: number, run: () => void): HostTimer;
}

export interface XdsHost {
  readonly clock: HostClock;
  /**
   * Resolves when the facts are in the journal and folded: whatever is sent afterwards can be explained by it. Concurrent calls share a
   * commit. Rejects when nothing may be served any more (the process is stopping, the journal is strict and cannot be written).
   */
  record(facts: readonly Unrecorded[]): Promise<State>;
  /** The newest folded state. */
  state(): State;
  /** False: streams are refused with UNAVAILABLE. */
  ready(): boolean;
  /** A name that no earlier connection in this journal had. */
  connectionName(proxyId: string): string;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void;
  /** A proxy refused what it was sent. `resources`: those its message names; may be empty. Already recorded. */
  nacked?(nack: Nack): void;
  /** For metrics. */
  observe?(event: XdsObservation): void;
  /** The answer to a debug request over xDS; absent: silence. */
  debug?(typeUrl: string, names: readonly string[], identities: readonly string[]): readonly DebugResource[];
}

export interface Nack {
  readonly connection: string;
  readonly typeUrl: string;
  readonly message: string;
  readonly resources: readonly string[];
}

/** `body`: an encoded google.protobuf.Any. */
export interface DebugResource {
  readonly name: string;
  readonly body: Uint8Array;
}

export type XdsObservation =
  /** `pushMs`: from when the response was due to when the transport took it, receipt included; `sendMs`: the last part of that, the write. */
  | {
      readonly kind: 'Sent';
      readonly typeUrl: string;
      readonly bytes: number;
      readonly resources: number;
      readonly pushMs: number;
      readonly sendMs: number;
    }
  /** A push to one connection begins, so long after it was released. */
  | { readonly kind: 'Started'; readonly queuedMs: number }
  | { readonly kind: 'Acked' | 'Nacked' | 'Expired'; readonly typeUrl: string }
  | { readonly kind: 'Released'; readonly request: PushRequest; readonly waitedMs: number }
  /** A push is over for one connection: from its start to the last byte handed to the transport. */
  | { readonly kind: 'Settled'; readonly tookMs: number }
  | { readonly kind: 'WriteSlow'; readonly connection: string }
  | { readonly kind: 'Failed'; readonly connection: string; readonly message: string };

/** Facts of the xDS side carry this source. */
export const XDS_SOURCE = 'xds';
