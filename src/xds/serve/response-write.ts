// One response on its way: a place in the window of writes, its receipt, then the bytes; the write callback is the back-pressure.
//
// Invariant: nothing is written whose receipt is not committed, nor anything for a stream that has ended meanwhile. One object a response,
// which the window, the receipts and the transport all know: a push makes thousands of them.

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

/** Whose response it is. */
export interface Sender {
  readonly protocol: 'sotw' | 'delta';
  readonly connection: string;
  readonly transport: Transport;
  /** Nothing may be sent any more. */
  readonly ended: boolean;
  /** The bytes are about to go: from now on the client counts as holding this. */
  onHandover(sending: ResponseWrite, at: number): void;
  /** The transport has taken it. */
  onTaken(): void;
  /** The transport has not. */
  closed(reason: string): void;
  /** It could not be recorded or put together. */
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

  /** There is a place. */
  onSlotGranted(): boolean {
    if (this.#sender.ended) return false;
    this.#context.receipts.commit(this);
    return true;
  }

  /** The place was given away. */
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
    const { host, bodies } = this.#context;
    const pieces = bodies.pieces(this, this.#nonce);
    for (const piece of pieces) this.#writtenBytes += piece.length;
    this.#handedAt = host.clock.now();
    this.#sender.onHandover(this, this.#handedAt);
    this.#armSendTimeout();
    const { transport } = this.#sender;
    const done = (error?: Error | null): void => this.#onWritten(error);
    if (transport.sendPieces === undefined) transport.send(Buffer.concat(pieces), done);
    else transport.sendPieces(pieces, done);
  }

  /** Ends the stream if the write does not come to an end in time. */
  #armSendTimeout(): void {
    const { host, limits } = this.#context;
    const { sendTimeoutMs: ms } = limits;
    if (ms === undefined) return;
    this.#sendTimer = host.clock.after(ms, () =>
      this.#sender.end('DEADLINE_EXCEEDED', `${this.typeUrl} was not taken within ${ms} ms`),
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

  /** What need not be done before the bytes of all others are out. */
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
