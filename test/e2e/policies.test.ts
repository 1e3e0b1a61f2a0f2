// Policies through real Envoys: two identities, signed tokens, and paths and hosts that once evaded rules. For
// arbitrary requests the Envoy, the oracle on what Periplus generated, and a model of the Istio API give one answer.
// Needs an Envoy, root and Linux.

import { type FileHandle, mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findEnvoy } from '../../src/demo/envoy.ts';
import { askAccess, gateOf } from '../../src/history/access/ask.ts';
import { workloadNamed } from '../../src/history/access/workload.ts';
import { History } from '../../src/history/history.ts';
import { holdingsOf } from '../../src/history/holdings.ts';
import { openJournal } from '../../src/journal/open.ts';
import { ISSUER, type TokenMaker, tokenMaker } from '../identity/tokens.ts';
import { parameters, seed } from '../property/seed.ts';
import { Node, type Pod, whyNoPods } from './interception/pods.ts';
import { admin, secured } from './interception/secured.ts';
import { startSidecar } from './interception/sidecar.ts';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const HERE = join(import.meta.dirname, 'interception');
const READY_MS_MAX = 90_000;
const SERVICE = '10.96.0.20';
const USERS = 'https://users.example.com';
const REQUESTS = 150;

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const missing = 'missing' in found ? found.missing : whyNoPods();
const runs = canRun('test/e2e/policies.test.ts', missing);
const binary = 'binary' in found ? found.binary : '';

interface Asked {
  readonly caller: 'client' | 'intruder';
  readonly path: string;
  readonly host: string;
  readonly token: 'none' | 'staff' | 'guest' | 'forged' | 'foreign';
}

const paths = ['/', '/books', '/staff/desk', '/staff', '/admin', '/admin/x', '//admin/x', '/admin//x', '/admin%2fx'];
const odd = ['/a/../admin/x', '/a/%2e%2e/admin/x', '/admin/x?y', '/ADMIN/x', '/books?/admin/x', '/staff/../admin/x'];
const asked: fc.Arbitrary<Asked> = fc.record({
  caller: fc.constantFrom('client', 'intruder'),
  path: fc.constantFrom(...paths, ...odd),
  host: fc.constantFrom('reviews', 'open.example.com', 'secret.example.com', 'SECRET.Example.com'),
  token: fc.constantFrom('none', 'staff', 'guest', 'forged', 'foreign'),
});

/** What the objects below say, by the documentation of Istio alone. */
function expected({ caller, path, host, token }: Asked): number {
  if (token === 'forged' || token === 'foreign') return 401;
  const plain = decodeURIComponent(path.split('?')[0]!);
  const parts: string[] = [];
  for (const part of plain.split('/').filter(one => one !== '')) {
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  const normal = `/${parts.join('/')}`;
  if (normal.startsWith('/admin/') || host.toLowerCase() === 'secret.example.com') return 403;
  if (caller === 'client') return 200;
  return token === 'staff' && normal.startsWith('/staff/') ? 200 : 403;
}

const policies = (jwks: string): string => `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: istio-system }
spec: { mtls: { mode: STRICT } }
---
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: { name: users, namespace: default }
spec: { selector: { matchLabels: { app: reviews } }, jwtRules: [{ issuer: '${USERS}', jwks: '${jwks}' }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: closed, namespace: default }
spec:
  selector: { matchLabels: { app: reviews } }
  action: DENY
  rules:
    - to: [{ operation: { paths: ['/admin/*'] } }]
    - to: [{ operation: { hosts: ['secret.example.com', 'secret.example.com:*'] } }]
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: open, namespace: default }
spec:
  selector: { matchLabels: { app: reviews } }
  rules:
    - from: [{ source: { principals: ['cluster.local/ns/default/sa/client'] } }]
    - from: [{ source: { requestPrincipals: ['${USERS}/*'] } }]
      to: [{ operation: { paths: ['/staff/*'] } }]
      when: [{ key: 'request.auth.claims[groups]', values: [staff] }]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: names, namespace: default }
spec:
  hosts: [open.example.com, secret.example.com]
  http: [{ route: [{ destination: { host: reviews.default.svc.cluster.local } }] }]
---
apiVersion: v1
kind: Pod
metadata: { name: intruder, namespace: default, labels: { security.istio.io/tlsMode: istio, app: intruder } }
spec: { serviceAccountName: intruder, nodeName: node, containers: [{ name: app, image: none }] }
status: { phase: Running, podIP: 10.77.3.2, podIPs: [{ ip: 10.77.3.2 }], conditions: [{ type: Ready, status: "True" }] }
`;

describe.runIf(runs)(`policies in real Envoys (PERIPLUS_SEED=${seed})`, () => {
  let folder: string;
  let node: Node;
  let users: TokenMaker;
  const pods = new Map<string, Pod>();
  const logs: FileHandle[] = [];
  const logTo = async (name: string): Promise<number> => {
    const file = await open(join(folder, `${name}.log`), 'w');
    logs.push(file);
    return file.fd;
  };
  const adminOf = (name: string): string => join(folder, `${name}.admin`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-policies-'));
    const accounts = tokenMaker();
    users = tokenMaker('u1');
    await mkdir(join(folder, 'config'));
    const mesh = await readFile(join(HERE, 'config/mesh.yaml'), 'utf8');
    const labelled = mesh.replaceAll('labels: { app: ', 'labels: { security.istio.io/tlsMode: istio, app: ');
    await writeFile(join(folder, 'config/mesh.yaml'), labelled);
    await writeFile(join(folder, 'config/policies.yaml'), policies(users.jwks));
    await writeFile(join(folder, 'mesh'), 'pathNormalization: { normalization: DECODE_AND_MERGE_SLASHES }\n');
    await writeFile(join(folder, 'keys.json'), accounts.jwks);
    node = await Node.make();
    for (const [name, network] of [
      ['client', '10.77.1'],
      ['reviews', '10.77.2'],
      ['intruder', '10.77.3'],
    ] as const) {
      pods.set(name, await node.pod(name, network));
    }
    const app = [process.execPath, join(HERE, 'pod-app.mjs'), 'serve', 'reviews', 'http:8080', 'tcp:9001'];
    pods.get('reviews')!.start(app, { output: await logTo('reviews') });
    const flags = {
      configDir: join(folder, 'config'),
      meshConfig: join(folder, 'mesh'),
      journal: join(folder, 'journal.db'),
      tokenKeys: join(folder, 'keys.json'),
      tokenIssuer: ISSUER,
      grpcAddr: ':15010',
      secureGrpcAddr: ':15012',
      monitoringAddr: ':15014',
      httpAddr: ':8080',
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    node.here.start([process.execPath, CLI, 'serve', ...args], { output: await logTo('plane') });
    const log = (): Promise<string> => readFile(join(folder, 'plane.log'), 'utf8');
    await until('the control plane serves', async () => (await log()).includes('over TLS on 15012'), READY_MS_MAX);
    for (const [name, pod] of pods) {
      const token = accounts.token(`default/${name}`);
      await startSidecar(pod, {
        binary,
        protocol: name === 'client' ? 'delta' : 'sotw',
        admin: adminOf(name),
        xdsPort: 15_012,
        output: await logTo(`envoy-${name}`),
        adapt: config => secured(config, join(folder, 'ca/root-cert.pem'), token),
      });
    }
    const isLive = (name: string): Promise<boolean> =>
      admin(adminOf(name), '/ready').then(
        text => text.startsWith('LIVE'),
        () => false,
      );
    await until('the Envoys are live', async () => (await Promise.all([...pods.keys()].map(isLive))).every(Boolean));
    const first: Asked = { caller: 'client', path: '/books', host: 'reviews', token: 'none' };
    await until('requests pass', async () => (await answersTo([first]))[0] === 200, READY_MS_MAX);
  }, READY_MS_MAX * 3);

  afterAll(async () => {
    await node?.end();
    for (const log of logs) await log.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const bearers = (): Readonly<Record<Asked['token'], string>> => ({
    none: '',
    staff: users.token('x/ann', { iss: USERS, sub: 'ann', groups: ['staff', 'night'] }),
    guest: users.token('x/bob', { iss: USERS, sub: 'bob', groups: ['guest'] }),
    forged: tokenMaker('u1').token('x/eve', { iss: USERS, sub: 'eve', groups: ['staff'] }),
    foreign: users.token('x/eve', { iss: 'https://other.example.com', sub: 'eve', groups: ['staff'] }),
  });

  /** What the Envoys say, in the order of the questions. */
  async function answersTo(questions: readonly Asked[]): Promise<readonly number[]> {
    const tokens = bearers();
    const answers = new Map<Asked, number>();
    for (const name of ['client', 'intruder'] as const) {
      const own = questions.filter(({ caller }) => caller === name);
      const file = join(folder, `${name}.json`);
      const requests = own.map(({ path, host, token }) => {
        const bearer = tokens[token] === '' ? {} : { authorization: `Bearer ${tokens[token]}` };
        return { host: SERVICE, port: 80, path, headers: { host, ...bearer } };
      });
      await writeFile(file, JSON.stringify(requests));
      const printed = await pods.get(name)!.run(process.execPath, join(HERE, 'pod-app.mjs'), 'getall', file);
      for (const [i, status] of (JSON.parse(printed) as readonly number[]).entries()) answers.set(own[i]!, status);
    }
    return questions.map(question => answers.get(question) ?? 0);
  }

  const sampled = fc.sample(asked, parameters(REQUESTS));

  it('answer arbitrary requests as the Istio API says', { timeout: READY_MS_MAX * 3 }, async () => {
    const answers = await answersTo(sampled);
    const different = sampled.flatMap((question, i) =>
      answers[i] === expected(question) ? [] : [{ ...question, envoy: answers[i], model: expected(question) }],
    );
    expect(different).toEqual([]);
    expect(new Set(answers)).toEqual(new Set([200, 401, 403]));
  });

  it('answer as the oracle says of what they were sent', async () => {
    const journal = await openJournal(join(folder, 'journal.db'), { readonly: true });
    const history = new History(journal, { foldMax: 10_000 });
    const { state, proxy } = workloadNamed(await history.at(journal.head().seq), 'reviews.default');
    const gate = gateOf(holdingsOf(history.tracker, state, proxy), '10.77.2.2', false);
    const claims = { staff: { iss: USERS, sub: 'ann', groups: ['staff'] }, guest: { iss: USERS, sub: 'bob' } };
    // Signatures are not the oracle's matter.
    const known = sampled.filter(({ token }) => token !== 'forged' && token !== 'foreign');
    for (const question of known) {
      const { caller, path, host, token } = question;
      const isTold = token === 'staff' || token === 'guest';
      const { allowed } = askAccess(gate, {
        identity: `spiffe://cluster.local/ns/default/sa/${caller}`,
        port: 8080,
        http: {
          method: 'GET',
          path,
          authority: host,
          headers: isTold ? { authorization: 'Bearer t' } : {},
          ...(isTold ? { tokens: { t: { claims: claims[token] } } } : {}),
        },
      });
      expect([question, allowed]).toEqual([question, expected(question) === 200 ? 'yes' : 'no']);
    }
    await journal.close();
  });
});
