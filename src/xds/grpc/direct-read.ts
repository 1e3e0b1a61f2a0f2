// Hands small requests to the stream in the turn in which HTTP/2 delivers them. grpc-js pauses the HTTP/2 stream for
// each message, takes it through a queue, a promise and a second stream, and resumes: for an ACK that is more work than
// all that the session does with it, and there is one ACK for each response.
//
// Invariant: order. A chunk takes the direct way only if grpc-js holds nothing of the stream (no half message, no
// queue, no paused reader) and the chunk is whole, uncompressed messages within the limit; otherwise grpc-js reads it
// as always. What grpc-js holds is not part of its public API, and grpc-js is pinned to a version; without access to it
// every message takes the ordinary way.

import type { ServerDuplexStream } from '@grpc/grpc-js';
import { FRAME_HEADER_BYTES } from './shared-write.ts';

/** The parts of grpc-js's server call that are used (server-interceptors.js, BaseServerInterceptingCall). */
interface Reading {
  handleDataFrame(chunk: Buffer): void;
  checkCancelled(): boolean;
  readonly readQueue: readonly unknown[];
  readonly decoder: { readonly readState: number };
}

/** StreamDecoder's ReadState: the next byte begins a message. */
const BETWEEN_MESSAGES = 0;

/**
 * `receive` gets what the call's `data` listener would get. Call it when that listener is attached. `bytesMax`: of one
 * message. False: the call's inside is not as expected, and nothing was changed.
 */
export function readDirectly(
  call: ServerDuplexStream<Buffer, Buffer>,
  bytesMax: number,
  receive: (message: Buffer) => void,
): boolean {
  const reading = (call as { readonly call?: Partial<Reading> }).call;
  if (!isReading(reading)) return false;
  const ordinary = reading.handleDataFrame;
  const isFlowing = (): boolean => call.readableFlowing === true && call.readableLength === 0;
  reading.handleDataFrame = chunk => {
    const isIdle = reading.readQueue.length === 0 && reading.decoder.readState === BETWEEN_MESSAGES;
    if (!isIdle || !isWholeMessages(chunk, bytesMax)) return ordinary.call(reading, chunk);
    for (let at = 0; at < chunk.length; ) {
      // The receiver may pause the call at any message.
      if (!isFlowing()) return ordinary.call(reading, chunk.subarray(at));
      if (reading.checkCancelled()) return undefined;
      const end = at + FRAME_HEADER_BYTES + chunk.readUInt32BE(at + 1);
      receive(chunk.subarray(at + FRAME_HEADER_BYTES, end));
      at = end;
    }
    return undefined;
  };
  return true;
}

function isReading(reading: Partial<Reading> | undefined): reading is Reading {
  return (
    typeof reading?.handleDataFrame === 'function' &&
    typeof reading.checkCancelled === 'function' &&
    Array.isArray(reading.readQueue) &&
    typeof reading.decoder?.readState === 'number'
  );
}

/** Uncompressed messages of at most `bytesMax` bytes, the last of which ends with the chunk. */
function isWholeMessages(chunk: Buffer, bytesMax: number): boolean {
  let at = 0;
  while (at + FRAME_HEADER_BYTES <= chunk.length) {
    const length = chunk.readUInt32BE(at + 1);
    if (chunk[at] !== 0 || length > bytesMax) return false;
    at += FRAME_HEADER_BYTES + length;
  }
  return at === chunk.length;
}
