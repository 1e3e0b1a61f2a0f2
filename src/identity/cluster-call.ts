// One request to the API server, for the few things that identity asks of it: reviews of tokens and rights, the Secret
// of the root. Who makes the connection is the runtime's business; tests put an answer of their own in its place.

import { isObject, type Json } from '../core/base/json.ts';

export interface ClusterAnswer {
  /** HTTP; 0: there was no answer. */
  readonly status: number;
  readonly body: Json;
}

/** Never rejects: what went wrong is status 0 with a text as body. Bounded in time and size. */
export type ClusterCall = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: Json,
) => Promise<ClusterAnswer>;

/** In the server's own words as far as it has said any. */
export function refusalOf(status: number, body: Json): string {
  if (typeof body === 'string') return body === '' ? `status ${status}` : body;
  const message = isObject(body) ? body.message : undefined;
  return typeof message === 'string' ? `${status} ${message}` : `status ${status}`;
}
