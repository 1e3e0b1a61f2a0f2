// What may come of a request to an API server other than the answer: data for the reflector, and a message for people.

export const NOT_FOUND = 404;

export interface Failure {
  /** HTTP status, or that of a Status object in a watch; 0: no answer (network, TLS, credentials, time). */
  readonly status: number;
  /** Names the request and the reason; never a credential. */
  readonly message: string;
  /** What the server asked to wait. */
  readonly retryAfterMs?: number;
  /** The answer was larger than its limit. */
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
