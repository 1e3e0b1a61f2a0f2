import { X509Certificate } from 'node:crypto';
import { get } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { alternativeNamesOf } from '../../src/identity/x509/names.ts';
import { testAuthority } from '../unit/identity/authority-of-tests.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { type ClientOptions, TestClient } from './client.ts';
import { type TestPlane, testPlane, until } from './plane.ts';
import { tokenMaker } from './tokens.ts';

const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const ALICE = 'spiffe://cluster.local/ns/a/sa/alice';

/** Keys and a control plane, on a machine that is busy. */
const START_MS_MAX = 60_000;

let plane: TestPlane;
const clients: TestClient[] = [];

beforeAll(async () => {
  plane = await testPlane();
}, START_MS_MAX);

afterAll(async () => {
  for (const client of clients) client.close();
  await plane.stop();
});

function client(options: Partial<ClientOptions> = {}): TestClient {
  const made = new TestClient({ port: plane.plane.ports.secureGrpc!, roots: plane.roots(), ...options });
  clients.push(made);
  return made;
}

async function signedPair(token: string): Promise<{ readonly chain: string; readonly key: string }> {
  const { pem, key } = await signingRequest();
  const chain = await client({ token }).sign(pem);
  if (typeof chain === 'string') throw new Error(chain);
  return { chain: chain.slice(0, -1).join(''), key: key.export({ format: 'pem', type: 'pkcs8' }) as string };
}

const sidecar = (namespace: string, account: string) => ({
  id: `sidecar~10.0.0.1~web.${namespace}~${namespace}.svc.cluster.local`,
  metadata: {
    fields: {
      NAMESPACE: { stringValue: namespace },
      SERVICE_ACCOUNT: { stringValue: account },
    },
  },
});

describe('the signing service', { timeout: 60_000 }, () => {
  it('gives a certificate to whom the token names, whatever the request says', async () => {
    const { pem } = await signingRequest({ names: ['spiffe://cluster.local/ns/b/sa/mallory'] });
    const chain = await client({ token: plane.tokens.token('a/alice') }).sign(pem);
    expect(chain).toHaveLength(2);
    expect(alternativeNamesOf(new X509Certificate(chain[0]!).raw)).toEqual([{ kind: 'uri', text: ALICE }]);
    expect(chain[1]).toBe(plane.roots());
  });

  it('renews for a client certificate that it issued', async () => {
    const certificate = await signedPair(plane.tokens.token('a/alice'));
    const { pem } = await signingRequest();
    const chain = await client({ certificate }).sign(pem);
    expect(alternativeNamesOf(new X509Certificate(chain[0]!).raw)).toEqual([{ kind: 'uri', text: ALICE }]);
  });

  it.each([
    ['without a token', () => undefined],
    ['with a token for another audience', () => plane.tokens.token('a/alice', { aud: ['kubernetes'] })],
    ['with an expired token', () => plane.tokens.token('a/alice', { exp: 1 })],
    ['with a token without expiry', () => plane.tokens.token('a/alice', { exp: undefined })],
    ['with a token of another issuer', () => plane.tokens.token('a/alice', { iss: 'https://elsewhere' })],
    ['with a token signed by another key', () => tokenMaker().token('a/alice')],
    ['with a token of a user', () => plane.tokens.token('a/alice', { sub: 'alice' })],
    [
      'with a token that contradicts itself',
      () => plane.tokens.token('a/alice', { sub: 'system:serviceaccount:b:bob' }),
    ],
    ['with something else', () => 'not-a-token'],
  ])('refuses callers %s', async (_, token) => {
    const { pem } = await signingRequest();
    expect(await client({ token: token() }).sign(pem)).toBe('16 request authenticate failure');
  });

  it('does not read forwarded certificates unless proxies are trusted', async () => {
    const { pem } = await signingRequest();
    const headers = { 'x-forwarded-client-cert': `URI=${ALICE}` };
    expect(await client({ headers }).sign(pem)).toBe('16 request authenticate failure');
  });

  it('refuses everybody in the clear', async () => {
    const { pem } = await signingRequest();
    const token = plane.tokens.token('a/alice');
    const inTheClear = client({ token, roots: undefined, port: plane.plane.ports.grpc });
    expect(await inTheClear.sign(pem)).toBe('16 request authenticate failure');
  });

  it('tells requests that are wrong from requests that it cannot serve', async () => {
    const token = plane.tokens.token('a/alice');
    const { pem } = await signingRequest();
    const forged = await signingRequest({ forged: true });
    expect(await client({ token }).sign('nonsense')).toMatch(/^3 CSR signing error/);
    expect(await client({ token }).sign(forged.pem)).toMatch(/^3 CSR signing error/);
    expect(await client({ token }).sign(pem, { seconds: 365 * 86_400 })).toMatch(
      /^3 .*greater than the max allowed TTL/,
    );
    expect(await client({ token }).sign(pem, { impersonated: ALICE })).toMatch(/^16 request impersonation/);
  });

  it('records what it issued and refused, and of keys and tokens nothing', async () => {
    const token = plane.tokens.token('audit/trail');
    const { pem } = await signingRequest();
    await client({ token }).sign(pem);
    await client({ token }).sign('nonsense');
    const text = await (await fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}/metrics`)).text();
    expect(text).toMatch(/citadel_server_success_cert_issuance_count [1-9]/);
    expect(text).toMatch(/citadel_server_csr_sign_err_count\{error="CSR_ERROR"\} [1-9]/);
  });
});

describe('the secure port', { timeout: 60_000 }, () => {
  it('ends connections with a certificate of another authority', async () => {
    const foreign = await testAuthority(() => Date.now());
    const { pem, key } = await signingRequest();
    const { certChain } = await foreign.sign(pem, [ALICE], 0);
    const certificate = { chain: certChain[0]!, key: key.export({ format: 'pem', type: 'pkcs8' }) as string };
    const answer = await client({ certificate, token: plane.tokens.token('a/alice') }).sign(pem);
    expect(answer).toMatch(/^14 /);
  });

  it('serves streams of proven identity, and refuses one that claims another', async () => {
    const token = plane.tokens.token('a/alice');
    const good = client({ token }).stream();
    good.ask(CLUSTERS, [], { node: sidecar('a', 'alice') });
    await until(() => good.responses.length > 0);
    const [record] = [...plane.plane.world.state.proxies.values()];
    expect(record).toMatchObject({ identities: [ALICE], proof: { how: 'token', by: 'keys', cluster: 'Kubernetes' } });
    const bad = client({ token }).stream();
    bad.ask(CLUSTERS, [], { node: sidecar('b', 'bob') });
    await until(() => bad.ended !== undefined);
    expect(bad.ended).toMatch(/^7 authorization failed/);
    good.cancel();
  });

  it('refuses streams that prove nothing, which the plaintext port lets in', async () => {
    const stream = client().stream();
    stream.ask(CLUSTERS, [], { node: sidecar('a', 'alice') });
    await until(() => stream.ended !== undefined);
    expect(stream.ended).toBe('16 authentication failure');
    const plain = client({ roots: undefined, port: plane.plane.ports.grpc }).stream();
    plain.ask(CLUSTERS, [], { node: sidecar('a', 'alice') });
    await until(() => plain.responses.length > 0);
    plain.cancel();
  });

  it('refuses a stream without proof when it opens, before it says anything', async () => {
    const stream = client().stream();
    await until(() => stream.ended !== undefined);
    expect(stream.ended).toBe('16 authentication failure');
  });
});

describe('debug pages', { timeout: 60_000 }, () => {
  const status = async (path: string, authorization = ''): Promise<number> => {
    const { http } = plane.plane.ports;
    // Another Host makes the caller one from another machine.
    const headers = { host: 'istiod.istio-system', ...(authorization === '' ? {} : { authorization }) };
    return new Promise((resolve, reject) => {
      const sent = get({ host: '127.0.0.1', port: http, path, headers }, ({ statusCode = 0 }) => resolve(statusCode));
      sent.on('error', reject);
    });
  };

  it('are shown to a token of the root namespace, of another namespace for its own proxies only', async () => {
    const stream = client({ token: plane.tokens.token('a/alice') }).stream();
    stream.ask(CLUSTERS, [], { node: sidecar('a', 'alice') });
    await until(() => stream.responses.length > 0);
    const dump = '/debug/config_dump?proxyID=web.a';
    expect(await status('/debug/syncz')).toBe(401);
    expect(await status('/debug/syncz', 'Bearer nonsense')).toBe(401);
    const [admin, own, other] = ['istio-system/ops', 'a/alice', 'b/bob'].map(name => plane.tokens.token(name));
    expect(await status('/debug/syncz', `Bearer ${admin}`)).toBe(200);
    expect(await status(dump, `Istio ${admin}`)).toBe(200);
    expect(await status('/debug/syncz', `Bearer ${own}`)).toBe(403);
    expect(await status(dump, `Bearer ${own}`)).toBe(200);
    expect(await status(dump, `Bearer ${other}`)).toBe(404);
    expect(await status(`${dump}&at=now`, `Bearer ${other}`)).toBe(404);
    stream.cancel();
  });
});
