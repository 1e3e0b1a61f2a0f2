// One response on its way to a client: a slot in the write window, the commit of its receipt, the write, the write
// callback. The callback is the back-pressure: only then does the session make its next response.
//
// Invariants: nothing is written before its receipt is committed, and nothing to a stream that has ended. Every way
// ends in one of two: the transport took it (`onTaken`, once), or the stream ends, since a session waits for the one as
// long as the other has not come. On both the slot is given back; a write whose callback never comes loses it in time.
// One object serves window, receipts, bodies and transport (it implements their interfaces), because a push makes
// thousands of them.

import type { ResourceSet } from '../engine/resource-set.ts';
import type { Response } from '../session/session.ts';
import type { DeferredCompletions } from './deferred-completions.ts';
import type { HostTimer, XdsHost } from './host.ts';
import type { XdsLimits } from './limits.ts';
import type { Delivery, ReceiptBook } from './receipts.ts';
import type { ResponseContent, SharedBodies } from './shared-bodies.ts';
import type { EndCode, Transport } from './transport.ts';
import type { SlotRequest, WriteWindow } from './write-window.ts';

export interface WriteContext {
  readonly host: XdsHost;
  readonly limits: XdsLimits;
  readonly receipts: ReceiptBook;
  readonly window: WriteWindow;
  readonly bodies: SharedBodies;
  readonly completions: DeferredCompletions;
}

/** The stream that a response belongs to. */
export interface Sender {
  readonly protocol: 'sotw' | 'delta';
  readonly connection: string;
  readonly transport: Transport;
  /** Nothing may be sent on it any more. */
  readonly ended: boolean;
  /** The bytes are handed to the transport now: from here on the client counts as holding the content. */
  onHandover(sending: ResponseWrite, at: number): void;
  /** The transport took the response. */
  onTaken(): void;
  /** The transport failed. */
  closed(reason: string): void;
  /** The receipt could not be recorded, or the bytes not assembled. */
  failed(error: unknown): void;
  end(code: EndCode, message: string): void;
}

export class ResponseWrite implements Delivery, ResponseContent, SlotRequest {
  readonly connection: string;
  readonly typeUrl: string;
  readonly stateSeq: number;
  readonly protocol: 'sotw' | 'delta';
  readonly set: ResourceSet;
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly bytes: number;
  readonly #nonce: string;
  readonly #context: WriteContext;
  readonly #sender: Sender;
  readonly #dueAt: number;
  #handedAt = 0;
  #takenAt = 0;
  #writtenBytes = 0;
  #sendTimer: HostTimer | undefined;

  constructor(context: WriteContext, sender: Sender, response: Response, set: ResourceSet) {
    this.#context = context;
    this.#sender = sender;
    this.connection = sender.connection;
    this.protocol = sender.protocol;
    this.set = set;
    this.typeUrl = response.typeUrl;
    this.stateSeq = response.stateSeq;
    this.names = response.names;
    this.removed = response.removed;
    this.#nonce = response.nonce;
    this.#dueAt = context.host.clock.now();
    this.bytes = context.bodies.sizeOf(this);
  }

  get digest(): string {
    return this.set.digest;
  }

  get count(): number {
    return this.set.size;
  }

  start(): void {
    this.#context.window.acquire(this);
  }

  /** False: the stream has ended, and the slot is not needed. */
  onSlotGranted(): boolean {
    if (this.#sender.ended) return false;
    this.#context.receipts.commit(this);
    return true;
  }

  /** The slot was taken away after `writeSlotMs`; the write goes on without it. */
  onSlotExpired(): void {
    this.#context.host.observe?.({ kind: 'WriteSlow', connection: this.connection });
  }

  onRecordFailed(error: unknown): void {
    this.#context.window.release(this);
    this.#sender.failed(error);
  }

  onCommitted(): void {
    try {
      if (this.#sender.ended) this.#context.window.release(this);
      else this.#write();
    } catch (error) {
      this.onRecordFailed(error);
    }
  }

  #write(): void {
    const pieces = this.#context.bodies.pieces(this, this.#nonce);
    if (pieces instanceof Promise) void this.#writeOnceAssembled(pieces);
    else this.#hand(pieces);
  }

  async #writeOnceAssembled(assembled: Promise<readonly Buffer[]>): Promise<void> {
    try {
      const pieces = await assembled;
      if (this.#sender.ended) this.#context.window.release(this);
      else this.#hand(pieces);
    } catch (error) {
      this.onRecordFailed(error);
    }
  }

  #hand(pieces: readonly Buffer[]): void {
    const { host } = this.#context;
    for (const piece of pieces) this.#writtenBytes += piece.length;
    this.#handedAt = host.clock.now();
    this.#sender.onHandover(this, this.#handedAt);
    this.#armSendTimeout();
    const { transport } = this.#sender;
    const done = (error?: Error | null): void => this.#onWritten(error);
    if (transport.sendPieces === undefined) transport.send(Buffer.concat(pieces), done);
    else transport.sendPieces(pieces, done);
  }

  /** Ends the stream if the transport does not take the response in time (PILOT_XDS_SEND_TIMEOUT). */
  #armSendTimeout(): void {
    const { host, limits } = this.#context;
    const { sendTimeoutMs: ms } = limits;
    if (ms === undefined) return;
    this.#sendTimer = host.clock.after(ms, () =>
      this.#sender.end('DEADLINE_EXCEEDED', `${this.typeUrl} was not taken by the client within ${ms} ms`),
    );
  }

  #onWritten(error?: Error | null): void {
    this.#sendTimer?.cancel();
    if (error !== undefined && error !== null) {
      this.#context.window.release(this);
      this.#sender.closed(error.message);
      return;
    }
    this.#takenAt = this.#context.host.clock.now();
    this.#context.completions.add(this);
  }

  /** Runs after the bytes of the other streams are out (DeferredCompletions). */
  complete(): void {
    const { host, window } = this.#context;
    window.release(this);
    host.observe?.({
      kind: 'Sent',
      typeUrl: this.typeUrl,
      bytes: this.#writtenBytes,
      resources: this.names.length,
      pushMs: this.#takenAt - this.#dueAt,
      sendMs: this.#takenAt - this.#handedAt,
    });
    this.#sender.onTaken();
  }
}
