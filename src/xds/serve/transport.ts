// What carries the messages of one stream: grpc-js in the server, a simulated network in the simulator and in tests.

export type EndCode =
  | 'OK'
  | 'INVALID_ARGUMENT'
  | 'FAILED_PRECONDITION'
  | 'UNAUTHENTICATED'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'UNKNOWN'
  | 'INTERNAL';

/** The wire below a stream. No method is called after `end`. */
export interface Transport {
  /** `done`: the transport took the message, or failed. */
  send(message: Buffer, done: (error?: Error | null) => void): void;
  /** `send` for the concatenation of shared, immutable pieces, which the transport need not copy. */
  sendPieces?(pieces: readonly Buffer[], done: (error?: Error | null) => void): void;
  end(code: EndCode, message: string): void;
  /** Stop and resume reading requests. */
  pause(): void;
  resume(): void;
}
