// Stops reading from a connection below its TLS socket, so that the bytes of its client wait in the kernel until their
// turn. Node has no public way: `pause` stops what is handed out, and not the handshake.
//
// The members that are used are Node's own and not documented. Where they are missing nothing is held.

import type { Socket } from 'node:net';
import type { HostClock, HostTimer } from '../serve/host.ts';

/** Node's handle of a TCP connection. */
interface Handle {
  readonly readStart?: unknown;
  readonly readStop?: unknown;
}

/** False: Node has no such handle, and the connection is read as before. */
export function holdReading(socket: Socket): boolean {
  return called(socket, 'readStop');
}

/** Also for a connection that is not held. */
export function resumeReading(socket: Socket): void {
  called(socket, 'readStart');
}

function called(socket: Socket, name: keyof Handle): boolean {
  const handle = (socket as { readonly _handle?: Handle | null })._handle;
  const method = handle?.[name];
  if (typeof method !== 'function') return false;
  method.call(handle);
  return true;
}

/** Connections that are read from in one turn, and how far turns are apart. */
export const READ_IN_TURN_MAX = 16;
export const READ_PAUSE_MS = 20;

interface Held {
  readonly socket: Socket;
  readonly isOver: () => boolean;
}

/**
 * Connections that are not read from but in turns, in order: some of them for one turn of the event loop, in which the
 * bytes that have come are read. One without any costs nothing.
 */
export class ReadInTurns {
  readonly #clock: HostClock;
  #held: Held[] = [];
  #timer: HostTimer | undefined;

  constructor(clock: HostClock) {
    this.#clock = clock;
  }

  /** Until `isOver`. */
  add(socket: Socket, isOver: () => boolean): void {
    if (!holdReading(socket)) return;
    this.#held.push({ socket, isOver });
    this.#timer ??= this.#clock.after(READ_PAUSE_MS, () => this.#turn());
  }

  #turn(): void {
    this.#timer = undefined;
    const now = this.#held.slice(0, READ_IN_TURN_MAX).filter(({ isOver }) => !isOver());
    this.#held = this.#held.slice(READ_IN_TURN_MAX);
    for (const { socket } of now) resumeReading(socket);
    if (this.#held.length > 0) this.#timer = this.#clock.after(READ_PAUSE_MS, () => this.#turn());
    // Immediates run after what has come is read.
    setImmediate(() => {
      for (const { socket, isOver } of now) if (!isOver()) this.add(socket, isOver);
    });
  }
}
