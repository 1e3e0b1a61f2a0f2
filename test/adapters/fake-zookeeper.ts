// A ZooKeeper server for tests: a tree of nodes, one-shot watches, sessions that end, and nodes that may not be read.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { JuteReader, JuteWriter } from '../../src/adapters/zookeeper/jute.ts';
import { packetsOf } from '../../src/adapters/zookeeper/session.ts';

const NO_NODE = -101;
const NO_AUTH = -102;
const CHILD_CHANGED = 4;
const DATA_CHANGED = 3;

export class FakeZooKeeper {
  /** Data by path; a folder is there if a node below it is. */
  readonly nodes = new Map<string, string>();
  /** `op path` of every read. */
  readonly asked: string[] = [];
  readonly auths: string[] = [];
  readonly sessions: bigint[] = [];
  /** Paths that may not be read. */
  hidden: (path: string) => boolean = () => false;
  /** Sessions are expired when their clients come back. */
  expiring = false;
  #zxid = 1n;
  #lastSession = 100n;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #watches = new Map<string, Set<Socket>>();

  async listen(port = 0, tls?: TlsOptions): Promise<number> {
    const serve = (socket: Socket): void => this.#serve(socket);
    const server = tls === undefined ? createServer(serve) : createTlsServer(tls, serve).on('tlsClientError', () => {});
    this.#server = server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server?.close();
    this.drop();
  }

  /** Cuts every connection. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  set(path: string, data: string | undefined): void {
    this.#zxid++;
    const existed = this.nodes.has(path);
    if (data === undefined) this.nodes.delete(path);
    else this.nodes.set(path, data);
    this.#fire(path, DATA_CHANGED);
    if (existed && data !== undefined) return;
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      this.#fire(path.slice(0, end), CHILD_CHANGED);
    }
  }

  #fire(path: string, type: number): void {
    for (const socket of this.#watches.get(path) ?? []) {
      socket.write(new JuteWriter().int(-1).long(-1n).int(0).int(type).int(3).text(path).packet());
    }
    this.#watches.delete(path);
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      for (const watching of this.#watches.values()) watching.delete(socket);
    });
    socket.on('error', () => undefined);
    let isOpen = false;
    const packets = packetsOf(packet => {
      if (isOpen) return this.#answer(socket, new JuteReader(packet));
      isOpen = true;
      this.#open(socket, new JuteReader(packet));
    });
    socket.on('data', packets);
  }

  #open(socket: Socket, request: JuteReader): void {
    request.int();
    request.long();
    request.int();
    const session = request.long();
    this.sessions.push(session);
    const isExpired = this.expiring && session !== 0n;
    if (isExpired) this.expiring = false;
    const given = session === 0n ? ++this.#lastSession : session;
    const answer = new JuteWriter()
      .int(0)
      .int(isExpired ? 0 : 10_000)
      .long(isExpired ? 0n : given);
    socket.write(answer.buffer(Buffer.alloc(16, 7)).bool(false).packet());
    if (isExpired) socket.end();
  }

  #answer(socket: Socket, request: JuteReader): void {
    const xid = request.int();
    const op = request.int();
    const reply = (error: number): JuteWriter => new JuteWriter().int(xid).long(this.#zxid).int(error);
    if (xid === -4) {
      request.int();
      request.text();
      this.auths.push(request.text());
    }
    if (op === 11 || xid === -4) return void socket.write(reply(0).packet());
    if (op === -11) return void socket.end();
    const path = request.text();
    this.asked.push(`${op} ${path}`);
    if (this.hidden(path)) return void socket.write(reply(NO_AUTH).packet());
    if (op === 9) return void socket.write(reply(0).text(path).packet());
    const below = [...this.nodes.keys()].filter(node => node.startsWith(`${path}/`));
    const exists = this.nodes.has(path) || below.length > 0;
    if (exists || op === 3) this.#watches.set(path, (this.#watches.get(path) ?? new Set()).add(socket));
    if (!exists) return void socket.write(reply(NO_NODE).packet());
    if (op === 4) {
      const stat = reply(0)
        .buffer(Buffer.from(this.nodes.get(path) ?? ''))
        .long(1n)
        .long(1n)
        .long(5n)
        .long(5n);
      return void socket.write(stat.int(0).int(0).int(0).long(0n).int(0).int(0).long(1n).packet());
    }
    const children = [...new Set(below.map(node => node.slice(path.length + 1).split('/')[0] ?? ''))];
    const answer = reply(0).int(children.length);
    for (const child of children) answer.text(child);
    socket.write(answer.packet());
  }
}
