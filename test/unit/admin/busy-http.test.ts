// The HTTP side under clients that are slow, many or insistent: probes are answered all the same.

import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { HEADERS_MS_MAX, type HttpServer, type Route, serveHttp, text } from '../../../src/admin/http.ts';
import { PAGES_WAITING_MAX } from '../../../src/admin/one-at-a-time.ts';
import { CONNECTIONS_MAX } from '../../../src/net/open-connections.ts';

let server: HttpServer | undefined;
const sockets: Socket[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close();
  server = undefined;
});

async function start(routes: Readonly<Record<string, Route>> = {}): Promise<string> {
  const all = new Map<string, Route>([['/ready', () => text('ready\n')], ...Object.entries(routes)]);
  server = await serveHttp({ host: '127.0.0.1', port: 0 }, all, () => undefined);
  return `http://127.0.0.1:${server.port}`;
}

/** A client that sends the beginning of a request and then nothing. */
async function slowClient(): Promise<Socket> {
  const socket = createConnection(server!.port, '127.0.0.1');
  socket.on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write('GET /ready HTTP/1.1\r\nHost: localhost\r\nX: ');
  return socket;
}

describe('the HTTP side under pressure', () => {
  it('answers a probe while more slow clients are connected than it holds connections', async () => {
    const at = await start();
    for (let i = 0; i < CONNECTIONS_MAX + 44; i++) await slowClient();
    expect(await (await fetch(`${at}/ready`)).text()).toBe('ready\n');
  }, 30_000);

  it('closes a connection whose headers do not arrive in time', async () => {
    await start();
    const socket = await slowClient();
    socket.resume();
    const since = performance.now();
    await once(socket, 'close');
    expect(performance.now() - since).toBeGreaterThan(HEADERS_MS_MAX - 500);
  }, 30_000);

  it('makes debug pages one at a time, rests after each, and refuses what is too much', async () => {
    let atOnce = 0;
    let most = 0;
    let open: () => void = () => undefined;
    const opened = new Promise<void>(resolve => {
      open = resolve;
    });
    const at = await start({
      '/debug/slow': async () => {
        most = Math.max(most, ++atOnce);
        await opened;
        atOnce--;
        return text('slow\n');
      },
    });
    const refused: Response[] = [];
    const answers = Array.from({ length: PAGES_WAITING_MAX + 4 }, async () => {
      const answer = await fetch(`${at}/debug/slow`);
      if (answer.status === 503) refused.push(answer);
      return answer;
    });
    while (refused.length < 4) await pause(5);
    expect((await fetch(`${at}/ready`)).status).toBe(200);
    open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(most).toBe(1);
    expect(statuses.filter(status => status === 200)).toHaveLength(PAGES_WAITING_MAX);
    expect(statuses.filter(status => status === 503)).toHaveLength(4);
  }, 30_000);
});
