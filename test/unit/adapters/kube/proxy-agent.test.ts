// An API server behind a proxy: the request goes through the tunnel, TLS is spoken with the server, and what a proxy
// refuses is told.

import { createServer as createHttp, type RequestListener, request as requestHttp } from 'node:http';
import { createServer as createHttps, request as requestHttps } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { proxyAgent } from '../../../../src/adapters/kube/access/proxy-agent.ts';
import { generateKeys, privateKeyPem } from '../../../../src/identity/x509/keys.ts';
import { pemOf } from '../../../../src/identity/x509/pem.ts';
import { makeRoot } from '../../../../src/identity/x509/profile.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) server.close();
});

async function listening<S extends Server>(server: S): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const hello: RequestListener = (request, response) => response.end(`hello ${request.url}`);

function get(url: string, agent: ReturnType<typeof proxyAgent>): Promise<string> {
  const open = url.startsWith('https') ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    open(url, { agent }, response => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () => resolve(body));
    })
      .on('error', reject)
      .end();
  });
}

/** `seen`: the authority and the credentials of each CONNECT. */
async function httpProxy(status = 200): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const proxy = createHttp();
  proxy.on('connect', (request, socket: Socket) => {
    sockets.add(socket);
    seen.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [, port] = request.url!.split(':');
    const upstream = connect(Number(port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    sockets.add(upstream);
  });
  return { port: await listening(proxy), seen };
}

/** A SOCKS5 proxy that knows one user; connects to 127.0.0.1, whatever the name. */
async function socksProxy(user?: string): Promise<{ readonly port: number; readonly seen: string[] }> {
  const seen: string[] = [];
  const proxy = createServer(socket => {
    let step = 0;
    const onData = (chunk: Buffer): void => {
      step++;
      if (step === 1) return void socket.write(Buffer.from([5, user === undefined ? 0 : 2]));
      if (step === 2 && user !== undefined) {
        const given = chunk.subarray(2, 2 + chunk[1]!).toString();
        return void socket.write(Buffer.from([1, given === user ? 0 : 1]));
      }
      const name = chunk.subarray(5, 5 + chunk[4]!).toString();
      const port = chunk.readUInt16BE(5 + chunk[4]!);
      seen.push(`${name}:${port}`);
      socket.off('data', onData);
      const upstream = connect(port, '127.0.0.1', () => {
        socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]));
        upstream.pipe(socket).pipe(upstream);
      });
      sockets.add(upstream);
    };
    socket.on('data', onData);
    socket.on('error', () => undefined);
  });
  return { port: await listening(proxy), seen };
}

describe('an agent for a proxy', () => {
  it('asks an HTTP proxy for a tunnel, with its credentials, and keeps the connection', async () => {
    const server = await listening(createHttp(hello));
    const { port, seen } = await httpProxy();
    const agent = proxyAgent(new URL(`http://u%40x:p@127.0.0.1:${port}`), false, { keepAlive: true });
    expect(await get(`http://api.example:${server}/a`, agent)).toBe('hello /a');
    expect(await get(`http://api.example:${server}/b`, agent)).toBe('hello /b');
    expect(seen).toEqual([`api.example:${server} Basic ${Buffer.from('u@x:p').toString('base64')}`]);
    agent.destroy();
  });

  it('speaks TLS with the server, not with the proxy', async () => {
    const { privateKey } = await generateKeys({ ec: 'P-256' });
    const { der } = await makeRoot({ key: privateKey, organization: 'test', now: Date.now(), ttlMs: 3_600_000 });
    const cert = pemOf('CERTIFICATE', der);
    const server = await listening(createHttps({ key: privateKeyPem(privateKey), cert }, hello));
    const { port, seen } = await httpProxy();
    const through = (options: object): ReturnType<typeof proxyAgent> =>
      proxyAgent(new URL(`http://127.0.0.1:${port}`), true, options);
    expect(await get(`https://api.example:${server}/`, through({ rejectUnauthorized: false }))).toBe('hello /');
    await expect(get(`https://api.example:${server}/`, through({}))).rejects.toThrow(/certificate/);
    expect(seen).toEqual([`api.example:${server}`, `api.example:${server}`]);
  });

  it.each([undefined, 'ann'])('goes through SOCKS5, the name unresolved, as user %s', async user => {
    const server = await listening(createHttp(hello));
    const { port, seen } = await socksProxy(user);
    const agent = proxyAgent(new URL(`socks5://${user === undefined ? '' : `${user}:x@`}127.0.0.1:${port}`), false, {});
    expect(await get(`http://api.example:${server}/`, agent)).toBe('hello /');
    expect(seen).toEqual([`api.example:${server}`]);
  });

  it('tells what the proxy refuses', async () => {
    const { port } = await httpProxy(407);
    const agent = proxyAgent(new URL(`http://127.0.0.1:${port}`), false, {});
    await expect(get('http://api.example:80/', agent)).rejects.toThrow(
      `proxy http://127.0.0.1:${port}: it answered 407 to CONNECT api.example:80`,
    );
    const socks = await socksProxy('ann');
    const other = proxyAgent(new URL(`socks5://bob:x@127.0.0.1:${socks.port}`), false, {});
    await expect(get('http://api.example:80/', other)).rejects.toThrow(/it refused user and password/);
  });

  it('tells that no proxy is there, without its password', async () => {
    const agent = proxyAgent(new URL('http://u:secret@127.0.0.1:1'), false, {});
    const said = await get('http://api.example:80/', agent).catch(String);
    expect(said).toContain('proxy http://127.0.0.1:1: connect ECONNREFUSED');
    expect(said).not.toContain('secret');
  });
});
