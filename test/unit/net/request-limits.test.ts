// What one packet of an HTTP client may make of itself: requests behind each other, and bodies.

import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { limitRequests, PIPELINED_MAX } from '../../../src/net/request-limits.ts';

const closing: Server[] = [];
afterEach(() => {
  for (const server of closing.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Resolves with the statuses that a connection was answered, when it ends, and how many requests the server saw. */
async function asked(
  packets: readonly string[],
  { takesChunks = false, isSilent = false }: { readonly takesChunks?: boolean; readonly isSilent?: boolean } = {},
) {
  let seen = 0;
  let pieces = 0;
  const server = createServer((request, response) => {
    seen += 1;
    request.on('data', () => {
      pieces += 1;
    });
    if (!isSilent) response.end('x');
  });
  limitRequests(server, takesChunks);
  closing.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const text = await new Promise<string>(resolve => {
    let got = '';
    let sent = 0;
    const socket = connect(port, '127.0.0.1');
    const next = (): void => {
      const packet = packets[sent++];
      if (packet !== undefined) socket.write(packet);
    };
    next();
    socket.on('data', bytes => {
      got += bytes.toString('latin1');
      next();
      if (got.includes('last')) socket.end();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(got));
    setTimeout(() => socket.destroy(), 2_000).unref();
  });
  return { statuses: text.match(/HTTP\/1\.1 \d+/g)?.map(line => line.slice(-3)) ?? [], seen, pieces };
}

const get = (more = ''): string => `GET / HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

describe('requests of one connection', () => {
  test('are not parsed behind those that are not answered', async () => {
    const { seen } = await asked([get().repeat(1_000)]);
    expect(seen).toBe(PIPELINED_MAX);
    expect((await asked([get().repeat(1_000)], { isSilent: true })).seen).toBe(PIPELINED_MAX);
  });

  test('may be as many as it likes one after another', async () => {
    const packets = [...Array.from({ length: 3 * PIPELINED_MAX }, () => get()), get('Connection: close\r\n')];
    const { seen, statuses } = await asked(packets);
    expect([seen, statuses.length]).toEqual([3 * PIPELINED_MAX + 1, 3 * PIPELINED_MAX + 1]);
  });
});

describe('a body', () => {
  const chunked = `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(1_000)}`;
  const sized = (bytes: number): string =>
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`;

  test('in chunks is not read', async () => {
    expect(await asked([chunked])).toEqual({ statuses: ['411'], seen: 0, pieces: 0 });
  });

  test('of a length is, and in chunks where the server takes them', async () => {
    expect(await asked([sized(100)])).toMatchObject({ statuses: ['200'], seen: 1 });
    expect((await asked([chunked], { takesChunks: true })).pieces).toBeGreaterThan(100);
  });
});
