// The built control plane, started as in a pod, where there is no IPv4 at all, and where both families are: it listens,
// and a stock Envoy beside it is served what fits the pod. Then its liveness, as a kubelet sees it. Needs an Envoy,
// root and Linux.

import type { ChildProcess } from 'node:child_process';
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bootstrap, findEnvoy } from '../../src/demo/envoy.ts';
import { Pod, SIDECAR_GID, whyNoPods } from './interception/pods.ts';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const CLI = join(import.meta.dirname, '../../dist/cli/main.js');
const WAIT_MS = 120_000;
const PORTS = [8080, 15_010, 15_014];
const IPV4 = '10.0.0.2';
const IPV6 = 'fd00::2';

const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const runs = canRun('test/e2e/address-families.test.ts', 'missing' in found ? found.missing : whyNoPods());
const binary = 'binary' in found ? found.binary : '';

/** A service and its endpoint, an address of each family. */
function mesh(families: readonly ('IPv4' | 'IPv6')[]): string {
  const address = { IPv4: ['10.96.0.9', '10.0.0.9'], IPv6: ['fd00:96::9', 'fd00::9'] } as const;
  const slices = families.map(family => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `web-${family.toLowerCase()}`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': 'web' },
    },
    addressType: family,
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: [{ addresses: [address[family][1]], conditions: { ready: true } }],
  }));
  const clusterIPs = families.map(family => address[family][0]);
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      clusterIP: clusterIPs[0],
      clusterIPs,
      ipFamilies: families,
      ports: [{ name: 'http', port: 80, targetPort: 8080 }],
    },
  };
  return [service, ...slices].map(object => JSON.stringify(object)).join('\n---\n');
}

/** What answers on an admin socket. */
function admin(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ socketPath, path }, response => {
      let text = '';
      response.on('data', part => (text += part)).on('end', () => resolve(text));
    });
    request.on('error', reject);
  });
}

describe.runIf(runs)('a control plane in a pod', () => {
  let folder: string;
  let pod: Pod;
  let plane: ChildProcess;
  const logs: FileHandle[] = [];

  const logTo = async (name: string): Promise<number> => {
    const file = await open(join(folder, `${name}.log`), 'w');
    logs.push(file);
    return file.fd;
  };
  const start = async (families: readonly ('IPv4' | 'IPv6')[]): Promise<void> => {
    pod = await Pod.make('pod', '');
    if (!families.includes('IPv4')) await pod.run('ip', 'address', 'delete', '127.0.0.1/8', 'dev', 'lo');
    else await pod.run('ip', 'address', 'add', `${IPV4}/32`, 'dev', 'lo');
    await pod.run('ip', 'address', 'add', `${IPV6}/128`, 'dev', 'lo');
    await writeFile(join(folder, 'mesh.yaml'), mesh(families));
    const env = [...(families.length > 1 ? ['ISTIO_DUAL_STACK=true'] : []), `ROOT_CA_DIR=${join(folder, 'none')}`];
    const files = [
      '--configDir',
      folder,
      '--meshConfig',
      join(folder, 'none'),
      '--journal',
      join(folder, 'journal.db'),
    ];
    const flags = ['--secureGrpcAddr', '', '--httpsAddr', '', '--ctrlz_port', '0'];
    plane = pod.start(['env', ...env, process.execPath, CLI, 'serve', ...files, ...flags], {
      output: await logTo('plane'),
    });
  };
  /** The status of a page, asked in the pod; 0: no connection, or no answer in time. */
  const asked = async (host: string, port: number, path: string, timeoutMs = 10_000): Promise<number> => {
    const script = `fetch(${JSON.stringify(`http://${host}:${port}${path}`)}, { signal: AbortSignal.timeout(${timeoutMs}) })
      .then(answer => console.log(answer.status), () => console.log(0))`;
    return Number(await pod.run(process.execPath, '--eval', script));
  };
  /** Whether a connection is accepted. */
  const connects = async (host: string, port: number): Promise<boolean> => {
    const script = `const s = require('net').connect(${port}, ${JSON.stringify(host)});
      s.on('connect', () => { console.log(true); s.destroy(); }).on('error', () => console.log(false))`;
    return (await pod.run(process.execPath, '--eval', script)).trim() === 'true';
  };
  const envoy = async (address: string, addresses: string): Promise<string> => {
    const config = bootstrap({
      node: {
        id: `sidecar~${address}~client.default~default.svc.cluster.local`,
        cluster: 'client.default',
        metadata: {
          NAMESPACE: 'default',
          CLUSTER_ID: 'Kubernetes',
          INTERCEPTION_MODE: 'REDIRECT',
          INSTANCE_IPS: addresses,
        },
      },
      protocol: 'delta',
      admin: { pipe: join(folder, 'admin') },
      xds: { host: '::1', port: 15_010 },
    });
    const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'];
    const output = await logTo('envoy');
    pod.start([binary, '--config-yaml', JSON.stringify(config), ...flags], { gid: SIDECAR_GID, output });
    const live = async (): Promise<boolean> => (await admin(join(folder, 'admin'), '/ready')).startsWith('LIVE');
    await until('the Envoy is live', () => live().catch(() => false), WAIT_MS);
    return admin(join(folder, 'admin'), '/config_dump?include_eds');
  };

  afterEach(async () => {
    await pod?.end();
    for (const log of logs.splice(0)) await log.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('without IPv4 listens, answers and serves a proxy', async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-ipv6-'));
    await start(['IPv6']);
    await until('ready', async () => (await asked('[::1]', 8080, '/ready')) === 200, WAIT_MS);
    expect(await Promise.all(PORTS.map(port => connects('::1', port)))).toEqual([true, true, true]);
    const dump = await envoy(IPV6, IPV6);
    expect(dump).toMatch(/"name": "virtualOutbound"[^}]*"address": "::"|"address": "::",\s*"port_value": 15001/);
    expect(dump).toContain('"fd00::9"');
    expect(dump).not.toContain('"0.0.0.0"');
  });

  it('with both families listens on both, and serves listeners and endpoints of both', async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-dual-'));
    await start(['IPv4', 'IPv6']);
    await until('ready', async () => (await asked('127.0.0.1', 8080, '/ready')) === 200, WAIT_MS);
    const hosts = ['127.0.0.1', '::1'];
    const open = await Promise.all(hosts.flatMap(host => PORTS.map(port => connects(host, port))));
    expect(open).toEqual(open.map(() => true));
    const dump = await envoy(IPV4, `${IPV4},${IPV6}`);
    for (const address of ['10.0.0.9', 'fd00::9', '0.0.0.0', '::']) expect(dump).toContain(`"${address}"`);
  });

  it('answers /live while it runs, and not while its event loop stands still', async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-live-'));
    await start(['IPv4', 'IPv6']);
    await until('alive', async () => (await asked('127.0.0.1', 8080, '/live')) === 200, WAIT_MS);
    const pid = plane.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    expect(await asked('127.0.0.1', 8080, '/live', 3_000)).toBe(0);
    process.kill(pid, 'SIGCONT');
    await until('alive again', async () => (await asked('127.0.0.1', 8080, '/live')) === 200, WAIT_MS);
  });
});
