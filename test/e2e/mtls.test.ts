// Mesh mTLS between two stock Envoys without any agent: each gets its certificate from Periplus over its own
// authenticated stream, under STRICT. Traffic of unchanged applications is encrypted, plaintext is refused, and a
// certificate is exchanged under load without a failed request. Needs an Envoy, root and Linux.

import { type FileHandle, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEnvoy } from '../../src/demo/envoy.ts';
import { ISSUER, type TokenMaker, tokenMaker } from '../identity/tokens.ts';
import { type TestRoot, testRoot } from '../unit/identity/authority-of-tests.ts';
import { Node, type Pod, whyNoPods } from './interception/pods.ts';
import { admin, secured } from './interception/secured.ts';
import { startSidecar } from './interception/sidecar.ts';
import { canRun } from './suite.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const HERE = join(import.meta.dirname, 'interception');
const READY_MS_MAX = 90_000;
const SERVICE = '10.96.0.20';
/** Each certificate is renewed after half of this. */
const LIFE = '20s';
const LOAD_REQUESTS = 60;

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const missing = 'missing' in found ? found.missing : whyNoPods();
const runs = canRun('test/e2e/mtls.test.ts', missing);
const binary = 'binary' in found ? found.binary : '';

const STRICT = `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: istio-system }
spec: { mtls: { mode: STRICT } }
`;

describe.runIf(runs)('mesh mTLS between stock Envoys', () => {
  let folder: string;
  let node: Node;
  let client: Pod;
  let reviews: Pod;
  let outside: Pod;
  let tokens: TokenMaker;
  let old: TestRoot;
  let young: TestRoot;
  const logs: FileHandle[] = [];
  const logOf = (name: string): string => join(folder, `${name}.log`);
  const logTo = async (name: string): Promise<number> => {
    const file = await open(logOf(name), 'w');
    logs.push(file);
    return file.fd;
  };
  /** The files of a plugged-in authority; the signing certificate, which completes them, comes last. */
  const plug = async (signer: TestRoot, roots: readonly TestRoot[]): Promise<void> => {
    const files = {
      'root-cert.pem': roots.map(({ certificate }) => certificate).join(''),
      'cert-chain.pem': signer.certificate,
      'ca-key.pem': signer.key,
      'ca-cert.pem': signer.certificate,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'cacerts', name), text);
  };
  const adminOf = (pod: Pod): string => join(folder, `${pod.name}.admin`);

  const sidecar = async (pod: Pod, roots: string): Promise<void> =>
    startSidecar(pod, {
      binary,
      protocol: pod === client ? 'delta' : 'sotw',
      admin: adminOf(pod),
      xdsPort: 15_012,
      output: await logTo(`envoy-${pod.name}`),
      adapt: config => secured(config, roots, tokens.token(`default/${pod.name}`)),
    });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-mtls-'));
    tokens = tokenMaker();
    await mkdir(join(folder, 'config'));
    const mesh = await readFile(join(HERE, 'config/mesh.yaml'), 'utf8');
    const labelled = mesh.replaceAll('labels: { app: ', 'labels: { security.istio.io/tlsMode: istio, app: ');
    await writeFile(join(folder, 'config/mesh.yaml'), labelled);
    await writeFile(join(folder, 'config/strict.yaml'), STRICT);
    await writeFile(join(folder, 'keys.json'), tokens.jwks);
    node = await Node.make();
    client = await node.pod('client', '10.77.1');
    reviews = await node.pod('reviews', '10.77.2');
    outside = await node.pod('outside', '192.0.2');
    const app = [process.execPath, join(HERE, 'pod-app.mjs'), 'serve'];
    reviews.start([...app, 'reviews', 'http:8080', 'tcp:9001'], { output: await logTo('reviews') });
    const addresses = [
      '--grpcAddr',
      ':15010',
      '--secureGrpcAddr',
      ':15012',
      '--monitoringAddr',
      ':15014',
      '--httpAddr',
      ':8080',
    ];
    const files = ['--configDir', join(folder, 'config'), '--meshConfig', join(folder, 'none')];
    const keys = ['--tokenKeys', join(folder, 'keys.json'), '--tokenIssuer', ISSUER];
    const serve = [
      process.execPath,
      CLI,
      'serve',
      ...files,
      ...addresses,
      ...keys,
      '--journal',
      join(folder, 'journal.db'),
    ];
    [old, young] = [await testRoot('old', undefined, Date.now()), await testRoot('young', undefined, Date.now())];
    await mkdir(join(folder, 'cacerts'));
    await plug(old, [old]);
    const env = [
      `DEFAULT_WORKLOAD_CERT_TTL=${LIFE}`,
      `ROOT_CA_DIR=${join(folder, 'cacerts')}`,
      'ISTIO_MULTIROOT_MESH=true',
    ];
    node.here.start(['env', ...env, ...serve], { output: await logTo('plane') });
    // What a ConfigMap in the pods would have in the end.
    const root = join(folder, 'roots.pem');
    await writeFile(root, `${old.certificate}${young.certificate}`);
    await until('the control plane serves', async () =>
      (await readFile(logOf('plane'), 'utf8')).includes('over TLS on 15012'),
    );
    await sidecar(client, root);
    await sidecar(reviews, root);
    await until('the Envoys are live', async () => {
      const states = await Promise.all([client, reviews].map(pod => admin(adminOf(pod), '/ready')));
      return states.every(text => text.startsWith('LIVE'));
    });
    await until('requests pass', async () => (await ask(client, `http://${SERVICE}/`, 'reviews')) === 200);
  }, READY_MS_MAX * 2);
  afterAll(async () => {
    await node?.end();
    for (const log of logs) await log.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const until = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    const end = Date.now() + READY_MS_MAX;
    while (!(await holds().catch(() => false))) {
      if (Date.now() > end) {
        const names = ['plane', 'envoy-client', 'envoy-reviews', 'reviews'];
        const texts = await Promise.all(
          names.map(async name => `${name}: ${await readFile(logOf(name), 'utf8').catch(() => '')}`),
        );
        throw new Error(`not within ${READY_MS_MAX} ms: ${what}\n${texts.join('\n').slice(-8_000)}`);
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  };

  const ask = async (pod: Pod, ...args: readonly string[]): Promise<number> => {
    const output = await pod.run(process.execPath, join(HERE, 'pod-app.mjs'), 'get', ...args);
    return (JSON.parse(output) as { readonly status: number }).status;
  };
  const stat = async (pod: Pod, name: RegExp): Promise<number> => {
    const lines = (await admin(adminOf(pod), '/stats')).split('\n');
    return lines.filter(line => name.test(line)).reduce((sum, line) => sum + Number(line.split(': ')[1]), 0);
  };
  const serialOf = async (pod: Pod): Promise<string> => {
    const { certificates } = JSON.parse(await admin(adminOf(pod), '/certs')) as {
      readonly certificates: readonly { readonly cert_chain: readonly { readonly serial_number: string }[] }[];
    };
    return certificates
      .flatMap(({ cert_chain: chain }) => chain.map(one => one.serial_number))
      .sort()
      .join(' ');
  };

  it('encrypts what the applications send each other, HTTP and TCP', { timeout: READY_MS_MAX }, async () => {
    const handshakes = /^listener\..*_15006\.ssl\.handshake: /;
    const before = await stat(reviews, handshakes);
    expect(await ask(client, `http://${SERVICE}/books`, 'reviews')).toBe(200);
    const said = await client.run(process.execPath, join(HERE, 'pod-app.mjs'), 'say', SERVICE, '9000', 'hello');
    expect(said.trim()).toBe('reviews got hello');
    expect(await stat(reviews, handshakes)).toBeGreaterThan(before);
    expect(await stat(client, /^cluster\.outbound\|80\|.*\.ssl\.handshake: /)).toBeGreaterThan(0);
  });

  it('refuses plaintext from outside the mesh', { timeout: READY_MS_MAX }, async () => {
    await expect(ask(outside, `http://${reviews.address}:8080/c`)).rejects.toThrow();
  });

  const serials = (): Promise<readonly string[]> => Promise.all([client, reviews].map(serialOf));
  const areRenewed = async (before: readonly string[]): Promise<boolean> =>
    (await serials()).every((serial, i) => serial !== '' && serial !== before[i]);
  /** Requests that failed until it holds, at least LOAD_REQUESTS. */
  const failedUntil = async (holds: () => Promise<boolean>): Promise<number> => {
    let failed = 0;
    for (let asked = 0; asked < LOAD_REQUESTS || !(await holds()); asked++) {
      if ((await ask(client, `http://${SERVICE}/load/${asked}`, 'reviews').catch(() => 0)) !== 200) failed++;
      if (asked > LOAD_REQUESTS * 8) break;
    }
    return failed;
  };

  it('exchanges certificates under load without a failed request', { timeout: READY_MS_MAX * 3 }, async () => {
    const before = await serials();
    expect(await failedUntil(() => areRenewed(before))).toBe(0);
    expect(await areRenewed(before)).toBe(true);
  });

  it('exchanges the root under load without a failed request', { timeout: READY_MS_MAX * 3 }, async () => {
    await plug(young, [young, old]);
    let before: readonly string[] | undefined;
    const isDone = async (): Promise<boolean> => {
      const log = await readFile(logOf('plane'), 'utf8');
      if (!log.includes('signs with the new bundle')) return false;
      before ??= await serials();
      return areRenewed(before);
    };
    expect(await failedUntil(isDone)).toBe(0);
    expect(await isDone()).toBe(true);
  });

  it('keeps no private key in the journal', async () => {
    // What was written last stands in the write-ahead log.
    const files = ['journal.db', 'journal.db-wal'].map(name => readFile(join(folder, name), 'latin1'));
    const text = (await Promise.all(files)).join('');
    expect(text).toContain('CertificateIssued');
    expect(text).not.toMatch(/PRIVATE KEY/);
  });
});
