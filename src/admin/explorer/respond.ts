// Headers and refusals that everything of the explorer answers with: nothing of it may run, be framed, or be guessed to
// be of another type, whatever names and messages it holds.

import type { ServerResponse } from 'node:http';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** On every answer below /ui/ and /api/. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** Of a stream of events. */
export const STREAM_HEADERS = { ...SAFE_HEADERS, 'content-type': 'text/event-stream', 'cache-control': 'no-store' };

export function refuse(response: ServerResponse, status: number, error: string): void {
  // What is left of a body is not read.
  response.writeHead(status, { ...SAFE_HEADERS, 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify({ error }));
}
