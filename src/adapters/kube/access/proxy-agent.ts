// Connections through a proxy: CONNECT over HTTP or HTTPS, and SOCKS5. The proxy resolves the server's name; TLS is
// spoken with the server itself, through the tunnel. A handshake is bounded in time and size.
// Source: RFC 9110 §9.3.6 (CONNECT), RFC 1928 and RFC 1929 (SOCKS5).

import { Agent as HttpAgent, type AgentOptions as HttpAgentOptions, request as requestHttp } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { connect, type Socket } from 'node:net';
import { basic } from './oidc-token.ts';

/** From the first byte to the proxy until the tunnel stands. */
export const TUNNEL_MS_MAX = 30_000;
const SOCKS_VERSION = 5;
const NO_AUTHENTICATION = 0;
const PASSWORD = 2;
const CONNECT = 1;
const DOMAIN = 3;
const SOCKS_PORT = 1080;
const NAME_BYTES_MAX = 255;

interface Target {
  readonly host?: string | null | undefined;
  readonly port?: number | string | null | undefined;
}
type Opened = (error: Error | null, socket?: unknown) => void;
type Connect = (options: object) => unknown;

/** An agent whose connections go through the proxy. */
export function proxyAgent(proxy: URL, isTls: boolean, options: AgentOptions & HttpAgentOptions): HttpAgent {
  const agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
  const prototype = Object.getPrototypeOf(agent) as { readonly createConnection: Connect };
  // Node calls it back when it returns nothing.
  const createConnection = (target: Target & object, opened: Opened): void => {
    tunnel(proxy, String(target.host), Number(target.port)).then(
      socket => opened(null, isTls ? prototype.createConnection.call(agent, { ...target, socket }) : socket),
      (error: unknown) => opened(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return Object.assign(agent, { createConnection }) as HttpAgent;
}

/** A connection to `host:port` by way of the proxy. */
export async function tunnel(proxy: URL, host: string, port: number): Promise<Socket> {
  try {
    return proxy.protocol.startsWith('socks') ? await socks(proxy, host, port) : await connectMethod(proxy, host, port);
  } catch (error) {
    throw new Error(
      `proxy ${proxy.protocol}//${proxy.host}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function connectMethod(proxy: URL, host: string, port: number): Promise<Socket> {
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const open = proxy.protocol === 'https:' ? requestHttps : requestHttp;
  const authorization = proxy.username === '' ? {} : { 'proxy-authorization': basic(...userOf(proxy)) };
  const headers = { host: authority, ...authorization };
  return new Promise((done, fail) => {
    const sent = open({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: authority,
      headers,
      agent: false,
      timeout: TUNNEL_MS_MAX,
    });
    sent.on('connect', (response, socket, head) => {
      if (response.statusCode === 200) {
        if (head.length > 0) socket.unshift(head);
        socket.setTimeout(0);
        return done(socket as Socket);
      }
      socket.destroy();
      fail(new Error(`it answered ${response.statusCode} to CONNECT ${authority}`));
    });
    sent.on('response', response => fail(new Error(`it answered ${response.statusCode}`)));
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TUNNEL_MS_MAX / 1_000} s`)));
    sent.on('error', fail);
    sent.end();
  });
}

async function socks(proxy: URL, host: string, port: number): Promise<Socket> {
  const socket = connect(Number(proxy.port || SOCKS_PORT), proxy.hostname.replace(/^\[|\]$/g, ''));
  socket.setTimeout(TUNNEL_MS_MAX, () => socket.destroy(new Error(`no answer within ${TUNNEL_MS_MAX / 1_000} s`)));
  const failed = new Promise<never>((_, fail) => {
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('it closed the connection')));
  });
  failed.catch(() => undefined);
  try {
    const hello = handshake(socket, proxy, host, port);
    hello.catch(() => undefined);
    await Promise.race([hello, failed]);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  socket.setTimeout(0);
  return socket;
}

async function handshake(socket: Socket, proxy: URL, host: string, port: number): Promise<void> {
  const name = Buffer.from(host);
  if (name.length > NAME_BYTES_MAX) throw new Error('the name of the server is too long for SOCKS5');
  const method = proxy.username === '' ? NO_AUTHENTICATION : PASSWORD;
  socket.write(Buffer.from([SOCKS_VERSION, 1, method]));
  const [, chosen] = await bytes(socket, 2);
  if (chosen !== method) throw new Error('it wants another way of authentication');
  if (method === PASSWORD) {
    const [user, password] = userOf(proxy).map(text => Buffer.from(text).subarray(0, NAME_BYTES_MAX)) as [
      Buffer,
      Buffer,
    ];
    socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([password.length]), password]));
    const [, status] = await bytes(socket, 2);
    if (status !== 0) throw new Error('it refused user and password');
  }
  const head = Buffer.from([SOCKS_VERSION, CONNECT, 0, DOMAIN, name.length]);
  socket.write(Buffer.concat([head, name, Buffer.from([port >> 8, port & 0xff])]));
  const [, status, , kind] = await bytes(socket, 4);
  if (status !== 0) throw new Error(`it answered ${status} (RFC 1928 §6) to a connection to ${host}:${port}`);
  // The address that it connected from is of no use here.
  const length = kind === 1 ? 4 : kind === 4 ? 16 : ((await bytes(socket, 1))[0] ?? 0);
  await bytes(socket, length + 2);
}

/** Exactly that many; what follows them is left for the next reader. */
async function bytes(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const read = socket.read(count) as Buffer | null;
    if (read !== null) return read;
    await new Promise<void>(resolve => socket.once('readable', resolve));
  }
}

function userOf(proxy: URL): readonly [string, string] {
  return [decodeURIComponent(proxy.username), decodeURIComponent(proxy.password)];
}
