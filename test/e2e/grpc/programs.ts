// gRPC programs as processes: their bootstrap, and calls one by one over their standard input.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const MODULE = join(import.meta.dirname, 'echo');
const JS_CLIENT = join(import.meta.dirname, 'client.mjs');
const BUILD_MS_MAX = 15 * 60_000;
const run = promisify(execFile);

export interface GoEcho {
  readonly binary: string;
  /** Why there is none. */
  readonly missing: string | undefined;
}

/** Built once, named by what it is built from, and kept in the user's cache. */
export async function goEcho(): Promise<GoEcho> {
  const hash = createHash('sha256');
  for (const name of readdirSync(MODULE).sort()) hash.update(readFileSync(join(MODULE, name)));
  const folder = process.env.PERIPLUS_CACHE ?? join(homedir(), '.cache/periplus');
  const binary = join(folder, `grpc-echo-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(binary)) return { binary, missing: undefined };
  const paths = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin'];
  const go = paths.map(path => join(path, 'go')).find(path => existsSync(path));
  if (go === undefined) return { binary, missing: 'there is no Go to build the program with' };
  mkdirSync(folder, { recursive: true });
  const part = `${binary}.${process.pid}`;
  try {
    await run(go, ['build', '-trimpath', '-buildvcs=false', '-o', part, '.'], { cwd: MODULE, timeout: BUILD_MS_MAX });
  } catch (error) {
    return { binary, missing: `the program cannot be built: ${String(error)}` };
  }
  renameSync(part, binary);
  return { binary, missing: undefined };
}

/** Writes the files of a workload certificate for each service account of the namespace `shop`. */
export async function certificates(binary: string, folder: string, accounts: readonly string[]): Promise<void> {
  const identities = accounts.map(account => `spiffe://cluster.local/ns/shop/sa/${account}`);
  await run(binary, ['certificates', '-folder', folder, ...identities]);
}

/** Who a program is, and where it hears of the mesh. */
export interface Place {
  /** Has a folder of certificates for each account. */
  readonly folder: string;
  readonly account: string;
  /** Address of the control plane. */
  readonly xds: string;
  /** Node id. */
  readonly id: string;
  readonly namespace: string;
}

/** Path of a bootstrap, as istio-agent would write it. */
async function bootstrap({ folder, account, xds, id, namespace }: Place): Promise<string> {
  const files = join(folder, account);
  const path = join(folder, `bootstrap-${createHash('sha256').update(id).digest('hex').slice(0, 8)}.json`);
  const metadata = { GENERATOR: 'grpc', NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', SERVICE_ACCOUNT: account };
  const config = {
    xds_servers: [{ server_uri: xds, channel_creds: [{ type: 'insecure' }], server_features: ['xds_v3'] }],
    // grpc-js demands a locality, be it empty.
    node: { id, locality: {}, metadata },
    certificate_providers: {
      default: {
        plugin_name: 'file_watcher',
        config: {
          certificate_file: join(files, 'cert-chain.pem'),
          private_key_file: join(files, 'key.pem'),
          ca_certificate_file: join(files, 'root-cert.pem'),
          refresh_interval: '900s',
        },
      },
    },
    server_listener_resource_name_template: 'xds.istio.io/grpc/lds/inbound/%s',
  };
  await writeFile(path, JSON.stringify(config));
  return path;
}

function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const show = process.env.PERIPLUS_SHOW_LOG !== undefined;
  child.stderr?.on('data', (chunk: Buffer) => show && process.stderr.write(chunk));
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>(resolve => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  await ended;
}

export class GrpcServer {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when it listens. With a place it is configured by xDS. */
  static async start(binary: string, name: string, address: string, place?: Place): Promise<GrpcServer> {
    const env = place === undefined ? {} : { GRPC_XDS_BOOTSTRAP: await bootstrap(place) };
    const args = ['server', '-listen', address, '-name', name, ...(place === undefined ? [] : ['-xds'])];
    const child = start(binary, args, env);
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once('data', () => resolve());
      child.once('exit', code => reject(new Error(`the server ${name} ended with ${code}`)));
    });
    return new GrpcServer(child);
  }

  end(): Promise<void> {
    return end(this.#child);
  }
}

export interface Answer {
  /** What the server calls itself. */
  readonly who: string;
  readonly code: string;
  readonly why?: string;
  readonly tls?: boolean;
}

export class GrpcClient {
  readonly #child: ChildProcess;
  readonly #waiting: ((line: string) => void)[] = [];

  private constructor(child: ChildProcess) {
    this.#child = child;
    createInterface({ input: child.stdout! }).on('line', line => this.#waiting.shift()?.(line));
  }

  /** `binary`: of grpc-go; undefined: grpc-js. */
  static async start(binary: string | undefined, target: string, place: Place): Promise<GrpcClient> {
    const env = { GRPC_XDS_BOOTSTRAP: await bootstrap(place) };
    if (binary !== undefined) return new GrpcClient(start(binary, ['client', '-target', target], env));
    return new GrpcClient(start(process.execPath, [JS_CLIENT, target], env));
  }

  /** One call; `header`: `<name>=<value>` to send with it. */
  async call(header = ''): Promise<Answer> {
    const answer = new Promise<string>(resolve => this.#waiting.push(resolve));
    this.#child.stdin?.write(`${header}\n`);
    return JSON.parse(await answer) as Answer;
  }

  end(): Promise<void> {
    return end(this.#child);
  }
}
