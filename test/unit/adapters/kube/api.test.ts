// Requests over real HTTP, against a server that answers as it is told.

import { Agent, createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpApi } from '../../../../src/adapters/kube/api.ts';
import { type Failure, failureOf } from '../../../../src/adapters/kube/failure.ts';
import { systemClock } from '../../../../src/runtime/clock.ts';

const servers: Server[] = [];
const agents: Agent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.destroy();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  }
});

interface Served {
  readonly api: HttpApi;
  readonly connections: () => number;
  readonly refusals: () => number;
}

async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  servers.push(server);
  let connections = 0;
  let refusals = 0;
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const agent = new Agent({ keepAlive: true });
  agents.push(agent);
  const credentials = {
    shown: '',
    prepare: async () => ({
      server: new URL(`http://127.0.0.1:${port}/base/`),
      options: { agent, headers: { Authorization: 'Bearer t' } },
    }),
    refused: async () => {
      refusals += 1;
    },
    close: () => undefined,
  };
  const chance = { now: systemClock.now, after: systemClock.after, random: () => 0 };
  const api = new HttpApi({ credentials, limit: { qps: 1_000, burst: 1_000 }, chance, userAgent: 'periplus/test' });
  return { api, connections: () => connections, refusals: () => refusals };
}

const signal = new AbortController().signal;
const options = { signal, bytesMax: 1_000 };

async function failing(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    () => expect.unreachable(),
    (error: unknown) => failureOf(error),
  );
}

describe('a request', () => {
  it('carries its credentials and names its resource', async () => {
    const { api } = await serve(({ method, url, headers }, response) => {
      response.end(JSON.stringify({ method, url, agent: headers['user-agent'], auth: headers.authorization }));
    });
    expect(await api.get('/api/v1/pods', { limit: '5', continue: '', fieldSelector: 'a!=b' }, options)).toEqual({
      method: 'GET',
      url: '/base/api/v1/pods?limit=5&fieldSelector=a%21%3Db',
      agent: 'periplus/test',
      auth: 'Bearer t',
    });
  });

  it('reuses the connection, and ending one does no harm to the next', async () => {
    const { api, connections } = await serve((_, response) => void response.end('{}'));
    for (let i = 0; i < 20; i++) await api.get('/x', {}, options);
    expect(connections()).toBe(1);
  });

  it('reports the reason of the server if it is refused', async () => {
    const { api, refusals } = await serve((_, response) => {
      const status = { kind: 'Status', code: 403, reason: 'Forbidden', message: 'pods is forbidden' };
      response.writeHead(403, { 'retry-after': '7' }).end(JSON.stringify(status));
    });
    const failure = await failing(api.get('/api/v1/pods', {}, options));
    expect(failure).toEqual({
      status: 403,
      message: '/api/v1/pods: 403 pods is forbidden',
      reason: 'Forbidden',
      retryAfterMs: 7_000,
    });
    expect(refusals()).toBe(0);
  });

  it('reads its credentials again if they are invalid', async () => {
    const { api, refusals } = await serve((_, response) => void response.writeHead(401).end('no'));
    expect((await failing(api.get('/x', {}, options))).status).toBe(401);
    expect(refusals()).toBe(1);
  });

  it('ends if the response is too large', async () => {
    const { api } = await serve((_, response) => void response.end(`"${'x'.repeat(2_000)}"`));
    expect(await failing(api.get('/x', {}, options))).toMatchObject({ status: 0, tooLarge: true });
  });

  it.each([
    ['is not JSON', '{'],
    ['is empty', ''],
  ])('fails if the response %s', async (_, body) => {
    const { api } = await serve((_request, response) => void response.end(body));
    expect((await failing(api.get('/x', {}, options))).message).toMatch(/^\/x: .*JSON/);
  });

  it('fails if the connection breaks or cannot be made', async () => {
    const { api } = await serve((_, response) => void response.destroy());
    expect((await failing(api.get('/x', {}, options))).status).toBe(0);
    servers[0]?.close();
    servers[0]?.closeAllConnections();
    expect((await failing(api.get('/x', {}, options))).message).toContain('ECONNREFUSED');
  });

  it('ends when it is cancelled', async () => {
    const { api } = await serve(() => undefined);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    expect((await failing(api.get('/x', {}, { ...options, signal: abort.signal }))).status).toBe(0);
    expect((await failing(api.get('/x', {}, { ...options, signal: abort.signal }))).status).toBe(0);
  });
});

describe('a watch', () => {
  it('gives lines as they arrive, and ends with the response', async () => {
    let goOn = (): void => undefined;
    const { api } = await serve((request, response) => {
      expect(request.url).toContain('watch=true');
      response.write('one\ntw');
      goOn = () => response.end('o\nrest without an end');
    });
    const stream = await api.watch('/x', { resourceVersion: '5' }, { signal });
    expect(await stream.next()).toEqual(['one']);
    goOn();
    expect(await stream.next()).toEqual(['two']);
    expect(await stream.next()).toBeUndefined();
  });

  it('fails if it breaks, and affects no other if it is closed', async () => {
    let breakOff = (): void => undefined;
    const { api } = await serve((_, response) => {
      response.write('one\n');
      breakOff = () => response.destroy();
    });
    const stream = await api.watch('/x', {}, { signal });
    expect(await stream.next()).toEqual(['one']);
    breakOff();
    expect((await failing(stream.next())).status).toBe(0);
    const other = await api.watch('/x', {}, { signal });
    other.close();
    breakOff();
    await new Promise(resolve => setTimeout(resolve, 60));
  });

  it('reports 410 for a version that is too old, in either form', async () => {
    const status = { kind: 'Status', reason: 'Expired', message: 'too old' };
    const { api } = await serve((_, response) => void response.writeHead(410).end(JSON.stringify(status)));
    expect((await failing(api.watch('/x', {}, { signal }))).status).toBe(410);
  });
});
