// An authority elsewhere signs for the mesh (`caAddress`, ENABLE_CA_SERVER=false): the secure port has the certificate
// of files, client certificates verify with the roots beside it, and this control plane signs nothing and says of no
// root that it is the mesh's.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Authority } from '../../src/identity/authority.ts';
import { signedServingCertificate } from '../../src/identity/serving.ts';
import { testAuthority } from '../unit/identity/authority-of-tests.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient } from './client.ts';
import { artefactsOf, expectNone } from './kept.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const ALICE = 'spiffe://cluster.local/ns/a/sa/alice';
const START_MS_MAX = 60_000;

const node = {
  id: 'sidecar~10.0.0.1~web.a~a.svc.cluster.local',
  metadata: { fields: { NAMESPACE: { stringValue: 'a' }, SERVICE_ACCOUNT: { stringValue: 'alice' } } },
};

describe('with an external certificate authority', { timeout: START_MS_MAX }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-external-ca-'));
  const file = (name: string): string => join(folder, name);
  const clients: TestClient[] = [];
  let authority: Authority;
  let plane: TestPlane;

  beforeAll(async () => {
    const before = await testPlane({ folder });
    await before.stop();
    authority = await testAuthority(() => Date.now());
    const serving = await signedServingCertificate(authority, ['istiod.istio-system.svc']);
    const servingFiles = { certificate: file('tls.crt'), key: file('tls.key'), roots: file('ca.crt') };
    for (const name of ['certificate', 'key', 'roots'] as const) writeFileSync(servingFiles[name], serving[name]);
    plane = await testPlane({ folder, env: { ENABLE_CA_SERVER: 'false' }, identity: { servingFiles } });
  }, START_MS_MAX);

  afterAll(async () => {
    for (const client of clients) client.close();
    await plane?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function client(more: Partial<ConstructorParameters<typeof TestClient>[0]>): TestClient {
    const made = new TestClient({ port: plane.plane.ports.secureGrpc!, roots: authority.bundle.roots, ...more });
    clients.push(made);
    return made;
  }

  async function opened(stream: ReturnType<TestClient['stream']>): Promise<void> {
    stream.ask(CLUSTERS, [], { node });
    await until(() => stream.responses.length > 0 || stream.ended !== undefined);
    expect(stream.ended).toBeUndefined();
    stream.cancel();
  }

  it('serves streams whose identity a certificate of that authority or a token proves', async () => {
    const { pem, key } = await signingRequest();
    const { certChain } = await authority.sign(pem, [ALICE], 0);
    const privateKey = key.export({ format: 'pem', type: 'pkcs8' }) as string;
    await opened(client({ certificate: { chain: certChain[0]!, key: privateKey } }).stream());
    await opened(client({ token: plane.tokens.token('a/alice') }).stream());
  });

  it('does not offer the signing service', async () => {
    const { pem } = await signingRequest();
    expect(await client({ token: plane.tokens.token('a/alice') }).sign(pem)).toMatch(/^12 /);
  });

  it('forgets what its own authority said, and publishes the roots of its certificate alone', async () => {
    const { objects } = plane.plane.world.state;
    expect([...objects.TrustAnchors.values()].map(({ name }) => name)).toEqual(['istiod-serving']);
    expect(plane.roots()).toBe(authority.bundle.roots);
  });

  it('keeps and shows neither the keys of its files and clients nor tokens', async () => {
    const { pem, key } = await signingRequest();
    const { certChain } = await authority.sign(pem, [ALICE], 0);
    const privateKey = key.export({ format: 'pem', type: 'pkcs8' }) as string;
    const token = plane.tokens.token('a/alice');
    await opened(client({ certificate: { chain: certChain[0]!, key: privateKey } }).stream());
    await opened(client({ token }).stream());
    const artefacts = await artefactsOf(plane, { own: ['tls.key', 'ca'] });
    expectNone(artefacts, { keys: [readFileSync(file('tls.key'), 'utf8'), privateKey], tokens: [token] });
    expect(artefacts.get('events')).toContain('"kind":"ProxyConnected"');
  });
});
