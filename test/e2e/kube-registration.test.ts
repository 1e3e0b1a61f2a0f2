// The registration authority on a real kube-apiserver, with the rights of deploy/ and nothing more: workloads' requests
// and the control plane's own certificate are signed by signers of the Kubernetes API, which a test plays.

import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { connectCalls } from '../../src/adapters/kube/calls.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { openJournal } from '../../src/journal/open.ts';
import { TestClient } from '../identity/client.ts';
import { type RequestOptions, signingRequest } from '../unit/identity/signing-request.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { namespace, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { TestSigner } from './kube/test-signer.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const DOMAIN = 'signers.example.com';
const MESH = `${DOMAIN}/mesh`;
const TEAM = `${DOMAIN}/team`;
/** Of a beta API, which servers do not serve by default. */
const TRUST_BUNDLES = [
  '--feature-gates=ClusterTrustBundle=true',
  '--runtime-config=certificates.k8s.io/v1beta1/clustertrustbundles=true',
];
const WEB = 'spiffe://cluster.local/ns/shop/sa/web';
/** As PEM has it, and in base64 at each of three alignments. */
const PRIVATE_KEY = /PRIVATE KEY|UFJJVkFURSBLRV|BSSVZBVEUgS0VZ|QUklWQVRFIEtFW/;

describe.runIf(binaries !== undefined)('a registration authority in a cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let signer: TestSigner;
  let plane: Plane;
  let token: string;
  let serve: (more: Readonly<Record<string, string>>) => Promise<Plane>;
  const roots = { mesh: '', team: '' };
  const closers: (() => unknown)[] = [];

  /** The chain, or `CODE message`. */
  const signed = async (options: RequestOptions = {}, more: { readonly signer?: string } = {}) => {
    const client = new TestClient({ port: plane.secure, roots: roots.mesh, token });
    try {
      return await client.sign((await signingRequest({ names: [WEB], ...options })).pem, more);
    } finally {
      client.close();
    }
  };
  const isSignedBy = (leaf: string | undefined, root: string): boolean =>
    new X509Certificate(leaf!).verify(new X509Certificate(root).publicKey);

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!, TRUST_BUNDLES);
    folder = await mkdtemp(join(tmpdir(), 'periplus-kube-registration-'));
    admin = cluster.client();
    closers.push(() => admin.close());
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop')]);
    for (const file of ['rbac.yaml', 'rbac-write.yaml', 'rbac-registration.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    const calls = await connectCalls({ kubeconfig: await cluster.kubeconfig('admin'), userAgent: 'test-signer' });
    closers.push(() => calls.close());
    signer = new TestSigner(calls.call);
    roots.mesh = await signer.add(MESH);
    roots.team = await signer.add(TEAM);
    signer.start();
    const authorities = [
      { pem: roots.mesh, certSigners: [MESH] },
      { pem: roots.team, certSigners: [TEAM] },
    ];
    const data = { mesh: JSON.stringify({ caCertificates: authorities }) };
    await admin.put({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'istio', namespace: SYSTEM }, data });
    await admin.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'web', namespace: 'shop' } });
    token = await serviceAccountToken(admin, 'shop', 'web', { audiences: ['istio-ca'] });
    const own = await serviceAccountToken(admin, SYSTEM, 'periplus');
    const kubeconfig = await cluster.kubeconfig('periplus', own);
    serve = more =>
      Plane.serveSecurely(['--kubeconfig', kubeconfig, '--journal', join(folder, 'journal.db')], {
        POD_NAME: 'one',
        POD_NAMESPACE: SYSTEM,
        EXTERNAL_CA: 'ISTIOD_RA_KUBERNETES_API',
        PILOT_CERT_PROVIDER: `k8s.io/${MESH}`,
        K8S_SIGNER: MESH,
        CERT_SIGNER_DOMAIN: DOMAIN,
        ...more,
      });
    plane = await serve({});
    await plane.synced();
    await until('the secure port has a certificate', () => plane.log.includes(`by ${MESH}`));
  }, 600_000);

  afterAll(async () => {
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(`${plane?.log}\n`);
    await plane?.end('SIGKILL');
    await signer?.stop();
    for (const close of closers) close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('answers with the certificate of the signer, and its root last', async () => {
    // As pilot-agent asks: RSA 2048, an empty organization, the identity as a critical name.
    const chain = await signed({ type: { rsa: 2_048 } });
    if (typeof chain === 'string') throw new Error(chain);
    expect(chain).toHaveLength(2);
    expect(chain[1]).toBe(roots.mesh);
    expect(isSignedBy(chain[0], roots.mesh)).toBe(true);
    expect(new X509Certificate(chain[0]!).subjectAltName).toBe(`URI:${WEB}`);
  });

  it('asks the signer of its domain that a request names', async () => {
    const chain = await signed({}, { signer: 'team' });
    if (typeof chain === 'string') throw new Error(chain);
    expect(chain[1]).toBe(roots.team);
    expect(isSignedBy(chain[0], roots.team)).toBe(true);
  });

  it('hands on no request for another identity', async () => {
    const answer = await signed({ names: ['spiffe://cluster.local/ns/bank/sa/root'] });
    expect(answer).toContain('3 CSR signing error (unable to validate SAN Identities in CSR');
  });

  it('tells that a signer has failed', async () => {
    expect(await signed({}, { signer: 'none' })).toMatch(/^13 .*has not signed: Failed: no such signer/);
  });

  it('leaves no request behind', async () => {
    expect(signer.seen.size).toBeGreaterThan(2);
    await until('all requests are deleted', async () => (await signer.list()).length === 0);
  });

  it('publishes the root that the control plane is verified with', async () => {
    const path = '/api/v1/namespaces/shop/configmaps/istio-ca-root-cert';
    const published = async (): Promise<string> => {
      const { data } = (await admin.get(path).catch(() => ({}))) as { readonly data?: Record<string, string> };
      return data?.['root-cert.pem'] ?? '';
    };
    await until('the root is published', async () => (await published()).trim() === roots.mesh.trim());
  });

  it('publishes it as a ClusterTrustBundle where that is asked for', async () => {
    await plane.end();
    plane = await serve({ ENABLE_CLUSTER_TRUST_BUNDLE_API: 'true' });
    const path = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles/istio.io:istiod-ca:root-cert';
    const bundle = async (): Promise<unknown> => (await admin.get(path).catch(() => undefined))?.spec;
    await until('the bundle is there', async () => (await bundle()) !== undefined);
    expect(await bundle()).toEqual({ signerName: 'istio.io/istiod-ca', trustBundle: roots.mesh });
  });

  it('records who got which certificate', async () => {
    const { said } = await Plane.run('identities', '--journal', join(folder, 'journal.db'), '-o', 'json');
    expect(said).toContain(WEB);
  });

  it('keeps and logs no token and no private key', async () => {
    await plane.end();
    const names = (await readdir(folder)).filter(name => name.startsWith('journal.db'));
    const kept = await Promise.all(names.map(name => readFile(join(folder, name), 'latin1')));
    const journal = await openJournal(join(folder, 'journal.db'), { readonly: true });
    for await (const events of journal.read({ from: 1 })) kept.push(JSON.stringify(events));
    await journal.close();
    expect(kept.join('')).toContain('CertificateIssued');
    for (const text of [...kept, plane.log]) {
      expect(text.includes(token)).toBe(false);
      expect(text).not.toMatch(PRIVATE_KEY);
    }
  });
});
