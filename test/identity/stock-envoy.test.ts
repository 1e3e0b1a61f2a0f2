import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alternativeNamesOf } from '../../src/identity/x509/names.ts';
import { openJournal } from '../../src/journal/open.ts';
import { replay } from '../../src/offline/verify-receipts.ts';
import type { Secret } from '../../src/xds/proto/types.gen.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient, type TestStream } from './client.ts';
import { artefactsOf, expectNone } from './kept.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const LISTENERS = 'type.googleapis.com/envoy.config.listener.v3.Listener';

/** Keys and a control plane, on a machine that is busy. */
const START_MS_MAX = 60_000;

let plane: TestPlane;
const clients: TestClient[] = [];

beforeAll(async () => {
  // Short enough that a certificate is renewed while the test looks on.
  plane = await testPlane({ env: { DEFAULT_WORKLOAD_CERT_TTL: '4s' } });
}, START_MS_MAX);

afterAll(async () => {
  for (const client of clients) client.close();
  await plane.stop();
});

const stock = (account: string) => ({
  id: `sidecar~10.0.0.1~${account}.a~a.svc.cluster.local`,
  metadata: { fields: { NAMESPACE: { stringValue: 'a' }, SERVICE_ACCOUNT: { stringValue: account } } },
  extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http' }],
});

function open(account: string, secure = true): TestStream {
  const { grpc, secureGrpc } = plane.plane.ports;
  const token = plane.tokens.token(`a/${account}`);
  const client = secure
    ? new TestClient({ port: secureGrpc!, roots: plane.roots(), token })
    : new TestClient({ port: grpc, token });
  clients.push(client);
  const stream = client.stream();
  stream.ask(SECRETS, ['default', 'ROOTCA'], { node: stock(account) });
  return stream;
}

function secretsOf(stream: TestStream): ReadonlyMap<string, Secret> {
  const type = typeOf('envoy.extensions.transport_sockets.tls.v3.Secret');
  const all = stream.responses.filter(({ typeUrl }) => typeUrl === SECRETS).flatMap(({ resources }) => resources);
  return new Map(
    all.map(({ value }) => {
      const secret = type.decode(value) as unknown as Secret;
      return [secret.name ?? '', secret];
    }),
  );
}

const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

describe('a stock Envoy on an authenticated stream', { timeout: 60_000 }, () => {
  it('is sent a certificate of its identity with the key, and the roots', async () => {
    const stream = open('alice');
    await until(() => secretsOf(stream).size === 2);
    const { tlsCertificate } = secretsOf(stream).get('default')!;
    const leaf = new X509Certificate(textOf(tlsCertificate?.certificateChain?.inlineBytes));
    expect(alternativeNamesOf(leaf.raw)).toEqual([{ kind: 'uri', text: 'spiffe://cluster.local/ns/a/sa/alice' }]);
    expect(leaf.checkPrivateKey(createPrivateKey(tlsCertificate?.privateKey?.inlineString ?? ''))).toBe(true);
    const roots = secretsOf(stream).get('ROOTCA')!.validationContext?.trustedCa?.inlineBytes;
    const root = new X509Certificate(textOf(roots));
    expect(leaf.checkIssued(root) && leaf.verify(root.publicKey)).toBe(true);
    stream.cancel();
  });

  it('shares its pair with the other proxies of its account only', async () => {
    const streams = [open('bob'), open('bob'), open('carol')];
    await until(() => streams.every(stream => secretsOf(stream).size === 2));
    const [one, same, other] = streams.map(stream =>
      textOf(secretsOf(stream).get('default')!.tlsCertificate?.certificateChain?.inlineBytes),
    );
    expect(one).toBe(same);
    expect(one).not.toBe(other);
    for (const stream of streams) stream.cancel();
  });

  it('is sent a new pair at half of its life, and of what it holds nothing else', async () => {
    const stream = open('dora');
    stream.ask(LISTENERS, []);
    const secrets = () => stream.responses.filter(({ typeUrl }) => typeUrl === SECRETS);
    await until(() => secretsOf(stream).size === 2 && stream.responses.some(({ typeUrl }) => typeUrl === LISTENERS));
    const before = secrets().length;
    const listeners = stream.responses.filter(({ typeUrl }) => typeUrl === LISTENERS).length;
    const first = textOf(secretsOf(stream).get('default')!.tlsCertificate?.certificateChain?.inlineBytes);
    await until(() => secrets().length > before);
    const { tlsCertificate } = secretsOf(stream).get('default')!;
    const second = new X509Certificate(textOf(tlsCertificate?.certificateChain?.inlineBytes));
    expect(second.toString()).not.toBe(new X509Certificate(first).toString());
    expect(second.checkPrivateKey(createPrivateKey(tlsCertificate?.privateKey?.inlineString ?? ''))).toBe(true);
    expect(stream.responses.filter(({ typeUrl }) => typeUrl === LISTENERS)).toHaveLength(listeners);
    stream.cancel();
  });

  it('loses certificate and key when its last stream has gone', async () => {
    const { objects } = plane.plane.world.state;
    expect(objects.WorkloadCertificate).toBeDefined();
    await until(() => plane.plane.world.state.objects.WorkloadCertificate.size === 0);
  });

  it('is sent nothing secret in the clear', async () => {
    const stream = open('eve', false);
    stream.ask(LISTENERS, []);
    await until(() => stream.responses.some(({ typeUrl }) => typeUrl === LISTENERS));
    await new Promise(resolve => setTimeout(resolve, 300));
    expect(secretsOf(stream).size).toBe(0);
    stream.cancel();
  });
});

describe('everything that is kept or shown', { timeout: 120_000 }, () => {
  it('holds neither keys nor tokens, and every receipt can be reproduced', async () => {
    const stream = open('fay');
    await until(() => secretsOf(stream).size === 2);
    const token = plane.tokens.token('a/fay');
    const client = new TestClient({ port: plane.plane.ports.secureGrpc!, roots: plane.roots(), token });
    clients.push(client);
    const request = await signingRequest();
    await client.sign(request.pem);
    const sent = secretsOf(stream).get('default')!.tlsCertificate?.privateKey?.inlineString ?? '';
    const authority = await readFile(join(plane.folder, 'ca/ca-key.pem'), 'utf8');
    const [{ connection = '' } = {}] = plane.plane.xds
      .connections()
      .filter(served => served.connection.startsWith('fay'));
    const key = request.key.export({ format: 'pem', type: 'pkcs8' }) as string;
    const artefacts = await artefactsOf(plane, { own: ['ca'], explorer: true });
    const secrets = { keys: [sent, authority, key], tokens: [token] };
    expectNone(artefacts, secrets);
    expect(() => expectNone(new Map([['canary', `{"key":${JSON.stringify(sent)}}`]]), secrets)).toThrow();
    expect(artefacts.get('events')).toContain('"kind":"CertificateIssued"');
    expect(artefacts.get(`/debug/config_dump?proxyID=${encodeURIComponent(connection)}`)).toContain('ROOTCA');
    const journal = await openJournal(join(plane.folder, 'journal.db'), { readonly: true });
    const report = await replay(journal, { verify: true });
    await journal.close();
    expect(report).toMatchObject({ differences: [] });
  });
});
