// One stream's network: messages in order in both directions, each as late as the simulation likes; a reader that reads
// when it likes; an end that the other side hears of later. The server's side is the Transport of a real AdsStream.

import type { AdsStream } from '../../src/xds/serve/stream.ts';
import type { Incoming } from '../../src/xds/serve/stream-input.ts';
import type { EndCode, Transport } from '../../src/xds/serve/transport.ts';

interface OnItsWay {
  readonly message: Buffer;
  readonly done: (error?: Error | null) => void;
  written: boolean;
}

export class Wire implements Transport {
  stream: AdsStream | undefined;
  /** The reader does not read: a write is over only when it has. */
  slow = false;
  /** How the server ended it. */
  ended: { readonly code: EndCode; readonly message: string } | undefined;
  /** Nothing goes through any more, in neither direction. */
  cut = false;
  readonly toClient: OnItsWay[] = [];
  readonly toServer: Incoming[] = [];
  readonly #onSend: (message: Buffer) => void;
  readonly #broken: (what: string) => void;
  #paused = false;

  readonly #tooEarly: boolean;

  /**
   * `onSend` sees each message as it leaves the server; `broken`: a law of the wire was broken; `tooEarly`: a mistake
   * on purpose.
   */
  constructor(onSend: (message: Buffer) => void, broken: (what: string) => void, tooEarly = false) {
    this.#tooEarly = tooEarly;
    this.#onSend = onSend;
    this.#broken = broken;
  }

  send(message: Buffer, done: (error?: Error | null) => void): void {
    if (this.cut) return;
    if (this.ended !== undefined) this.#broken('something was sent after the end of the stream');
    if (this.toClient.some(one => !one.written)) this.#broken('two responses are being written on one stream');
    this.#onSend(message);
    const sent: OnItsWay = { message, done, written: false };
    this.toClient.push(sent);
    if (!this.slow) queueMicrotask(() => this.#taken(sent));
    else if (this.#tooEarly) queueMicrotask(done);
  }

  end(code: EndCode, message: string): void {
    this.ended ??= { code, message };
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  get canReachServer(): boolean {
    return !this.cut && !this.#paused && this.stream !== undefined && this.toServer.length > 0;
  }

  reachServer(): void {
    const message = this.toServer.shift();
    if (message !== undefined && this.ended === undefined) this.stream?.receive(message);
  }

  /** The client reads its next message. */
  read(): Buffer | undefined {
    const next = this.toClient.shift();
    if (next === undefined) return undefined;
    this.#taken(next);
    return next.message;
  }

  /** The client goes away, or the network does. */
  cutOff(reason: string): void {
    if (this.cut) return;
    this.cut = true;
    this.toServer.length = 0;
    if (this.ended === undefined) this.stream?.closed(reason);
  }

  #taken(sent: OnItsWay): void {
    if (sent.written) return;
    sent.written = true;
    if (!this.cut) sent.done();
  }
}
