// A TCP proxy in front of several replicas that moves every connection to another one when told to, as a load balancer
// does after a failure.

import { createConnection, createServer, type Server, type Socket } from 'node:net';

export class Switch {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  target: number;

  private constructor(server: Server, target: number) {
    this.#server = server;
    this.target = target;
    this.port = (server.address() as { readonly port: number }).port;
    server.on('connection', socket => this.#join(socket));
  }

  static async begin(target: number): Promise<Switch> {
    const server = createServer();
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return new Switch(server, target);
  }

  /** New connections go there; those that stand are cut. */
  move(target: number): void {
    this.target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.move(this.target);
    await new Promise(resolve => this.#server.close(resolve));
  }

  #join(from: Socket): void {
    const to = createConnection(this.target, '127.0.0.1');
    for (const socket of [from, to]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        from.destroy();
        to.destroy();
      });
    }
    from.pipe(to);
    to.pipe(from);
  }
}
