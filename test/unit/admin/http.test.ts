import { once } from 'node:events';
import { createConnection } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Admission,
  type Admits,
  type HttpServer,
  isLoopback,
  json,
  largeJson,
  namesThisMachine,
  type Route,
  serveHttp,
  text,
} from '../../../src/admin/http.ts';

/** Several megabytes, more than a socket takes at once. */
const large = Array.from({ length: 300 }, (_, i) => ({ i, text: 'é'.repeat(10_000) }));

const routes = new Map<string, Route>([
  ['/large', () => largeJson(large)],
  ['/ready', () => text('ready\n')],
  ['/debug', () => text('pages\n')],
  ['/debug/configz', query => text(`configz of ${query.get('kind')}\n`)],
  [
    '/fails',
    () => {
      throw new Error('by intention');
    },
  ],
]);

async function statusFor(port: number, path: string, host: string, header = ''): Promise<number> {
  const socket = createConnection(port, '127.0.0.1');
  // Not `end`: a server that learns of the end before it has answered gives no answer.
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${header}Connection: close\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return Number(String(answer).split(' ')[1]);
}

it.each<[string | undefined, boolean]>([
  [undefined, true],
  ['localhost', true],
  ['LOCALHOST.:8080', true],
  ['127.0.0.1:8080', true],
  ['[::1]:8080', true],
  ['', false],
  ['[', false],
  ['localhost.example', false],
  ['127.0.0.1.example:8080', false],
  ['10.0.0.1', false],
])('the Host %s names this machine: %s', (host, expected) => {
  expect(namesThisMachine(host)).toBe(expected);
});

describe('the HTTP server', () => {
  let server: HttpServer | undefined;
  const errors: string[] = [];

  afterEach(async () => {
    await server?.close();
    server = undefined;
    errors.length = 0;
  });

  const start = async (host: string): Promise<number> => {
    server = await serveHttp({ host, port: 0 }, routes, message => errors.push(message));
    return server.port;
  };

  it('answers by path and query, and lists its pages', async () => {
    const at = `http://127.0.0.1:${await start('127.0.0.1')}`;
    expect(await (await fetch(`${at}/debug/configz?kind=Pod`)).text()).toBe('configz of Pod\n');
    const missing = await fetch(`${at}/nothing`);
    expect(missing.status).toBe(404);
    expect(await missing.text()).toContain('/debug/configz');
    expect((await fetch(`${at}/ready`, { method: 'POST' })).status).toBe(405);
  });

  it('sends a large page whole, and its length on HEAD', async () => {
    const at = `http://127.0.0.1:${await start('127.0.0.1')}/large`;
    expect(await (await fetch(at)).json()).toEqual(large);
    const bytes = Buffer.byteLength(`${JSON.stringify(large, null, 2)}\n`);
    expect((await fetch(at, { method: 'HEAD' })).headers.get('content-length')).toBe(String(bytes));
  });

  it('answers a request that is under way when it closes', async () => {
    let begun: () => void = () => undefined;
    const isAsked = new Promise<void>(resolve => {
      begun = resolve;
    });
    let answer: () => void = () => undefined;
    const held = new Promise<void>(resolve => {
      answer = resolve;
    });
    const slow: Route = async () => {
      begun();
      await held;
      return text('late\n');
    };
    const opened = await serveHttp({ host: '127.0.0.1', port: 0 }, new Map([['/slow', slow]]), () => undefined);
    const asked = fetch(`http://127.0.0.1:${opened.port}/slow`);
    await isAsked;
    const closed = opened.close();
    await expect(fetch(`http://127.0.0.1:${opened.port}/slow`)).rejects.toThrow();
    answer();
    expect(await (await asked).text()).toBe('late\n');
    await closed;
  });

  it('answers a failing page with an error and logs it', async () => {
    const answer = await fetch(`http://127.0.0.1:${await start('127.0.0.1')}/fails`);
    expect(answer.status).toBe(500);
    expect(errors).toEqual(['/fails: by intention']);
  });

  it.each(['//', 'http://[', '/%', '/ready?%', '*'])('survives the target %s', async target => {
    const port = await start('127.0.0.1');
    const socket = createConnection(port, '127.0.0.1');
    socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(String(answer)).toMatch(/^HTTP\/1\.1 [24]0/);
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200);
  });

  it('answers debug pages only to a Host that names this machine, whatever name leads here', async () => {
    const port = await start('127.0.0.1');
    expect(await statusFor(port, '/debug/configz', `localhost:${port}`)).toBe(200);
    expect(await statusFor(port, '/debug/configz', 'rebound.example')).toBe(403);
    expect(await statusFor(port, '/debug', `rebound.example:${port}`)).toBe(403);
    expect(await statusFor(port, '/ready', 'rebound.example')).toBe(200);
  });

  it('answers a caller from another machine with the debug pages that it may see', async () => {
    const admissions: Readonly<Record<string, Admission>> = {
      'Bearer admin': 'all',
      'Bearer shop': { namespace: 'shop' },
      'Bearer refused': { refused: 403 },
    };
    const admits: Admits = async ({ headers }) => admissions[headers.authorization ?? ''] ?? { refused: 401 };
    const pages = new Map([...routes, ['/debug/config_dump', (_query, viewer) => json(viewer)] as [string, Route]]);
    server = await serveHttp({ host: '127.0.0.1', port: 0 }, pages, message => errors.push(message), { admits });
    const status = (path: string, token: string): Promise<number> =>
      statusFor(server!.port, path, 'istiod.example', `Authorization: Bearer ${token}\r\n`);
    expect(await status('/debug/configz', 'admin')).toBe(200);
    expect(await status('/debug/config_dump', 'shop')).toBe(200);
    expect(await status('/debug/configz', 'shop')).toBe(403);
    expect(await status('/debug/config_dump', 'refused')).toBe(403);
    expect(await status('/debug/config_dump', 'unknown')).toBe(401);
  });

  it('serves debug pages to loopback peers only', async () => {
    const port = await start('0.0.0.0');
    const outside = Object.values(networkInterfaces())
      .flatMap(addresses => addresses ?? [])
      .find(address => address.family === 'IPv4' && !address.internal)?.address;
    expect((await fetch(`http://127.0.0.1:${port}/debug/configz`)).status).toBe(200);
    // A machine without a network has no other address to come from; the rule itself is tested below.
    if (outside === undefined) return;
    expect((await fetch(`http://${outside}:${port}/debug/configz`)).status).toBe(403);
    expect((await fetch(`http://${outside}:${port}/debug`)).status).toBe(403);
    expect((await fetch(`http://${outside}:${port}/ready`)).status).toBe(200);
  });

  it('answers /metrics to this machine alone with metricsHereOnly', async () => {
    const all = new Map<string, Route>([['/metrics', () => text('up 1\n')]]);
    server = await serveHttp({ host: '0.0.0.0', port: 0 }, all, () => undefined, { metricsHereOnly: true });
    const outside = Object.values(networkInterfaces())
      .flatMap(addresses => addresses ?? [])
      .find(address => address.family === 'IPv4' && !address.internal)?.address;
    expect((await fetch(`http://127.0.0.1:${server.port}/metrics`)).status).toBe(200);
    if (outside === undefined) return;
    const refused = await fetch(`http://${outside}:${server.port}/metrics`);
    expect([refused.status, await refused.text()]).toEqual([403, 'Only requests from localhost are allowed\n']);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['10.0.0.1', false],
    ['::ffff:10.0.0.1', false],
    ['2001:db8::1', false],
    [undefined, false],
  ])('decides whether %s is loopback: %s', (address, expected) => expect(isLoopback(address)).toBe(expected));
});
