// Between an adapter and the API server: plain HTTP in, TLS out, and in between whatever networks and proxies do to a
// watch.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { request } from 'node:https';
import type { Socket } from 'node:net';
import type { Cluster } from './cluster.ts';

export class FaultProxy {
  /** Every line of a watch is sent twice, and once more after the next. */
  repeat = false;
  /** Milliseconds by which what the server says is held up. */
  delayMs = 0;
  /** Watches go silent without an error. */
  frozen = false;
  /** The next watches are told that their version is too old. */
  expired = 0;
  watches = 0;
  lists = 0;
  readonly methods = new Set<string>();
  readonly #cluster: Cluster;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#server = createServer((incoming, response) => this.#forward(incoming, response));
    this.#server.on('connection', socket => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(cluster: Cluster): Promise<FaultProxy> {
    const proxy = new FaultProxy(cluster);
    await new Promise<void>(resolve => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  }

  /** All connections break. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise(resolve => this.#server.close(resolve));
  }

  #forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '', headers } = incoming;
    this.methods.add(method);
    const isWatch = url.includes('watch=true');
    if (isWatch) this.watches += 1;
    else this.lists += 1;
    if (isWatch && this.expired > 0) {
      this.expired -= 1;
      const status = { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410, message: 'too old' };
      response.end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`);
      return;
    }
    const { server, tls } = this.#cluster;
    const sent = request(`${server}${url}`, { method, headers: { ...headers, host: 'kubernetes' }, ...tls }, answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      const say = isWatch ? this.#sayLines(response) : (chunk: Buffer): void => void response.write(chunk);
      answer.on('data', (chunk: Buffer) => {
        if (this.delayMs === 0) say(chunk);
        else setTimeout(say, this.delayMs, chunk);
      });
      answer.on('end', () => setTimeout(() => response.end(), this.delayMs));
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    sent.end();
  }

  #sayLines(response: ServerResponse): (chunk: Buffer) => void {
    let rest = '';
    let last = '';
    return chunk => {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (this.frozen) continue;
        response.write(this.repeat ? `${line}\n${line}\n${last}\n` : `${line}\n`);
        last = line;
      }
    };
  }
}
