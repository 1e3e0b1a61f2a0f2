// The HTTPS server of the webhooks: /inject and below, /validate, /ready. Bodies, time and connections are limited; a
// request that breaks a limit is answered or cut, and the process goes on. At the limit of connections the one that has
// been idle longest makes room, so that idle ones do not keep out the API server.
//
// The serving certificate is the one of the secure port; until there is one every handshake fails, as it should.
// Source: Istio pilot/pkg/bootstrap/server.go (initSecureWebhookServer), pkg/kube/inject/webhook.go (serveInject).

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import { BatchPerTick } from '../../net/batch-per-tick.ts';
import { listen } from '../../net/listen.ts';
import { limitConnections } from '../../net/open-connections.ts';
import { limitRequests } from '../../net/request-limits.ts';
import { Bodies } from './bodies.ts';
import { REVIEW_MARKS_MAX, ReviewShape } from './review-shape.ts';
import { ReviewTurns } from './review-turns.ts';
import { ValidationThread } from './validation-thread.ts';
import type { WebhookCounts, WebhookLog, Webhooks } from './webhooks.ts';

/** As istiod's limit (Istio pkg/kube/configreader.go, HTTPConfigReader). */
export const BODY_BYTES_MAX = 6_291_456;
/** A request as a whole. The API server waits for ten seconds unless told otherwise. */
export const WEBHOOK_MS_MAX = 10_000;
export const WEBHOOK_CONNECTIONS_MAX = 512;
const IDLE_MS_MAX = 90_000;
/** Pieces of bodies that are looked at in one tick of the event loop, 64 KiB at most each. */
const CHUNKS_PER_TICK = 16;
/** How often Node looks for requests that are past their time. */
const CHECK_MS = 1_000;

export interface WebhookServerOptions {
  readonly webhooks: Webhooks;
  readonly counts: WebhookCounts;
  readonly log: WebhookLog;
  readonly ready: () => boolean;
  /** False: /inject is no page. */
  readonly injects: boolean;
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** For tests: validates large reviews. */
  readonly thread?: ValidationThread;
}

interface ReadBody {
  readonly bytes: Buffer;
  readonly marks: number;
}

export class WebhookServer {
  readonly #options: WebhookServerOptions;
  readonly #server: Server;
  readonly #bodies = new Bodies();
  readonly #turns = new ReviewTurns();
  readonly #largeTurns = new ReviewTurns();
  readonly #thread: ValidationThread;
  /** Pieces of bodies that have come. */
  readonly #chunks = new BatchPerTick<() => void>(CHUNKS_PER_TICK, goOn => goOn());
  /** Connections with a review under way. */
  readonly #asking = new Set<Socket>();

  constructor(options: WebhookServerOptions) {
    this.#options = options;
    this.#thread = options.thread ?? new ValidationThread();
    const limits = {
      handshakeTimeout: WEBHOOK_MS_MAX,
      requestTimeout: WEBHOOK_MS_MAX,
      headersTimeout: WEBHOOK_MS_MAX,
      keepAliveTimeout: IDLE_MS_MAX,
      connectionsCheckingInterval: CHECK_MS,
    };
    this.#server = createServer({ minVersion: options.minVersion, ...limits }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        options.log('error', `a webhook request failed: ${error instanceof Error ? error.message : String(error)}`);
        response.destroy();
      });
    });
    limitConnections(this.#server, WEBHOOK_CONNECTIONS_MAX);
    limitRequests(this.#server, true);
    this.#server.on('tlsClientError', error => options.log('debug', `webhook port: ${error.message}`));
  }

  /** For handshakes from now on. Throws if certificate and key do not fit. */
  use({ certificate, key }: { readonly certificate: string; readonly key: string }): void {
    this.#server.setSecureContext({ cert: certificate, key, minVersion: this.#options.minVersion });
  }

  /** Resolves with the port. */
  listen(host: string, port: number): Promise<number> {
    return listen(this.#server, { host, port }, message => this.#options.log('warn', `webhook port: ${message}`));
  }

  /** Requests under way are answered, for at most `ms`. */
  close(ms: number): Promise<void> {
    return new Promise(resolve => {
      const timer = setTimeout(() => this.#server.closeAllConnections(), ms);
      this.#server.close(() => {
        clearTimeout(timer);
        void this.#thread.close().then(resolve);
      });
      this.#server.closeIdleConnections();
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = decodedPath(request.url ?? '/');
    const { webhooks, counts, ready, injects } = this.#options;
    if (path === '/ready') return end(response, ready() ? 200 : 503, '');
    if (injects && (path === '/inject' || path.startsWith('/inject/'))) {
      const start = process.hrtime.bigint();
      counts.injection('request');
      const body = await this.#body(request, response, REVIEW_MARKS_MAX);
      if ('bytes' in body) {
        const answer = await this.#inTurn(request, () => webhooks.inject(body.bytes.toString('utf8'), path));
        end(response, 200, answer, 'application/json');
        counts.injection('success');
      } else counts.injection('failure');
      counts.injectionSeconds(Number(process.hrtime.bigint() - start) / 1e9);
      return;
    }
    if (path !== '/validate' && path !== '/validate/') return end(response, 404, '404 page not found\n');
    const body = await this.#body(request, response, Infinity);
    if (!('bytes' in body)) {
      if (body.status !== NOT_COUNTED) counts.httpError(body.status);
    } else if (body.marks > REVIEW_MARKS_MAX) await this.#validateLarge(request, response, body.bytes);
    else {
      const answer = await this.#inTurn(request, () => webhooks.validate(body.bytes.toString('utf8')));
      end(response, 200, answer, 'application/json');
    }
  }

  /** In the thread. Without a verdict the API server refuses the object, and shows why there is none. */
  async #validateLarge({ socket }: IncomingMessage, response: ServerResponse, bytes: Buffer): Promise<void> {
    const { webhooks, counts, log } = this.#options;
    try {
      const validation = await this.#largeTurns.run(socket.remoteAddress ?? '', () =>
        socket.destroyed ? undefined : this.#thread.validate(bytes),
      );
      end(response, 200, validation === undefined ? '' : webhooks.validated(validation), 'application/json');
    } catch (error) {
      const why = `the review ${error instanceof Error ? error.message : String(error)}`;
      log('error', `validation failed: ${why}`);
      counts.httpError(503);
      end(response, 503, `${why}\n`);
    }
  }

  /** A client that is gone gets no answer, and none is made. */
  #inTurn({ socket }: IncomingMessage, review: () => string): Promise<string> {
    return this.#turns.run(socket.remoteAddress ?? '', () => (socket.destroyed ? '' : review()));
  }

  /** Meanwhile the connection is not read any further than Node reads ahead. */
  #chunkTurn(): Promise<void> {
    return new Promise(resolve => this.#chunks.add(resolve));
  }

  /** The body, or the status with which the request was answered. */
  async #body(
    request: IncomingMessage,
    response: ServerResponse,
    marksMax: number,
  ): Promise<ReadBody | { readonly status: number }> {
    const refuse = (status: number, why: string): { readonly status: number } => {
      end(response, status, `${why}\n`);
      return { status };
    };
    // No client of webhooks sends a request before it has the answer to the one before; one packet holds hundreds.
    if (this.#asking.has(request.socket)) {
      request.socket.destroy();
      return { status: NOT_COUNTED };
    }
    this.#asking.add(request.socket);
    const chunks: Buffer[] = [];
    const shape = new ReviewShape(marksMax);
    const held = this.#bodies.open(() => request.destroy(new Error('too many large reviews at once')));
    // Until the answer is written: the review is held as long.
    response.once('close', () => {
      this.#bodies.close(held);
      this.#asking.delete(request.socket);
    });
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      await this.#chunkTurn();
      bytes += chunk.length;
      this.#bodies.grow(held, chunk.length);
      const why = bytes > BODY_BYTES_MAX ? `limit is ${BODY_BYTES_MAX} bytes` : shape.add(chunk);
      if (why !== undefined) {
        response.setHeader('connection', 'close');
        return { ...refuse(400, why), status: NOT_COUNTED };
      }
      chunks.push(chunk);
    }
    if (bytes === 0) return refuse(400, 'no body found');
    if (request.headers['content-type'] !== 'application/json') {
      return refuse(415, 'invalid Content-Type, want `application/json`');
    }
    return { bytes: Buffer.concat(chunks), marks: shape.marks };
  }
}

/** Not counted, as by istiod. */
const NOT_COUNTED = 0;

function decodedPath(url: string): string {
  const path = url.split('?')[0] ?? '/';
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function end(response: ServerResponse, status: number, body: string, contentType = 'text/plain; charset=utf-8'): void {
  response.writeHead(status, { 'content-type': contentType });
  response.end(body);
}
