// What carries the messages of one stream: grpc-js in a server, a network of its own in the simulator.

export type EndCode =
  | 'OK'
  | 'INVALID_ARGUMENT'
  | 'PERMISSION_DENIED'
  | 'RESOURCE_EXHAUSTED'
  | 'UNAVAILABLE'
  | 'DEADLINE_EXCEEDED'
  | 'INTERNAL';

/** The wire under a stream. After `end` nothing is called any more. */
export interface Transport {
  /** `done`: the transport took the message, or failed. */
  send(message: Buffer, done: (error?: Error | null) => void): void;
  /** As `send` of the concatenation, of pieces that other streams are sent as well: they are not changed, and need not be copied. */
  sendPieces?(pieces: readonly Buffer[], done: (error?: Error | null) => void): void;
  end(code: EndCode, message: string): void;
  /** Stop and go on reading requests. */
  pause(): void;
  resume(): void;
}
