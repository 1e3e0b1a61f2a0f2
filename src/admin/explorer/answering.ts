// Passing an answer of a thread on: as JSON, or for an asker that takes a stream as `progress` events and then one of
// `answer` or `fault`. A question that is answered soon is answered with JSON in either case, with its status; later
// the stream has begun with status 200, and a fault is an event.
//
// Invariant: the loop passes a large answer on in parts, so that one answer holds up no other request.

import type { ServerResponse } from 'node:http';
import type { ThreadAnswer } from './asker.ts';
import { SAFE_HEADERS, STREAM_HEADERS } from './respond.ts';

/** A page says how far a question is that takes longer. */
export const SOON_MS = 1_000;
/** Bytes given to the socket at once. */
const WRITE_BYTES = 256 * 1024;

type OnProgress = (done: number, of: number) => void;

/** Resolves when everything is sent, or the asker left. */
export function answered(response: ServerResponse, { status, body }: ThreadAnswer): Promise<void> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length, 'cache-control': 'no-store' };
  response.writeHead(status, { ...SAFE_HEADERS, ...headers });
  return written(response, body);
}

/** `delayMs`: when the stream begins, unless the answer is there before; 0: at once, whatever the answer takes. */
export async function answeredWithProgress(
  response: ServerResponse,
  ask: (onProgress: OnProgress) => Promise<ThreadAnswer>,
  delayMs: number,
): Promise<void> {
  let isStream = false;
  let latest = { done: 0, of: 0 };
  const say = (): void => {
    if (!response.destroyed) response.write(`event: progress\ndata: ${JSON.stringify(latest)}\n\n`);
  };
  const begin = (): void => {
    isStream = true;
    response.writeHead(200, STREAM_HEADERS);
    say();
  };
  const timer = delayMs === 0 ? undefined : setTimeout(begin, delayMs);
  if (timer === undefined) begin();
  const answer = await ask((done, of) => {
    latest = { done, of };
    if (isStream) say();
  });
  clearTimeout(timer);
  if (!isStream) return answered(response, answer);
  response.write(`event: ${answer.status === 200 ? 'answer' : 'fault'}\ndata: `);
  return written(response, answer.body, '\n\n');
}

function written(response: ServerResponse, body: Uint8Array, end = ''): Promise<void> {
  return new Promise(resolve => {
    response.once('close', resolve);
    const writeFrom = (at: number): void => {
      if (at >= body.length) response.end(end);
      else if (response.destroyed) resolve();
      else if (response.write(body.subarray(at, at + WRITE_BYTES))) setImmediate(() => writeFrom(at + WRITE_BYTES));
      else response.once('drain', () => writeFrom(at + WRITE_BYTES));
    };
    writeFrom(0);
  });
}
