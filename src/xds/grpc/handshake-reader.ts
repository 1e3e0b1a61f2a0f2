// Reads what clients send during their TLS handshakes, in place of Node, which hands every byte that has come to
// OpenSSL in one turn of the event loop. OpenSSL verifies each certificate that a client sends before this process can
// refuse it: a chain of 90 that leads nowhere takes 0.1 to 0.5 s, and a client needs no identity to send one. So a
// handshake has a limit of bytes, one that took long is the last of its turn, and no handshake is read for as long
// after it.
//
// Invariant: from `add` until `isOver` the connection is read from here alone.
//
// Node has no public way. The members of its handles are not documented; where they are missing Node reads.

import { readSync } from 'node:fs';
import type { Socket } from 'node:net';
import { holdReading, READ_IN_TURN_MAX, READ_PAUSE_MS } from './held-reading.ts';

/**
 * Bytes that a client may send until its handshake is over: a leaf and four intermediates with RSA keys of 4,096 bits
 * have 9 KB. Node's own limit of a chain is 100 KB.
 */
export const HANDSHAKE_BYTES_MAX = 12 * 1024;
/** How long a turn reads; at least one connection is read. */
export const HANDSHAKE_TURN_MS = 10;
/** Between turns: of those whose turn it is; longer after turns that took longer. */
export const HANDSHAKE_PAUSE_MS = 2;

const PEERS_MAX = 4_096;

export interface ReadHandshake {
  readonly socket: Socket;
  /** Addresses take turns. */
  readonly peer: string;
  /** Its bytes go there, in order. */
  readonly receive: (bytes: Buffer) => void;
  readonly isOver: () => boolean;
  /** Its turn is over: it is read from now and then. */
  readonly isSlow: () => boolean;
}

interface Held extends ReadHandshake {
  readonly fd: number;
  bytesLeft: number;
}

export class HandshakeReader {
  readonly #buffer = Buffer.allocUnsafe(HANDSHAKE_BYTES_MAX);
  #quick: Held[] = [];
  #slow: Held[] = [];
  /** Peer → when one of its handshakes was last read, as a count of reads. Forgotten past PEERS_MAX. */
  readonly #lastRead = new Map<string, number>();
  #reads = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `bytesRead` of it were received already. False: Node reads it. */
  add(handshake: ReadHandshake, bytesRead: number): boolean {
    const fd = fdOf(handshake.socket);
    if (fd === undefined || !holdReading(handshake.socket)) return false;
    this.#quick.push({ ...handshake, fd, bytesLeft: HANDSHAKE_BYTES_MAX - bytesRead });
    this.#wakeAfter(HANDSHAKE_PAUSE_MS);
    return true;
  }

  #wakeAfter(ms: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#turn();
    }, ms);
  }

  #turn(): void {
    const since = performance.now();
    const took = (): number => performance.now() - since;
    this.#sort();
    const now = [...this.#quick, ...this.#slow.splice(0, READ_IN_TURN_MAX)];
    // Those of the peer that was read longest ago come first.
    now.sort((a, b) => this.#readAt(a) - this.#readAt(b));
    let read = 0;
    for (const one of now) {
      if (read > 0 && took() > HANDSHAKE_TURN_MS) break;
      this.#read(one);
      read++;
    }
    // A slow one that had no turn keeps its place.
    const [left, had] = [now.slice(read), now.slice(0, read)].map(some => some.filter(one => one.isSlow()));
    this.#slow = [...(left ?? []), ...this.#slow, ...(had ?? [])];
    this.#sort();
    if (this.#quick.length > 0) this.#wakeAfter(Math.max(HANDSHAKE_PAUSE_MS, took()));
    else if (this.#slow.length > 0) this.#wakeAfter(Math.max(READ_PAUSE_MS, took()));
    else this.#lastRead.clear();
  }

  #readAt({ peer }: Held): number {
    return this.#lastRead.get(peer) ?? 0;
  }

  /** Drops those that are over, and moves those whose turn is over. */
  #sort(): void {
    this.#slow = [...this.#slow, ...this.#quick.filter(one => one.isSlow())].filter(one => !isGone(one));
    this.#quick = this.#quick.filter(one => !isGone(one) && !one.isSlow());
  }

  #read(one: Held): void {
    if (isGone(one)) return;
    const bytes = this.#bytesOf(one);
    if (bytes === undefined) return;
    if (this.#lastRead.size > PEERS_MAX) this.#lastRead.clear();
    this.#lastRead.set(one.peer, ++this.#reads);
    one.bytesLeft -= bytes.length;
    if (bytes.length > 0) one.receive(bytes);
    // The end of its bytes, or of what it may send.
    if (!one.isOver() && (bytes.length === 0 || one.bytesLeft <= 0)) one.socket.destroy();
  }

  /** Undefined: none have come. Empty: there will be none. */
  #bytesOf({ fd, bytesLeft }: Held): Buffer | undefined {
    try {
      return Buffer.from(this.#buffer.subarray(0, readSync(fd, this.#buffer, 0, bytesLeft, null)));
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? undefined : Buffer.alloc(0);
    }
  }
}

function isGone({ socket, isOver, fd }: Held): boolean {
  return isOver() || socket.destroyed || fdOf(socket) !== fd;
}

/** Undefined: closed, or Node does not say. */
function fdOf(socket: Socket): number | undefined {
  const fd = (socket as { readonly _handle?: { readonly fd?: number } | null })._handle?.fd;
  return fd === undefined || fd < 0 ? undefined : fd;
}
