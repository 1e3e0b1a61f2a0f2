// Clients that mean harm, or are too many: 10,000 signing requests at once, bytes that are no TLS, and handshakes that
// never end. What is asked too much is refused with a code that agents retry; the streams of others go on.

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QUEUE_MAX } from '../../src/identity/csr-service.ts';
import { TestClient, type TestStream } from '../identity/client.ts';
import { ISSUER, type TokenMaker, tokenMaker } from '../identity/tokens.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { Plane } from './kube/plane.ts';
import { until } from './kube/until.ts';

const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const REQUESTS = 10_000;
const CHANNELS = 10;
const ANSWERS_MS_MAX = 240_000;
const SOCKETS = 200;
const EXHAUSTED = /^8 /;

const service = (name: string): string => `
apiVersion: v1
kind: Service
metadata: { name: ${name}, namespace: shop }
spec: { clusterIP: 10.96.0.9, ports: [{ name: http, port: 80 }] }
`;

describe('hostile clients', () => {
  let folder: string;
  let plane: Plane;
  let tokens: TokenMaker;
  let roots: string;
  let stream: TestStream;
  const clients: TestClient[] = [];

  const client = (account: string): TestClient => {
    const made = new TestClient({ port: plane.secure, roots, token: tokens.token(account) });
    clients.push(made);
    return made;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-hostile-'));
    tokens = tokenMaker();
    await mkdir(join(folder, 'config'));
    await writeFile(join(folder, 'config/service.yaml'), service('first'));
    await writeFile(join(folder, 'keys.json'), tokens.jwks);
    plane = await Plane.serveSecurely([
      ...['--configDir', join(folder, 'config'), '--journal', join(folder, 'journal.db')],
      ...['--tokenKeys', join(folder, 'keys.json'), '--tokenIssuer', ISSUER, '--meshConfig', join(folder, 'none')],
    ]);
    await plane.synced();
    roots = await readFile(join(folder, 'ca/root-cert.pem'), 'utf8');
    stream = client('shop/web').stream();
    const metadata = { NAMESPACE: { stringValue: 'shop' }, SERVICE_ACCOUNT: { stringValue: 'web' } };
    const node = { id: 'sidecar~10.0.0.1~web.shop~shop.svc.cluster.local', metadata: { fields: metadata } };
    stream.ask(CLUSTERS, [], { node });
    await until('clusters', () => stream.responses.length > 0);
  }, 120_000);

  afterAll(async () => {
    for (const one of clients) one.close();
    await plane?.end('SIGKILL');
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('are answered or told to come back, 10,000 at once, while others get their configuration', async () => {
    const { pem } = await signingRequest();
    const channels = Array.from({ length: CHANNELS }, (_, i) => client(`shop/sa-${i}`));
    const before = stream.responses.length;
    const asked = Array.from({ length: REQUESTS }, (_, i) =>
      channels[i % CHANNELS]!.sign(pem, { deadlineMs: ANSWERS_MS_MAX }),
    );
    await writeFile(join(folder, 'config/second.yaml'), service('second'));
    const answers = await Promise.all(asked);
    await until('the push', () => stream.responses.length > before);
    const refused = answers.filter(answer => typeof answer === 'string');
    expect(refused.filter(answer => !EXHAUSTED.test(answer))).toEqual([]);
    expect(answers.length - refused.length).toBeGreaterThanOrEqual(QUEUE_MAX);
    expect(stream.ended).toBeUndefined();
    const { text } = await plane.page('/ready');
    expect(text).toContain('ready');
  }, 300_000);

  it('end nothing but their own connection with bytes that are no TLS, or none at all', async () => {
    const sockets = Array.from({ length: SOCKETS }, (_, i): Socket => {
      const socket = connect(plane.secure, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      if (i % 2 === 0)
        socket.write(Buffer.from(i % 4 === 0 ? 'GET / HTTP/1.1\r\n\r\n' : '\x16\x03\x01\xff\xff garbage'));
      return socket;
    });
    const { pem } = await signingRequest();
    expect(await client('shop/web').sign(pem)).toHaveLength(2);
    const speaking = sockets.filter((_, i) => i % 2 === 0);
    await until('the port has closed what is no TLS', () =>
      speaking.every(({ destroyed, closed }) => destroyed || closed),
    );
    expect(stream.ended).toBeUndefined();
    for (const socket of sockets) socket.destroy();
  }, 120_000);
});
