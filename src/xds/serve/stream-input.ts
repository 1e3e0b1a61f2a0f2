// What a stream handles, one input after another: messages of the client, its end, and what its own work brings.

import type { JsonObject } from '../../core/base/json.ts';
import type { ClientRequest, SessionInput } from '../session/session.ts';

export interface Incoming {
  readonly node: JsonObject | undefined;
  readonly request: ClientRequest;
}

export type StreamInput =
  | { readonly kind: 'Message'; readonly message: Incoming }
  | { readonly kind: 'Closed'; readonly reason: string }
  | SessionInput;
