// The inner half of the rig, in the namespaces that play the cluster's one node: a bridge for the Pods, etcd and the
// API server, a real `periplus serve` with the rights of deploy/, the stand-in for nodes and controllers, and at last
// the official suite. All of it ends with this process, since it is the first one of its process namespace.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, openSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { bootstrap } from '../../../src/demo/envoy.ts';
import { secured } from '../interception/secured.ts';
import type { Binaries } from '../kube/binaries.ts';
import type { KubeClient } from '../kube/client.ts';
import { Cluster } from '../kube/cluster.ts';
import { namespace, SYSTEM } from '../kube/mesh.ts';
import { Plane } from '../kube/plane.ts';
import { serviceAccountToken } from '../kube/tokens.ts';
import { until } from '../kube/until.ts';
import type { Programs } from './programs.ts';
import { statusVerdicts } from './statuses.ts';

export interface RigOptions {
  readonly binaries: Binaries;
  readonly programs: Programs;
  readonly envoy: string;
  /** For logs and files of Pods. */
  readonly folder: string;
  readonly profiles: readonly string[];
  /** Names of tests; all if there are none. */
  readonly tests: readonly string[];
  /** Where the suite writes its report, if it is to. */
  readonly report?: string;
}

const NODE_ADDRESS = '10.244.0.1';
const XDS_PORT = 15_012;
const BRIDGE = 'rig0';
const START_MS_MAX = 300_000;
const LOG_MS = 1_000;
const ROOT = join(import.meta.dirname, '../../..');
/** An address that a Gateway may ask for, and one that it may not. */
const USABLE = 'infra-backend-v1.gateway-conformance-infra.svc.cluster.local';
const UNUSABLE = 'foo';

await main(JSON.parse(process.argv[2] ?? '{}') as RigOptions);

async function main(options: RigOptions): Promise<void> {
  const ip = (line: string): unknown => execFileSync('ip', line.split(' '), { stdio: 'inherit' });
  ip('link set lo up');
  ip(`link add ${BRIDGE} type bridge`);
  ip(`address add ${NODE_ADDRESS}/16 dev ${BRIDGE}`);
  ip(`link set ${BRIDGE} up`);
  const flags = [`--advertise-address=${NODE_ADDRESS}`, '--kubelet-preferred-address-types=InternalIP'];
  const cluster = await Cluster.start(options.binaries, flags);
  const admin = cluster.client();
  await prepare(admin, options);
  const plane = await startPlane(cluster, admin, options);
  await startRig(cluster, options);
  const code = await runSuite(cluster, options);
  for (const [name, good] of await statusVerdicts(admin)) {
    process.stdout.write(`    --- ${good ? 'PASS' : 'FAIL'}: Own/${name}\n`);
  }
  await writeFile(join(options.folder, 'periplus.log'), plane.log);
  await plane.end('SIGKILL');
  admin.close();
  await cluster.stop();
  process.exit(code ?? 1);
}

/** Definitions, namespaces, and the rights that deploy/ gives. */
async function prepare(admin: KubeClient, { programs: { definitions } }: RigOptions): Promise<void> {
  const deploy = join(ROOT, 'deploy');
  const files = (await readdir(definitions)).filter(
    name => /^gateway\..*s\.yaml$/.test(name) && !name.includes('_vap_'),
  );
  for (const name of files) await putAll(admin, join(definitions, name));
  await admin.putAll([namespace(SYSTEM)]);
  for (const name of ['rbac.yaml', 'rbac-write.yaml']) await putAll(admin, join(deploy, name));
  for (const plural of ['gateways', 'httproutes', 'grpcroutes', 'tlsroutes', 'backendtlspolicies', 'listenersets']) {
    const path = `/apis/gateway.networking.k8s.io/v1/${plural}`;
    const isServed = (): Promise<boolean> =>
      admin.get(path).then(
        () => true,
        () => false,
      );
    await until(path, isServed, START_MS_MAX);
  }
}

async function putAll(admin: KubeClient, path: string): Promise<void> {
  for (const document of parseAllDocuments(await readFile(path, 'utf8'))) {
    const object = document.toJS() as JsonObject | null;
    if (object !== null) await admin.put(object);
  }
}

async function startPlane(cluster: Cluster, admin: KubeClient, { folder }: RigOptions): Promise<Plane> {
  const kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
  const journal = ['--journal', join(folder, 'journal.db')];
  const secure = ['--secureGrpcAddr', `${NODE_ADDRESS}:${XDS_PORT}`];
  const env = { POD_NAME: 'one', POD_NAMESPACE: SYSTEM, REVISION: 'default' };
  const plane = await Plane.serveSecurely(['--kubeconfig', kubeconfig, ...journal, ...secure], env);
  // Of every second: what it said is there to be read if the suite hangs.
  setInterval(() => writeFileSync(join(folder, 'periplus.log'), plane.log), LOG_MS).unref();
  const isSynced = async (): Promise<boolean> =>
    (await plane.page('/ready').catch(() => undefined))?.text === 'ready\n';
  await until('synced', isSynced, START_MS_MAX);
  return plane;
}

async function startRig(cluster: Cluster, { folder, programs, envoy }: RigOptions): Promise<void> {
  const template = join(folder, 'bootstrap.json');
  await writeFile(template, JSON.stringify(proxyBootstrap()));
  await mkdir(join(folder, 'pods'), { recursive: true });
  const flags = {
    kubeconfig: await cluster.kubeconfig('rig'),
    folder: join(folder, 'pods'),
    address: NODE_ADDRESS,
    bootstrap: template,
    echo: programs.echo,
    'mesh-echo': programs.meshEcho,
    redirect: join(import.meta.dirname, '../interception/redirect.sh'),
    envoy,
  };
  const args = Object.entries(flags).map(([name, value]) => `-${name}=${value}`);
  const log = join(folder, 'rig.log');
  const output = openSync(log, 'w');
  spawn(programs.rig, args, { stdio: ['ignore', output, output] });
  await until('the rig is ready', async () => (await readFile(log, 'utf8')).includes('ready'), START_MS_MAX);
}

/** Of gateways and sidecars alike; the rig replaces what stands between @s. */
function proxyBootstrap(): JsonObject {
  const config = bootstrap({
    node: {
      id: '@KIND@~@IP@~@NAME@.@NAMESPACE@~@NAMESPACE@.svc.cluster.local',
      cluster: '@NAME@.@NAMESPACE@',
      metadata: {
        NAME: '@NAME@',
        NAMESPACE: '@NAMESPACE@',
        LABELS: '@LABELS@',
        SERVICE_ACCOUNT: '@SERVICE_ACCOUNT@',
        CLUSTER_ID: 'Kubernetes',
        INSTANCE_IPS: '@IP@',
        INTERCEPTION_MODE: 'REDIRECT',
      },
    },
    protocol: 'delta',
    admin: { pipe: '@ADMIN@' },
    xds: { host: NODE_ADDRESS, port: XDS_PORT },
  });
  return secured(config, '@ROOTS@', '@TOKEN@');
}

async function runSuite(cluster: Cluster, options: RigOptions): Promise<number | null> {
  const { folder, programs, profiles, tests, report } = options;
  const flags = {
    'test.v': 'true',
    'test.timeout': '4h',
    'gateway-class': 'istio',
    'conformance-profiles': profiles.join(','),
    'usable-address': USABLE,
    'unusable-address': UNUSABLE,
    'cleanup-base-resources': 'false',
    'namespace-labels': 'istio-injection=enabled',
    organization: 'periplus',
    project: 'periplus',
    url: 'https://periplus.invalid',
    version: (JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }).version,
    contact: 'periplus.invalid',
    ...(report === undefined ? {} : { 'report-output': report }),
  };
  const args = Object.entries(flags).map(([name, value]) => `-${name}=${value}`);
  const env = { ...process.env, KUBECONFIG: await cluster.kubeconfig('suite'), CONFORMANCE_TESTS: tests.join(',') };
  const suite = spawn(programs.suite, args, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(join(folder, 'suite.log'));
  suite.stderr.pipe(log, { end: false });
  const ended = once(suite, 'close');
  for await (const line of createInterface({ input: suite.stdout })) {
    log.write(`${line}\n`);
    if (/^ {4}--- |^--- |^panic|^FAIL/.test(line)) process.stdout.write(`${line}\n`);
  }
  const [code] = (await ended) as [number | null];
  return code;
}
