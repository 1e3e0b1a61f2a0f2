// A session with a ZooKeeper ensemble that reads nodes and watches them. It reconnects by itself, to the next server,
// with the same session; after its expiry with a new one. A server that is behind what was read before refuses the
// session, so reads never go back.
//
// A watch fires once, and with every connection all watches are void: either wakes those who wait for a change, and
// they read again. So nothing depends on a server that remembers watches.

import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { AdapterLog } from '../adapter.ts';
import { backoffMs } from '../kit/backoff.ts';
import { type Chance, sleep } from '../kit/clock.ts';
import type { ClientTls } from '../kit/http-json.ts';
import * as limits from './limits.ts';
import {
  absentNode,
  answerOf,
  authentication,
  closing,
  type NodeData,
  noSession,
  opened,
  opening,
  ping,
  type Request,
  replyOf,
  requestPacket,
} from './packets.ts';

export interface SessionOptions {
  readonly servers: readonly { readonly host: string; readonly port: number }[];
  /** `user:password` of the scheme digest; read at each connection. */
  readonly auth?: () => Promise<string>;
  /** Absent: plain TCP. */
  readonly tls?: ClientTls;
  readonly chance: Chance;
  readonly log: AdapterLog;
}

interface Pending {
  readonly request: Request;
  readonly resolve: (answer: NodeData) => void;
  readonly reject: (error: Error) => void;
}

export class ZooKeeperSession {
  readonly #options: SessionOptions;
  readonly #stop = new AbortController();
  readonly #pending = new Map<number, Pending>();
  readonly #watches = new Map<string, Set<() => void>>();
  readonly #awaitingConnection = new Set<() => void>();
  #running: Promise<void> = Promise.resolve();
  #socket: Socket | undefined;
  #session = noSession;
  #lastZxid = 0n;
  #xid = 0;
  #trouble: string | undefined = 'not connected yet';

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Why there is no connection; undefined: there is one. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  start(): void {
    this.#running = this.#connectAlways();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#socket?.end(closing());
    this.#socket?.destroySoon();
    await this.#running;
  }

  /** Resolves when there is a connection, or the session is stopped. */
  async connected(): Promise<void> {
    while (this.#trouble !== undefined && !this.#stop.signal.aborted) {
      await new Promise<void>(resolve => this.#awaitingConnection.add(resolve));
    }
  }

  /** Rejects if the connection is lost or the server refuses. An absent node is an answer. */
  read(request: Request): Promise<NodeData> {
    const socket = this.#socket;
    if (socket === undefined || this.#trouble !== undefined) {
      return Promise.reject(new Error(this.#trouble ?? 'not connected'));
    }
    const xid = ++this.#xid;
    return new Promise((resolve, reject) => {
      this.#pending.set(xid, { request, resolve, reject });
      socket.write(requestPacket(xid, request));
    });
  }

  /** Resolves when a watch of the node fires or the connection is lost. Call it before the read that sets the watch. */
  changed(path: string): Promise<void> {
    return new Promise(resolve => {
      const watches = this.#watches.get(path) ?? new Set();
      this.#watches.set(path, watches.add(resolve));
    });
  }

  async #connectAlways(): Promise<void> {
    const { signal } = this.#stop;
    const { servers, chance } = this.#options;
    for (let attempt = 0, failures = 0; !signal.aborted; attempt++) {
      const server = servers[attempt % servers.length];
      if (server === undefined) return;
      try {
        const lost = await this.#connect(server);
        failures = 0;
        this.#lose(lost);
      } catch (error) {
        this.#lose((error as Error).message);
      }
      if (signal.aborted) break;
      failures++;
      const bounds = { minMs: limits.RETRY_MS_MIN, maxMs: limits.RETRY_MS_MAX };
      if (failures % servers.length === 0) {
        await sleep(chance, backoffMs(failures / servers.length, chance.random(), bounds), signal);
      }
    }
    this.#lose('stopped');
  }

  /** Resolves with why the connection ended; rejects if it never opened. */
  async #connect({ host, port }: SessionOptions['servers'][number]): Promise<string> {
    const { tls, auth } = this.#options;
    const secret = (await auth?.()) ?? '';
    if (this.#stop.signal.aborted) throw new Error('stopped');
    const { ca, cert, key, serverName = host } = tls ?? {};
    // An address is verified as the host is, and has no place in the handshake.
    const servername = isIP(serverName) === 0 ? serverName : '';
    const socket =
      tls === undefined
        ? connectTcp({ host, port, noDelay: true })
        : connectTls({ host, port, ca, cert, key, servername, minVersion: 'TLSv1.2' });
    this.#socket = socket;
    const ended = new Promise<string>(resolve => {
      socket.once('error', error => resolve(error.message || (error as NodeJS.ErrnoException).code || 'it failed'));
      socket.once('close', () => resolve('the connection was closed'));
    });
    const begun = this.#open(socket, secret);
    const why = await Promise.race([begun.then(() => undefined), ended]);
    if (why !== undefined) throw new Error(`${host}:${port}: ${why}`);
    this.#options.log('info', `ZooKeeper at ${host}:${port}: connected`);
    return `${host}:${port}: ${await ended}`;
  }

  #open(socket: Socket, secret: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let silent = this.#options.chance.after(limits.CONNECT_MS_MAX, () => socket.destroy(new Error('no answer')));
      let timeoutMs = limits.CONNECT_MS_MAX;
      let isOpen = false;
      let pinging: { cancel(): void } | undefined;
      const pingAlways = (): void => {
        socket.write(ping());
        pinging = this.#options.chance.after(timeoutMs / 3, pingAlways);
      };
      const take = (packet: Buffer): void => {
        if (isOpen) {
          this.#take(packet);
          return;
        }
        const { session, timeoutMs: agreed } = opened(packet);
        this.#session = session ?? noSession;
        if (session === undefined) throw new Error('the session is expired');
        isOpen = true;
        timeoutMs = agreed;
        if (secret !== '') socket.write(authentication(secret));
        pingAlways();
        this.#gain();
        resolve();
      };
      const packets = packetsOf(take);
      const connectEvent = this.#options.tls === undefined ? 'connect' : 'secureConnect';
      socket.once(connectEvent, () => socket.write(opening(this.#lastZxid, limits.SESSION_MS, this.#session)));
      socket.on('data', (chunk: Buffer) => {
        silent.cancel();
        silent = this.#options.chance.after(timeoutMs, () => socket.destroy(new Error('no answer')));
        try {
          packets(chunk);
        } catch (error) {
          socket.destroy(error as Error);
        }
      });
      socket.once('close', () => {
        silent.cancel();
        pinging?.cancel();
        reject(new Error('the connection was closed'));
      });
    });
  }

  #take(packet: Buffer): void {
    const reply = replyOf(packet);
    if (reply.kind === 'fired') this.#wake(reply.path);
    if (reply.kind === 'fired' || reply.kind === 'other') return;
    if (reply.zxid > this.#lastZxid) this.#lastZxid = reply.zxid;
    const pending = this.#pending.get(reply.xid);
    this.#pending.delete(reply.xid);
    if (pending === undefined) return;
    if (reply.kind === 'answer') pending.resolve(answerOf(pending.request, reply.body));
    else if (reply.absent) pending.resolve(absentNode);
    else pending.reject(new Error(reply.why));
  }

  #gain(): void {
    this.#trouble = undefined;
    for (const wake of this.#awaitingConnection) wake();
    this.#awaitingConnection.clear();
  }

  #lose(why: string): void {
    if (this.#trouble === undefined && !this.#stop.signal.aborted) {
      this.#options.log('warn', `ZooKeeper: the connection is lost (${why}); what was read stays`);
    }
    this.#trouble = why;
    this.#socket = undefined;
    for (const { reject } of this.#pending.values()) reject(new Error(why));
    this.#pending.clear();
    for (const path of [...this.#watches.keys()]) this.#wake(path);
    if (!this.#stop.signal.aborted) return;
    for (const wake of this.#awaitingConnection) wake();
    this.#awaitingConnection.clear();
  }

  #wake(path: string): void {
    const waiting = this.#watches.get(path);
    this.#watches.delete(path);
    for (const wake of waiting ?? []) wake();
  }
}

/** Cuts a stream of bytes into packets. Throws for one past the limit. */
export function packetsOf(take: (packet: Buffer) => void): (chunk: Buffer) => void {
  let chunks: Buffer[] = [];
  let size = 0;
  let wanted = 4;
  return chunk => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    let rest = Buffer.concat(chunks);
    for (;;) {
      const length = rest.length < 4 ? 0 : rest.readInt32BE(0);
      if (length < 0 || length > limits.PACKET_BYTES_MAX) throw new Error(`a packet of ${length} bytes`);
      wanted = 4 + length;
      if (rest.length < wanted || rest.length < 4) break;
      take(rest.subarray(4, wanted));
      rest = rest.subarray(wanted);
    }
    chunks = [rest];
    size = rest.length;
  };
}
