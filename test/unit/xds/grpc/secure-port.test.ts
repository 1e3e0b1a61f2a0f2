// Handshakes are counted while they are under way, and no longer; those of many clients begin in several ticks.

import { connect as connectTcp } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { HANDSHAKES_PER_TICK, SecurePort } from '../../../../src/xds/grpc/secure-port.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';

const NAME = 'istiod.istio-system.svc';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

async function opened(handshakesMax: number) {
  const verified: TLSSocket[] = [];
  const injector = { injectConnection: (socket: TLSSocket) => verified.push(socket) };
  const serving = await signedServingCertificate(await testAuthority(() => Date.now()), [NAME]);
  const port = new SecurePort(injector as never, {
    settings: { minVersion: 'TLSv1.2' },
    material: { certificate: serving.certificate, key: serving.key, clientRoots: serving.roots },
    admits: () => undefined,
    log: () => undefined,
    handshakesMax,
  });
  closing.push(() => port.close());
  const number = await port.listen('127.0.0.1', 0);
  /** Resolves with whether the handshake succeeded; the connection stays. */
  const client = (): Promise<boolean> =>
    new Promise(resolve => {
      const options = { port: number, host: '127.0.0.1', ca: serving.roots, servername: NAME, ALPNProtocols: ['h2'] };
      const socket = connect(options, () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('close', () => resolve(false));
      closing.push(() => socket.destroy());
    });
  const silent = (): Promise<void> =>
    new Promise(resolve => {
      const socket = connectTcp(number, '127.0.0.1', () => resolve());
      socket.on('error', () => undefined);
      closing.push(() => socket.destroy());
    });
  return { verified, client, silent };
}

/** A client is done before the server is. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve));
}

describe('the secure port', () => {
  it('does not count connections whose handshake is over', async () => {
    const { verified, client } = await opened(2);
    for (let i = 0; i < 6; i++) {
      expect(await client()).toBe(true);
      await until(() => verified.length === i + 1);
    }
    expect(verified.filter(({ destroyed }) => !destroyed)).toHaveLength(6);
  });

  it('closes connections past the limit of handshakes under way', async () => {
    const { client, silent } = await opened(2);
    await silent();
    await silent();
    expect(await client()).toBe(false);
  });

  it('serves more clients at once than it begins handshakes in one tick', async () => {
    const { verified, client } = await opened(1_000);
    const all = await Promise.all(Array.from({ length: 3 * HANDSHAKES_PER_TICK }, () => client()));
    expect(all.every(done => done)).toBe(true);
    await until(() => new Set(verified).size === all.length);
  });
});

describe('the key of a serving certificate', () => {
  it.each([
    ['of an elliptic curve', '', 'EC'],
    ['of an elliptic curve if a chosen suite has it', 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256', 'EC'],
    ['RSA if no chosen suite has another', 'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256', 'RSA'],
  ])('is %s', async (_, ciphers, kind) => {
    const { key } = await signedServingCertificate(await testAuthority(() => Date.now()), [NAME], ciphers);
    expect(key).toContain(`BEGIN ${kind} PRIVATE KEY`);
  });
});
