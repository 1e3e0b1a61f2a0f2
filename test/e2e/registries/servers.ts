// A real Consul agent and a real ZooKeeper for tests. Consul is built once from the module in `consul/`, ZooKeeper
// comes from the distribution. What is missing is named; PERIPLUS_REQUIRE_ALL=1 makes it a failure.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { builtModule, find, run } from '../kube/binaries.ts';
import { until } from '../kube/until.ts';
import { canRun } from '../suite.ts';

const CONSUL_MODULE = join(import.meta.dirname, '../consul');
const ZOOKEEPER = '/usr/share/zookeeper/bin/zkServer.sh';

/** The program, or undefined if the suite cannot run. */
export async function consulOrSkip(suite: string): Promise<string | undefined> {
  return programOrSkip(suite, () => builtModule('consul', CONSUL_MODULE, '-s -w'));
}

export async function zookeeperOrSkip(suite: string): Promise<string | undefined> {
  return programOrSkip(suite, async () => {
    if (existsSync(ZOOKEEPER)) return ZOOKEEPER;
    if (process.getuid?.() !== 0 || find('apt-get') === undefined) {
      throw new Error('there is no ZooKeeper (Debian: apt-get install zookeeper)');
    }
    await run('apt-get', ['update']);
    await run('apt-get', ['install', '-y', '--no-install-recommends', 'zookeeper']);
    return ZOOKEEPER;
  });
}

async function programOrSkip(suite: string, program: () => Promise<string>): Promise<string | undefined> {
  try {
    return await program();
  } catch (error) {
    canRun(suite, (error as Error).message);
    return undefined;
  }
}

/** A process with a folder and a port of its own that can be ended and begun again with its data. */
abstract class Server {
  readonly port: number;
  protected readonly folder: string;
  readonly #program: string;
  #child: ChildProcess | undefined;

  protected constructor(program: string, folder: string, port: number) {
    this.#program = program;
    this.folder = folder;
    this.port = port;
  }

  protected abstract args(): Promise<readonly string[]>;
  protected abstract isUp(): Promise<boolean>;

  async start(): Promise<void> {
    const args = await this.args();
    // A group of its own: the script of ZooKeeper has Java as a child.
    const child = spawn(this.#program, args, {
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, ZOO_LOG_DIR: this.folder },
    });
    this.#child = child;
    await until(`${this.#program} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${this.#program} ended with ${child.exitCode}`);
      return this.isUp().catch(() => false);
    });
  }

  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise(resolve => child.once('exit', resolve));
    process.kill(-child.pid, signal);
    await ended;
  }

  async close(): Promise<void> {
    await this.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

export interface ServiceRegistration {
  readonly ID: string;
  readonly Name: string;
  readonly Address: string;
  readonly Port: number;
  readonly Meta?: Readonly<Record<string, string>>;
  readonly Check?: { readonly TTL: string; readonly Status: string };
}

export class Consul extends Server {
  readonly #secret: string | undefined;
  readonly #ports: readonly number[];

  private constructor(program: string, folder: string, ports: readonly number[], secret: string | undefined) {
    super(program, folder, ports[0] ?? 0);
    this.#ports = ports;
    this.#secret = secret;
  }

  /** `secret`: the management token of an agent with ACLs that deny by default. */
  static async begin(program: string, secret?: string): Promise<Consul> {
    const ports = await Promise.all(Array.from({ length: 5 }, () => freePort()));
    const consul = new Consul(program, await mkdtemp(join(tmpdir(), 'consul-')), ports, secret);
    await consul.start();
    return consul;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  protected async args(): Promise<readonly string[]> {
    const [http, server, lan, wan, dns] = this.#ports;
    const config = {
      server: true,
      bootstrap: true,
      data_dir: this.folder,
      bind_addr: '127.0.0.1',
      client_addr: '127.0.0.1',
      disable_update_check: true,
      log_level: 'ERROR',
      ports: { http, server, serf_lan: lan, serf_wan: wan, dns, grpc: -1, grpc_tls: -1 },
      performance: { raft_multiplier: 1 },
      ...(this.#secret === undefined
        ? {}
        : { acl: { enabled: true, default_policy: 'deny', tokens: { initial_management: this.#secret } } }),
    };
    const file = join(this.folder, 'agent.json');
    await writeFile(file, JSON.stringify(config));
    return ['agent', '-config-file', file];
  }

  protected async isUp(): Promise<boolean> {
    const { status, body } = await this.call('GET', '/v1/status/leader');
    return status === 200 && body !== '' && (await this.call('GET', '/v1/catalog/services')).body.includes('consul');
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const headers: Record<string, string> = this.#secret === undefined ? {} : { 'x-consul-token': this.#secret };
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.text() };
  }

  async register(service: ServiceRegistration): Promise<void> {
    const { status, body } = await this.call('PUT', '/v1/agent/service/register', service);
    if (status !== 200) throw new Error(`${service.ID} was not registered: ${body}`);
  }

  async deregister(id: string): Promise<void> {
    await this.call('PUT', `/v1/agent/service/deregister/${encodeURIComponent(id)}`);
  }
}

/** Certificates of a server that asks its clients for theirs; paths. */
export interface ServerTls {
  readonly ca: string;
  readonly serverCert: string;
  readonly serverKey: string;
}

/**
 * For TLS, ZooKeeper needs its Netty server, and that needs two libraries which the class path in the manifest of
 * Debian's zookeeper.jar lacks: without them every connection is closed at once. The script takes no class path.
 */
const CLASS_PATH = ['zookeeper', 'netty-codec', 'netty-resolver'].map(name => `/usr/share/java/${name}.jar`).join(':');
const MAIN_CLASS = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';

export class ZooKeeper extends Server {
  /** 0: it takes no TLS. */
  readonly securePort: number;
  readonly #tls: ServerTls | undefined;

  private constructor(program: string, folder: string, ports: readonly [number, number], tls: ServerTls | undefined) {
    super(tls === undefined ? program : 'java', folder, ports[0]);
    this.securePort = ports[1];
    this.#tls = tls;
  }

  static async begin(program: string, tls?: ServerTls): Promise<ZooKeeper> {
    const ports = [await freePort(), tls === undefined ? 0 : await freePort()] as const;
    const zookeeper = new ZooKeeper(program, await mkdtemp(join(tmpdir(), 'zookeeper-')), ports, tls);
    await zookeeper.start();
    return zookeeper;
  }

  protected async args(): Promise<readonly string[]> {
    const config = {
      tickTime: 500,
      clientPort: this.port,
      clientPortAddress: '127.0.0.1',
      dataDir: this.folder,
      'admin.enableServer': false,
      '4lw.commands.whitelist': 'srvr',
      ...(this.#tls === undefined ? {} : await this.#secured(this.#tls)),
    };
    const text = Object.entries(config).map(([key, value]) => `${key}=${value}\n`);
    const file = join(this.folder, 'zoo.cfg');
    await writeFile(file, text.join(''));
    return this.#tls === undefined ? ['start-foreground', file] : ['-cp', CLASS_PATH, MAIN_CLASS, file];
  }

  async #secured({ ca, serverCert, serverKey }: ServerTls): Promise<Readonly<Record<string, string | number>>> {
    const store = join(this.folder, 'server.pem');
    const parts = await Promise.all([serverKey, serverCert].map(path => readFile(path, 'utf8')));
    await writeFile(store, parts.join(''), { mode: 0o600 });
    return {
      secureClientPort: this.securePort,
      secureClientPortAddress: '127.0.0.1',
      serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
      'ssl.keyStore.location': store,
      'ssl.keyStore.type': 'PEM',
      'ssl.trustStore.location': ca,
      'ssl.trustStore.type': 'PEM',
      'ssl.clientAuth': 'need',
      // It would look up the name of a client's address.
      'ssl.hostnameVerification': 'false',
    };
  }

  protected async isUp(): Promise<boolean> {
    return new Promise(resolve => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write('srvr'));
      socket.setTimeout(1_000, () => socket.destroy());
      socket.on('data', (chunk: Buffer) => resolve(chunk.toString().includes('Mode:')));
      socket.on('error', () => resolve(false));
      socket.on('close', () => resolve(false));
    });
  }
}
