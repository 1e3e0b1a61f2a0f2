// Writes shared pieces to HTTP/2 without copying them. grpc-js copies each message behind its frame header, once for
// each stream: for a thousand proxies and a route configuration of 276 KiB that is 270 MiB of copies. The HTTP/2 stream
// below its API takes several buffers at once (docs/adr/0005).
//
// That stream is not part of grpc-js's public API, and grpc-js is pinned to a version. Without access to it the message
// takes the ordinary way.

import { constants } from 'node:http2';
import { Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Session } from './hang-up-queue.ts';
import { type CorkedStream, type Done, SlicedWrites } from './sliced-writes.ts';

export interface ByteStream extends CorkedStream {
  close(code: number): void;
  readonly session: Session | undefined;
}

/**
 * Poses as a Buffer for grpc-js, which only asks a serialized message for its length and copies it behind the frame
 * header (server-interceptors.js, serializeMessage). So the pieces are copied once, there.
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

/** Compressed flag, and the length of the message (gRPC over HTTP/2, "Length-Prefixed-Message"). */
export const FRAME_HEADER_BYTES = 5;
/** Up to this many bytes one copy costs less than three buffers in one write. Such a buffer comes from Node's pool. */
const COPIED_BYTES_MAX = 4_000;

const noMetadata = new Metadata();

/** Streams over TLS that messages were written to. */
const sliced = new WeakMap<ByteStream, SlicedWrites>();

function slicesOf(stream: ByteStream): SlicedWrites {
  const writes = sliced.get(stream) ?? new SlicedWrites(stream);
  sliced.set(stream, writes);
  return writes;
}

/** What follows on the stream by another way (a status, its end) comes after all that was sent. */
export function flushPieces(call: ServerDuplexStream<Buffer, Buffer>): void {
  const stream = byteStreamOf(call);
  if (stream !== undefined) sliced.get(stream)?.flush();
}

/**
 * Sends the concatenation of `pieces`, which must not be changed afterwards, as one message. `done`: taken by the
 * transport, or failed.
 */
export function sendPieces(call: ServerDuplexStream<Buffer, Buffer>, pieces: readonly Buffer[], done: Done): void {
  const stream = byteStreamOf(call);
  if (stream === undefined) {
    call.write(new Pieces(pieces) as unknown as Buffer, done);
    return;
  }
  call.sendMetadata(noMetadata);
  const length = lengthOf(pieces);
  const whole = length <= COPIED_BYTES_MAX ? inOne(pieces, length) : undefined;
  if (stream.session?.encrypted === true) {
    slicesOf(stream).add(whole === undefined ? [headerOf(length), ...pieces] : [whole], done);
    return;
  }
  if (whole !== undefined) {
    stream.write(whole, done);
    return;
  }
  const header = headerOf(length);
  const last = pieces.at(-1) ?? header;
  stream.cork();
  if (last !== header) stream.write(header);
  for (const piece of pieces.slice(0, -1)) stream.write(piece);
  stream.write(last, done);
  stream.uncork();
}

function headerOf(length: number): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  writeHeader(header, length);
  return header;
}

/** Not compressed. */
function writeHeader(target: Buffer, length: number): void {
  target[0] = 0;
  target.writeUInt32BE(length, 1);
}

function inOne(pieces: readonly Buffer[], length: number): Buffer {
  const whole = Buffer.allocUnsafe(FRAME_HEADER_BYTES + length);
  writeHeader(whole, length);
  let at = FRAME_HEADER_BYTES;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole;
}

/** The HTTP/2 stream under a call, while it can be written to. */
export function byteStreamOf(call: ServerDuplexStream<Buffer, Buffer>): ByteStream | undefined {
  const stream = streamOf(call);
  const usable =
    typeof stream?.write === 'function' && typeof stream.cork === 'function' && typeof stream.uncork === 'function';
  return usable && stream.writable === true ? (stream as ByteStream) : undefined;
}

/** True if the client can no longer receive a status. False if that is unknown. */
export function isGone(call: ServerDuplexStream<Buffer, Buffer>): boolean {
  return streamOf(call)?.writable === false;
}

function streamOf(call: ServerDuplexStream<Buffer, Buffer>): Partial<ByteStream> | undefined {
  return (call as { readonly call?: { readonly stream?: Partial<ByteStream> } }).call?.stream;
}

/** Resets the HTTP/2 stream, dropping unwritten data; false if the stream is not accessible. */
export function resetStream(call: ServerDuplexStream<Buffer, Buffer>): boolean {
  const stream = byteStreamOf(call);
  stream?.close(constants.NGHTTP2_CANCEL);
  return stream !== undefined;
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
