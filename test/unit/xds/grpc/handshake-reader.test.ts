// Bytes of handshakes are limited, and handshakes that take long are read one in a turn of the event loop.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { HANDSHAKE_BYTES_MAX, HANDSHAKE_TURN_MS, HandshakeReader } from '../../../../src/xds/grpc/handshake-reader.ts';
import { SecurePort } from '../../../../src/xds/grpc/secure-port.ts';
import { FakeClock } from '../../../sim/fake-clock.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';
import { until } from './still-clock.ts';

const NAME = 'istiod.istio-system.svc';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

/** How many clients with a certificate, and `copies` of its root behind it, the port hands on. */
async function handedOn(copies: number): Promise<number> {
  let count = 0;
  const serving = await signedServingCertificate(await testAuthority(() => Date.now()), [NAME]);
  const port = new SecurePort({ injectConnection: () => count++ } as never, {
    settings: { minVersion: 'TLSv1.2' },
    material: { certificate: serving.certificate, key: serving.key, clientRoots: serving.roots },
    admits: () => undefined,
    log: () => undefined,
    clock: new FakeClock(),
  });
  closing.push(() => port.close());
  const number = await port.listen('127.0.0.1', 0);
  const cert = `${serving.certificate}${serving.roots.repeat(copies)}`;
  const tls = { ca: serving.roots, servername: NAME, ALPNProtocols: ['h2'], cert, key: serving.key };
  const socket = connectTls({ port: number, host: '127.0.0.1', ...tls });
  closing.push(() => socket.destroy());
  const closed = new Promise<void>(resolve => socket.on('error', () => resolve()).on('close', () => resolve()));
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  socket.resume();
  await until(() => isClosed || count > 0);
  return count;
}

/** Connections that have sent some bytes, as the server has them. */
async function connections(many: number): Promise<readonly Socket[]> {
  const accepted: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, socket => void accepted.push(socket));
  closing.push(() => server.close());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  for (let i = 0; i < many; i++) {
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1', () => client.write('hello'));
    client.on('error', () => undefined);
    closing.push(() => client.destroy());
  }
  await until(() => accepted.length === many);
  for (const socket of accepted) closing.push(() => socket.destroy());
  return accepted;
}

describe('handshakes at the secure port', () => {
  it('may have a certificate with its authority', async () => {
    expect(await handedOn(1)).toBe(1);
  });

  it('are ended by more certificates than an authority has, before they are verified', async () => {
    expect(await handedOn(40)).toBe(0);
  });
});

describe('the reader of handshakes', () => {
  it('ends a turn after a handshake that took long, and another peer is next', async () => {
    const reader = new HandshakeReader();
    const read: string[] = [];
    const sockets = await connections(4);
    for (const [i, socket] of sockets.entries()) {
      const peer = i < 3 ? 'many' : 'one';
      let isOver = false;
      const receive = (): void => {
        const end = performance.now() + 2 * HANDSHAKE_TURN_MS;
        while (performance.now() < end);
        isOver = true;
        read.push(peer);
        setImmediate(() => read.push('-'));
      };
      expect(reader.add({ socket, peer, receive, isOver: () => isOver, isSlow: () => false }, 0)).toBe(true);
    }
    await until(() => read.length === 8);
    expect(read).toEqual(['many', '-', 'one', '-', 'many', '-', 'many', '-']);
  });

  it('closes a connection that sends more than a handshake may have', async () => {
    const [socket] = await connections(1);
    const options = { peer: '', receive: () => undefined, isOver: () => false, isSlow: () => false };
    new HandshakeReader().add({ socket: socket!, ...options }, HANDSHAKE_BYTES_MAX - 3);
    await until(() => socket!.destroyed);
  });

  it('reads a slow handshake behind those in their turns', async () => {
    const reader = new HandshakeReader();
    const read: string[] = [];
    for (const [i, socket] of (await connections(2)).entries()) {
      let isOver = false;
      const name = i === 0 ? 'slow' : 'quick';
      const receive = (): void => {
        isOver = true;
        read.push(name);
      };
      reader.add({ socket, peer: '', receive, isOver: () => isOver, isSlow: () => i === 0 }, 0);
    }
    await until(() => read.length === 2);
    expect(read).toEqual(['quick', 'slow']);
  });
});
