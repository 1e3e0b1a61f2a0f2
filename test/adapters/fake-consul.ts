// A Consul agent for tests: the catalogue, health, blocking queries with their indexes, ACLs that filter, and the ways
// in which servers go wrong.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeInstance {
  readonly id: string;
  readonly port: number;
  readonly address?: string;
  readonly meta?: Readonly<Record<string, string>>;
  readonly tags?: readonly string[];
  readonly status?: 'passing' | 'warning' | 'critical';
  readonly kind?: string;
  readonly weights?: { readonly Passing: number; readonly Warning: number };
}

export class FakeConsul {
  readonly services = new Map<string, readonly FakeInstance[]>();
  /** `path?index=N` of every request. */
  readonly asked: string[] = [];
  readonly tokens = new Set<string | undefined>();
  /** Names that the token may see; undefined: all. */
  visible: ((name: string) => boolean) | undefined;
  /** Answers every request with this status. */
  failing: number | undefined;
  index = 10;
  #server: Server | undefined;
  #waiting = new Set<() => void>();

  async listen(): Promise<string> {
    this.#server = createServer((request, response) => void this.#answer(request, response)).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server?.closeAllConnections();
    this.#server?.close();
  }

  set(name: string, instances: readonly FakeInstance[]): void {
    if (instances.length === 0) this.services.delete(name);
    else this.services.set(name, instances);
    this.moved();
  }

  /** The index moves, as on any write. */
  moved(by = 1): void {
    this.index += by;
    for (const wake of this.#waiting) wake();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://consul');
    const sent = Number(url.searchParams.get('index') ?? 0);
    this.asked.push(`${url.pathname}?index=${sent}`);
    this.tokens.add(request.headers['x-consul-token'] as string | undefined);
    while (sent > 0 && sent === this.index && this.failing === undefined && !response.closed) {
      await new Promise<void>(resolve => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        response.once('close', wake);
      });
    }
    if (this.failing !== undefined) {
      response.writeHead(this.failing).end('the agent is ill');
      return;
    }
    const sees = this.visible ?? (() => true);
    const filtered = this.visible !== undefined;
    response.setHeader('x-consul-index', String(this.index));
    response.setHeader('content-type', 'application/json');
    const isStreaming = sent > 0 && url.pathname.startsWith('/v1/health/');
    response.setHeader('x-consul-query-backend', isStreaming ? 'streaming' : 'blocking-query');
    response.setHeader('x-consul-knownleader', String(!isStreaming));
    response.setHeader('x-consul-effective-consistency', 'leader');
    // As Consul does, the fake tells only those who send a token that something is hidden.
    const hasToken = request.headers['x-consul-token'] !== undefined;
    if (filtered && hasToken) response.setHeader('x-consul-results-filtered-by-acls', 'true');
    if (filtered) response.setHeader('x-consul-default-acl-policy', 'deny');
    const names = [...this.services.keys()].filter(sees);
    if (url.pathname === '/v1/catalog/services') {
      response.end(JSON.stringify(Object.fromEntries(names.map(name => [name, []]))));
      return;
    }
    const name = decodeURIComponent(url.pathname.slice('/v1/health/service/'.length));
    if (sees(name)) response.removeHeader('x-consul-results-filtered-by-acls');
    const instances = sees(name) ? (this.services.get(name) ?? []) : [];
    response.end(JSON.stringify(instances.map(instance => healthOf(name, instance))));
  }
}

export function healthOf(name: string, instance: FakeInstance) {
  const { id, port, address = '10.0.0.1', meta = {}, tags = [], status = 'passing', kind = '', weights } = instance;
  return {
    Node: { Node: 'node-1', Address: '10.0.0.9', Datacenter: 'dc1' },
    Service: {
      ID: id,
      Service: name,
      Address: address,
      Port: port,
      Meta: meta,
      Tags: tags,
      Kind: kind,
      Weights: weights ?? { Passing: 1, Warning: 1 },
    },
    Checks: [
      { CheckID: 'serfHealth', Status: 'passing' },
      { CheckID: `service:${id}`, Status: status, ServiceID: id },
    ],
  };
}
