// A failed request to an API server: data for the reflector, and a message for the log.

export const FORBIDDEN = 403;
export const NOT_FOUND = 404;
export const CONFLICT = 409;

export interface Failure {
  /** HTTP status, or the code of a Status object in a watch; 0: no answer (network, TLS, credentials, timeout). */
  readonly status: number;
  /** Request and reason; never contains a credential. */
  readonly message: string;
  /** The server's word for it, e.g. `AlreadyExists`; absent: it gave none. */
  readonly reason?: string;
  /** The server's Retry-After. */
  readonly retryAfterMs?: number;
  /** The answer exceeded its limit. */
  readonly tooLarge?: boolean;
}

export class KubeFault extends Error {
  override readonly name = 'KubeFault';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export function failureOf(error: unknown): Failure {
  if (error instanceof KubeFault) return error.failure;
  return { status: 0, message: error instanceof Error ? error.message : String(error) };
}
