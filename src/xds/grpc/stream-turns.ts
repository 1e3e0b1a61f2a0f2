// Calls begin in turns, before grpc-js sees them. Node announces every stream of a packet in one turn of the event
// loop, and a packet holds hundreds; grpc-js makes a call of each at once. Here some begin in each tick, and
// connections take turns, so that one that opens and resets streams without end delays itself.
//
// Invariants: grpc-js gets no stream that is gone, since it answers unknown methods without looking, and that throws
// outside every handler. A stream without a message is closed after a time, and the oldest at once if there are many.
//
// The method that is replaced is not part of grpc-js's public API, and grpc-js is pinned to a version. Node 20 has no
// setting of its own for resets of streams (`streamResetBurst`); nghttp2 ends a connection after 1,000, then 33 a
// second. What a connection may have open is a setting of HTTP/2 (limits.ts).

import assert from 'node:assert';
import { constants, type ServerHttp2Session } from 'node:http2';
import type { Server } from '@grpc/grpc-js';
import type { HostClock, HostTimer } from '../serve/host.ts';
import { holdReading, resumeReading } from './held-reading.ts';

/** Calls that begin in one tick of the event loop, about a fifth of a millisecond each. */
export const STREAMS_PER_TICK = 32;
/** A connection with more streams that wait for their turn is not read from until they have begun. */
export const STREAMS_AHEAD_MAX = 16;
/** Streams without a message, over all connections; the oldest makes room. */
export const SILENT_STREAMS_MAX = 4_096;
/** Characters of the names and values of a call's headers. */
export const HEADER_CHARS_MAX = 16_384;

/** The part of an HTTP/2 stream that is used. */
interface Stream {
  readonly session: ServerHttp2Session | undefined;
  readonly destroyed: boolean;
  readonly closed: boolean;
  close(code: number): void;
  destroy(): void;
  on(event: 'error' | 'close', listener: () => void): unknown;
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;
type Begin = (interceptors: unknown, stream: Stream, headers: Headers) => void;

export interface StreamTurnsOptions {
  readonly clock: HostClock;
  /** How long a stream may be open without a message. */
  readonly silentMsMax: number;
  /** Default: SILENT_STREAMS_MAX. */
  readonly silentMax?: number;
}

export class StreamTurns {
  readonly #options: StreamTurnsOptions;
  /** By connection; the first has the next turn. */
  readonly #waiting = new Map<ServerHttp2Session, (() => void)[]>();
  /** Connections that are not read from. */
  readonly #held = new Set<ServerHttp2Session>();
  /** Streams without a message, the oldest first. */
  readonly #silent = new Map<object, { readonly stream: Stream; readonly timer: HostTimer }>();

  constructor(options: StreamTurnsOptions) {
    this.#options = options;
  }

  /** Before the server has any connection. */
  attach(server: Server): void {
    const inside = server as unknown as { _streamHandler?: Begin };
    const begin = inside._streamHandler;
    assert(typeof begin === 'function', 'grpc-js hands HTTP/2 streams on otherwise than this was written for');
    inside._streamHandler = (interceptors, stream, headers) => {
      stream.on('error', () => undefined);
      if (charsOf(headers) > HEADER_CHARS_MAX) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      else this.#add(stream, () => begin.call(server, interceptors, stream, headers));
    };
  }

  /** The first message of this call has come. */
  spoke(call: object): void {
    const { stream } = (call as { readonly call?: { readonly stream?: object } }).call ?? {};
    if (stream !== undefined) this.#noLongerSilent(stream);
  }

  #add(stream: Stream, begin: () => void): void {
    const { session } = stream;
    if (session === undefined || stream.closed) return;
    this.#watch(stream);
    const guarded = (): void => {
      if (stream.destroyed || stream.closed) return;
      try {
        begin();
      } catch {
        stream.destroy();
      }
    };
    const others = this.#waiting.get(session);
    if (others !== undefined) {
      if (others.push(guarded) === STREAMS_AHEAD_MAX && !session.destroyed) this.#hold(session);
    } else if (this.#waiting.set(session, [guarded]).size === 1) setImmediate(() => this.#runBatch());
  }

  #runBatch(): void {
    for (let i = 0; i < STREAMS_PER_TICK; i++) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [session, [begin, ...others]] = next;
      this.#waiting.delete(session);
      if (others.length > 0) this.#waiting.set(session, others);
      else this.#resume(session);
      begin?.();
    }
    if (this.#waiting.size > 0) setImmediate(() => this.#runBatch());
  }

  #hold(session: ServerHttp2Session): void {
    if (holdReading(session.socket)) this.#held.add(session);
  }

  #resume(session: ServerHttp2Session): void {
    if (this.#held.delete(session) && !session.destroyed) resumeReading(session.socket);
  }

  #watch(stream: Stream): void {
    const { clock, silentMsMax, silentMax = SILENT_STREAMS_MAX } = this.#options;
    const timer = clock.after(silentMsMax, () => {
      this.#silent.delete(stream);
      stream.close(constants.NGHTTP2_CANCEL);
    });
    this.#silent.set(stream, { stream, timer });
    stream.on('close', () => this.#noLongerSilent(stream));
    if (this.#silent.size <= silentMax) return;
    const [oldest] = this.#silent.values();
    if (oldest === undefined) return;
    this.#noLongerSilent(oldest.stream);
    oldest.stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  #noLongerSilent(stream: object): void {
    this.#silent.get(stream)?.timer.cancel();
    this.#silent.delete(stream);
  }
}

function charsOf(headers: Headers): number {
  let chars = 0;
  for (const [name, value] of Object.entries(headers)) chars += name.length + String(value ?? '').length;
  return chars;
}
