// Requests that list thousands of names: what follows from one is cut over turns of the event loop (decoding, the step
// of the session, its fact), so that a list of the largest size, or many of them in one packet, delays nothing for
// long. The inputs of a stream stay in order, since its queue waits for the promise.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ClientRequest } from '../session/session.ts';
import type { StreamInput } from './stream-input.ts';

/** Decoding, the step and the fact of as many names take some milliseconds each. */
export const NAMES_PER_TURN = 4_096;

export function namesIn(request: ClientRequest): number {
  if (request.protocol === 'sotw') return request.names.length;
  return request.subscribe.length + request.unsubscribe.length + request.initial.size;
}

/** Handles a request with more names in the next turn; undefined: done synchronously. */
export function inItsTurn(input: StreamInput, handle: () => Promise<void> | undefined): Promise<void> | undefined {
  if (input.kind !== 'Message' || namesIn(input.message.request) <= NAMES_PER_TURN) return handle();
  return nextTurn().then(handle);
}

export { nextTurn };
