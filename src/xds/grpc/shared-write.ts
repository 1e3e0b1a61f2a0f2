// Messages that many streams are sent: their bytes go to HTTP/2 as they are. grpc-js copies each message behind its frame header, once a stream,
// which for a thousand proxies and a route configuration of 276 KiB is 270 MiB of copies and as much garbage. Below its API there is an
// HTTP/2 stream that takes several buffers at once and does not copy them (docs/adr/0005).
//
// That stream is no public part of grpc-js, whose version is pinned; where it is not found, the message goes the ordinary way.

import { constants } from 'node:http2';
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Session } from './hang-up-queue.ts';

type Done = (error?: Error | null) => void;

export interface ByteStream {
  write(bytes: Uint8Array, done?: Done): boolean;
  cork(): void;
  uncork(): void;
  close(code: number): void;
  readonly writable: boolean;
  readonly session: Session | undefined;
}

/**
 * A response that has not been put together: grpc-js asks a serialized message for its length and has it copied behind the frame header
 * (server-interceptors.js, serializeMessage), so the pieces are copied once, there. Everything else sees a Buffer.
 */
class Pieces {
  readonly #pieces: readonly Buffer[];
  readonly byteLength: number;

  constructor(pieces: readonly Buffer[]) {
    this.#pieces = pieces;
    this.byteLength = lengthOf(pieces);
  }

  copy(target: Buffer, at: number): number {
    let end = at;
    for (const piece of this.#pieces) end += piece.copy(target, end);
    return end - at;
  }
}

const FRAME_HEADER_BYTES = 5;

/** Sends the concatenation of `pieces` as one message; they must not be changed afterwards. `done`: the transport took it, or failed. */
export function sendPieces(call: ServerDuplexStream<Buffer, Buffer>, pieces: readonly Buffer[], done: Done): void {
  const stream = byteStreamOf(call);
  if (stream === undefined) {
    call.write(new Pieces(pieces) as unknown as Buffer, done);
    return;
  }
  call.sendMetadata(new Metadata());
  // Not compressed, and the length (gRPC over HTTP/2, "Length-Prefixed-Message").
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32BE(lengthOf(pieces), 1);
  const last = pieces.at(-1) ?? header;
  stream.cork();
  if (last !== header) stream.write(header);
  for (const piece of pieces.slice(0, -1)) stream.write(piece);
  stream.write(last, done);
  stream.uncork();
}

/** The HTTP/2 stream under a call, while it can be written to. */
export function byteStreamOf(call: ServerDuplexStream<Buffer, Buffer>): ByteStream | undefined {
  const stream = streamOf(call);
  const usable =
    typeof stream?.write === 'function' && typeof stream.cork === 'function' && typeof stream.uncork === 'function';
  return usable && stream.writable === true ? (stream as ByteStream) : undefined;
}

/** Nobody is there any more to take a status. False as well where it cannot be seen. */
export function isGone(call: ServerDuplexStream<Buffer, Buffer>): boolean {
  return streamOf(call)?.writable === false;
}

function streamOf(call: ServerDuplexStream<Buffer, Buffer>): Partial<ByteStream> | undefined {
  return (call as { readonly call?: { readonly stream?: Partial<ByteStream> } }).call?.stream;
}

/** Ends the call at once, whatever is still to be written; false if that cannot be done here. */
export function resetStream(call: ServerDuplexStream<Buffer, Buffer>): boolean {
  const stream = byteStreamOf(call);
  stream?.close(constants.NGHTTP2_CANCEL);
  return stream !== undefined;
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
