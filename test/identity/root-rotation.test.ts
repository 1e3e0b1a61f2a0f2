// An operator exchanges the plugged-in root while proxies are connected: the new one signs when every stream has
// accepted it.

import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import { certificateBlocks } from '../../src/identity/x509/pem.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { type TestRoot, testRoot } from '../unit/identity/authority-of-tests.ts';
import { signingRequest } from '../unit/identity/signing-request.ts';
import { TestClient, type TestStream } from './client.ts';
import { artefactsOf, expectNone } from './kept.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const SECRETS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret';
const TRUST_BUNDLE = 'type.googleapis.com/istio.mesh.v1alpha1.ProxyConfig';

const node = (account: string, agent: boolean) => ({
  id: `sidecar~10.0.0.1~${account}.a~a.svc.cluster.local`,
  metadata: { fields: { NAMESPACE: { stringValue: 'a' }, SERVICE_ACCOUNT: { stringValue: account } } },
  ...(agent ? {} : { extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http' }] }),
});

describe('exchanging the root of the mesh', { timeout: 90_000 }, () => {
  let folder: string;
  let plane: TestPlane;
  let old: TestRoot;
  let young: TestRoot;
  const clients: TestClient[] = [];
  const tokens: string[] = [];

  const plug = async (signer: TestRoot, roots: readonly TestRoot[]): Promise<void> => {
    const files = {
      'root-cert.pem': roots.map(({ certificate }) => certificate).join(''),
      'cert-chain.pem': signer.certificate,
      'ca-key.pem': signer.key,
      'ca-cert.pem': signer.certificate,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'cacerts', name), text);
  };
  const client = (account: string): TestClient => {
    const port = plane.plane.ports.secureGrpc!;
    // Clients trust both roots, as with the mounted ConfigMap.
    const roots = `${old.certificate}${young.certificate}`;
    const token = plane.tokens.token(`a/${account}`);
    tokens.push(token);
    const made = new TestClient({ port, roots, token });
    clients.push(made);
    return made;
  };
  const signerOf = async (): Promise<'old' | 'young'> => {
    const chain = await client('probe').sign((await signingRequest()).pem);
    return new X509Certificate(chain[0]!).verify(old.signer.certificate.publicKey) ? 'old' : 'young';
  };
  const rootsIn = (stream: TestStream): number => {
    const last = stream.responses.filter(({ typeUrl }) => typeUrl === TRUST_BUNDLE).at(-1)?.resources[0];
    if (last === undefined) return 0;
    const message = typeOf('istio.mesh.v1alpha1.ProxyConfig').decode(last.value) as unknown as {
      readonly caCertificatesPem: readonly string[];
    };
    return message.caCertificatesPem.flatMap(certificateBlocks).length;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-rotation-'));
    await mkdir(join(folder, 'cacerts'));
    const now = Date.now();
    [old, young] = [await testRoot('old', undefined, now), await testRoot('young', undefined, now)];
    await plug(old, [old]);
    plane = await testPlane({
      folder,
      env: { ISTIO_MULTIROOT_MESH: 'true' },
      settings: { ...defaultSettings, env: { ISTIO_MULTIROOT_MESH: 'true' } },
    });
  }, 90_000);

  afterAll(async () => {
    for (const one of clients) one.close();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('waits until stock Envoys have accepted the secret and agents the trust bundle', async () => {
    const [stock, agent] = [client('stock').stream(), client('agent').stream()];
    stock.ask(SECRETS, ['default', 'ROOTCA'], { node: node('stock', false) });
    agent.ask(TRUST_BUNDLE, [], { node: node('agent', true) });
    await until(() => stock.responses.length > 0 && rootsIn(agent) === 1);
    agent.answers = false;
    await plug(young, [young, old]);
    await until(() => rootsIn(agent) === 2);
    await new Promise(resolve => setTimeout(resolve, 2_500));
    expect(await signerOf()).toBe('old');
    expect(plane.lines.join('\n')).toContain('the new bundle waits for agent.a');
    agent.answers = true;
    agent.acknowledge();
    await until(() => plane.lines.some(line => line.includes('signs with the new bundle')));
    expect(await signerOf()).toBe('young');
    expect(stock.ended ?? agent.ended).toBeUndefined();
    stock.cancel();
    agent.cancel();
  });

  it('keeps and shows the key of neither root, nor tokens', async () => {
    const artefacts = await artefactsOf(plane, { own: ['cacerts'] });
    expectNone(artefacts, { keys: [old.key, young.key], tokens });
    expect(artefacts.get('events')).toContain('"kind":"CertificateIssued"');
  });
});
