// Bookinfo's four services in one process, small but real: HTTP on loopback, one server a version. productpage calls
// the others by their names through its sidecar's egress listener, as an application in a mesh does.

import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { pageHtml, type ReviewsAnswer } from './page.ts';

export interface BackendPorts {
  readonly productpage: number;
  readonly details: number;
  /** The three versions share the port, each on an address of its own: 127.0.0.1, .2, .3. */
  readonly reviews: number;
  readonly ratings: number;
}

const DETAILS = { title: 'The Comedy of Errors', author: 'William Shakespeare', year: 1595, pages: 200 };
const REVIEWS = [
  { reviewer: 'Reviewer1', text: 'An extremely entertaining play. The slapstick humour is refreshing.' },
  { reviewer: 'Reviewer2', text: 'Absolutely fun and entertaining, though it lacks the depth of the later plays.' },
];
const RATINGS = { Reviewer1: 5, Reviewer2: 4 };

/** An answer of a service that takes longer counts as none. */
const CALL_MS_MAX = 2_000;
const BODY_BYTES_MAX = 64 * 1024;

export interface Backends {
  stop(): Promise<void>;
}

/** `egress`: the port of productpage's egress listener, by which details and reviews are called. */
export async function startBackends(
  ports: BackendPorts,
  egress: number,
  say: (line: string) => void,
): Promise<Backends> {
  const main = await Promise.all([
    listen('127.0.0.1', ports.details, (_, response) => answer(response, 200, DETAILS)),
    listen('127.0.0.1', ports.ratings, (_, response) => answer(response, 200, RATINGS)),
    listen('127.0.0.1', ports.reviews, (_, response) => answer(response, 200, reviews('v1'))),
    listen('127.0.0.1', ports.productpage, (incoming, response) => productpage(incoming, response, egress)),
  ]);
  const further = await Promise.allSettled([
    listen('127.0.0.2', ports.reviews, (_, response) => answer(response, 200, reviews('v2', 'black'))),
    listen('127.0.0.3', ports.reviews, (_, response) => answer(response, 200, reviews('v3', 'red'))),
  ]);
  const servers = [...main, ...further.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))];
  if (servers.length < main.length + further.length) {
    say(
      'reviews v2 and v3 cannot listen on 127.0.0.2 and .3 (macOS: `sudo ifconfig lo0 alias 127.0.0.2`, and .3); only v1 answers',
    );
  }
  return { stop: async () => void (await Promise.all(servers.map(close))) };
}

function reviews(version: string, color?: string): ReviewsAnswer {
  const stars = (reviewer: string): number | undefined => RATINGS[reviewer as keyof typeof RATINGS];
  return { version, reviews: REVIEWS.map(r => (color === undefined ? r : { ...r, stars: stars(r.reviewer), color })) };
}

function productpage(incoming: IncomingMessage, response: ServerResponse, egress: number): void {
  const call = <T>(host: string, path: string): Promise<T> => callService<T>(egress, host, path);
  Promise.all([call<typeof DETAILS>('details', '/details/0'), call<ReviewsAnswer>('reviews', '/reviews/0')]).then(
    ([details, reviewed]) => {
      if (incoming.url?.startsWith('/api/')) return answer(response, 200, { details, reviews: reviewed });
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      return response.end(pageHtml(details, reviewed));
    },
    (error: unknown) => answer(response, 503, { error: error instanceof Error ? error.message : String(error) }),
  );
}

function callService<T>(port: number, host: string, path: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const headers = { host: `${host}:${port}` };
    const outgoing = request({ host: '127.0.0.1', port, path, headers, timeout: CALL_MS_MAX }, incoming => {
      let body = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk: string) => {
        body += chunk;
        if (body.length > BODY_BYTES_MAX)
          outgoing.destroy(new Error(`${host} answered more than ${BODY_BYTES_MAX} bytes`));
      });
      incoming.on('end', () => {
        if (incoming.statusCode === 200) resolve(JSON.parse(body) as T);
        else reject(new Error(`${host} answered ${incoming.statusCode}: ${body.trim()}`));
      });
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${host} did not answer in ${CALL_MS_MAX} ms`)));
    outgoing.on('error', error => reject(new Error(`calling ${host} through the sidecar: ${error.message}`)));
    outgoing.end();
  });
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(body)}\n`);
}

function listen(
  host: string,
  port: number,
  handle: (incoming: IncomingMessage, response: ServerResponse) => void,
): Promise<Server> {
  const server = createServer(handle);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
