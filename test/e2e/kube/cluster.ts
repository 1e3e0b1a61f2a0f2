// A cluster without nodes: one etcd and one kube-apiserver on loopback ports, with RBAC and tokens. Either can be
// killed and started again on the same data; nothing is left behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { Binaries } from './binaries.ts';
import { KubeClient } from './client.ts';

const ADMIN_TOKEN = 'admin-of-the-tests';
const START_MS_MAX = 120_000;
/** What the server's certificate is made out to, whatever the address. */
const SERVER_NAME = 'kubernetes';

export class Cluster {
  readonly folder: string;
  readonly port: number;
  readonly #binaries: Binaries;
  readonly #etcdPorts: readonly [number, number];
  #etcd: ChildProcess | undefined;
  #apiserver: ChildProcess | undefined;
  readonly #flags: readonly string[];
  #certificate = '';

  private constructor(
    binaries: Binaries,
    folder: string,
    ports: readonly [number, number, number],
    flags: readonly string[],
  ) {
    this.#binaries = binaries;
    this.#flags = flags;
    this.folder = folder;
    this.port = ports[0];
    this.#etcdPorts = [ports[1], ports[2]];
  }

  /** `flags`: more of them for the API server. */
  static async start(binaries: Binaries, flags: readonly string[] = []): Promise<Cluster> {
    const folder = await mkdtemp(join(tmpdir(), 'periplus-kube-'));
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const cluster = new Cluster(binaries, folder, ports, flags);
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    await writeFile(cluster.#path('sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    await writeFile(cluster.#path('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    await writeFile(cluster.#path('tokens.csv'), `${ADMIN_TOKEN},admin,admin,"system:masters"\n`, { mode: 0o600 });
    await mkdir(cluster.#path('certs'));
    try {
      await cluster.startEtcd();
      await cluster.startApiserver();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  get server(): string {
    return `https://127.0.0.1:${this.port}`;
  }

  get certificate(): string {
    return this.#certificate;
  }

  /** How to trust the server, for requests of one's own. */
  get tls(): { readonly ca: string; readonly servername: string } {
    return { ca: this.#certificate, servername: SERVER_NAME };
  }

  client(token = ADMIN_TOKEN, server = this.server): KubeClient {
    return new KubeClient({ server, token, ca: this.#certificate, serverName: SERVER_NAME });
  }

  /** Path of a kubeconfig for a token; `server`: e.g. that of a proxy in between. */
  async kubeconfig(name: string, token = ADMIN_TOKEN, server = this.server): Promise<string> {
    const path = this.#path(`${name}.kubeconfig`);
    const data = Buffer.from(this.#certificate).toString('base64');
    const trust = server.startsWith('http:')
      ? { 'insecure-skip-tls-verify': true }
      : { 'certificate-authority-data': data, 'tls-server-name': SERVER_NAME };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server, ...trust } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      'current-context': name,
    };
    await writeFile(path, JSON.stringify(config), { mode: 0o600 });
    return path;
  }

  async startEtcd(): Promise<void> {
    const [client, peer] = this.#etcdPorts;
    const urls = (port: number): string => `http://127.0.0.1:${port}`;
    this.#etcd = this.#spawn(this.#binaries.etcd, 'etcd', [
      `--data-dir=${this.#path('etcd')}`,
      `--listen-client-urls=${urls(client)}`,
      `--advertise-client-urls=${urls(client)}`,
      `--listen-peer-urls=${urls(peer)}`,
      `--initial-advertise-peer-urls=${urls(peer)}`,
      `--initial-cluster=default=${urls(peer)}`,
      '--unsafe-no-fsync',
      '--logger=zap',
      '--log-level=warn',
    ]);
    await this.#until('etcd', async () => (await fetch(`${urls(client)}/health`)).ok);
  }

  async startApiserver(): Promise<void> {
    this.#apiserver = this.#spawn(this.#binaries.apiserver, 'kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${this.#etcdPorts[0]}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${this.port}`,
      `--cert-dir=${this.#path('certs')}`,
      `--token-auth-file=${this.#path('tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${this.#path('sa.pub')}`,
      `--service-account-signing-key-file=${this.#path('sa.key')}`,
      '--disable-admission-plugins=ServiceAccount',
      '--service-cluster-ip-range=10.0.0.0/16',
      '--endpoint-reconciler-type=none',
      '--etcd-compaction-interval=0',
      '--shutdown-delay-duration=0s',
      '--v=1',
      ...this.#flags,
    ]);
    await this.#until('kube-apiserver', async () => {
      this.#certificate = await readFile(this.#path('certs/apiserver.crt'), 'utf8');
      return (await this.client().text('/readyz')) === 'ok';
    });
  }

  /** As a crash would. */
  async killApiserver(): Promise<void> {
    await end(this.#apiserver, 'SIGKILL');
    this.#apiserver = undefined;
  }

  async killEtcd(): Promise<void> {
    await end(this.#etcd, 'SIGKILL');
    this.#etcd = undefined;
  }

  /** Forgets the history up to now: a watch from any earlier version is answered with 410. */
  async compact(): Promise<void> {
    const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const url = `http://127.0.0.1:${this.#etcdPorts[0]}/v3/kv/${path}`;
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!response.ok) throw new Error(`etcd ${path}: ${response.status} ${await response.text()}`);
      return (await response.json()) as Record<string, unknown>;
    };
    const { header } = await ask('range', { key: Buffer.from('/').toString('base64') });
    await ask('compaction', { revision: (header as { revision: string }).revision, physical: true });
  }

  async stop(): Promise<void> {
    await end(this.#apiserver, 'SIGKILL');
    await end(this.#etcd, 'SIGKILL');
    await rm(this.folder, { recursive: true, force: true });
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  #spawn(binary: string, name: string, args: readonly string[]): ChildProcess {
    const child = spawn(binary, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const log = createWriteStream(this.#path(`${name}.log`), { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    return child;
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + START_MS_MAX;
    for (;;) {
      if (await holds().catch(() => false)) return;
      if (Date.now() > end) {
        const log = await readFile(this.#path(`${what}.log`), 'utf8').catch(() => '');
        throw new Error(`${what} does not become ready: ${log.split('\n').slice(-8).join('\n')}`);
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  child.kill(signal);
  await ended;
}
