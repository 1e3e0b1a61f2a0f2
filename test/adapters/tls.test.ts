// TLS of the sources that are reached over it, by real handshakes: a certificate of another authority or of another
// name is refused, and so is a client without the certificate that the server asks for.

import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { getJson } from '../../src/adapters/kit/http-json.ts';
import { McpAdapter } from '../../src/adapters/mcp/mcp-adapter.ts';
import { ZooKeeperSession } from '../../src/adapters/zookeeper/session.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { credentialsOf } from '../../src/runtime/config-sources.ts';
import { FoldingSink } from '../../src/testing/adapter-rig.ts';
import type { TestRoot } from '../unit/identity/authority-of-tests.ts';
import { FakeZooKeeper } from './fake-zookeeper.ts';
import { type Leaf, leafOf, rootOf } from './leaf.ts';

/** What a client is given. */
interface ClientTls {
  readonly ca: string;
  readonly serverName?: string;
  readonly cert?: string;
  readonly key?: string;
}
/** 'reached', or why not. */
type Reach = (port: number, tls: ClientTls) => Promise<string>;

const NAME = 'registry.test';
const chance = { ...systemClock, random: () => 0 };
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

let root: TestRoot;
let stranger: TestRoot;
let server: Leaf;
let client: Leaf;
beforeAll(async () => {
  [root, stranger] = [await rootOf('ours'), await rootOf('theirs')];
  [server, client] = [await leafOf(root, NAME), await leafOf(root, 'client.test')];
});

/** Asks for a client certificate. */
const serverTls = () => ({ ...server, ca: root.certificate, requestCert: true, rejectUnauthorized: true });

async function consul(): Promise<number> {
  const listening = createServer(serverTls(), (_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(listening, 'listening');
  closing.push(() => {
    listening.closeAllConnections();
    listening.close();
  });
  return (listening.address() as AddressInfo).port;
}

const reachConsul: Reach = (port, tls) =>
  getJson(new URL(`https://127.0.0.1:${port}/`), { timeoutMs: 10_000, bodyBytesMax: 1_000, tls }).then(
    () => 'reached',
    (error: Error) => error.message,
  );

async function zookeeper(): Promise<number> {
  const fake = new FakeZooKeeper();
  closing.push(() => fake.close());
  return fake.listen(0, serverTls());
}

const reachZooKeeper: Reach = async (port, tls) => {
  const session = new ZooKeeperSession({ servers: [{ host: '127.0.0.1', port }], chance, tls, log: () => undefined });
  closing.push(() => session.stop());
  const before = session.trouble;
  session.start();
  await expect.poll(() => session.trouble, { timeout: 20_000 }).not.toBe(before);
  return session.trouble ?? 'reached';
};

async function plane(): Promise<number> {
  const grpc = new Server();
  const pair = { private_key: Buffer.from(server.key), cert_chain: Buffer.from(server.cert) };
  const secured = ServerCredentials.createSsl(Buffer.from(root.certificate), [pair], true);
  closing.push(() => grpc.forceShutdown());
  return new Promise((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', secured, (error, port) => (error === null ? resolve(port) : reject(error)));
  });
}

/** A server that knows no services is reached: it says so. */
const reachPlane: Reach = async (port, { ca, serverName, cert, key }) => {
  const pair = cert === undefined ? { mode: 'SIMPLE' } : { mode: 'MUTUAL', clientCertificate: cert, privateKey: key };
  const address = `127.0.0.1:${port}`;
  const { secured, channel } = credentialsOf(address, { ...pair, caCertificates: ca, sni: serverName });
  const adapter = new McpAdapter({
    ...{ address, credentials: secured, channel, namespace: 'istio-system', podName: 'p', revision: '' },
    ...{ chance, log: () => undefined },
  });
  closing.push(() => adapter.stop());
  adapter.start(new FoldingSink(adapter.source)).catch(() => undefined);
  await expect.poll(() => adapter.status().unreadable.length, { timeout: 20_000 }).toBe(1);
  const why = adapter.status().unreadable[0]?.why ?? '';
  return why.includes('UNIMPLEMENTED') ? 'reached' : why;
};

describe.each<readonly [string, () => Promise<number>, Reach]>([
  ['Consul', consul, reachConsul],
  ['ZooKeeper', zookeeper, reachZooKeeper],
  ['another control plane (xds://)', plane, reachPlane],
])('TLS to %s', (_, listen, reach) => {
  it('reaches a server of the authority and name that are expected, with a client certificate', async () => {
    expect(await reach(await listen(), { ca: root.certificate, serverName: NAME, ...client })).toBe('reached');
  });
  it('refuses a server of another authority', async () => {
    const why = await reach(await listen(), { ca: stranger.certificate, serverName: NAME, ...client });
    expect(why).toMatch(/unable to (verify|get)|self.signed|signature/i);
  });
  it('refuses a server of another name', async () => {
    const why = await reach(await listen(), { ca: root.certificate, serverName: 'other.test', ...client });
    expect(why).toContain('other.test');
  });
  it('is refused without the client certificate that the server asks for', async () => {
    const why = await reach(await listen(), { ca: root.certificate, serverName: NAME });
    expect(why).not.toBe('reached');
    expect(why).toMatch(/certificate|closed|reset|hang up|alert|ECONNRESET/i);
  });
});
