// Bookinfo for the tests: the sample on free ports, the control plane as a process of its own that can be killed, real
// Envoys, and clients that never stop asking.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/core/base/json.ts';
import { type Backends, startBackends } from '../../src/demo/backends.ts';
import { type Envoy, findEnvoy, startEnvoy } from '../../src/demo/envoy.ts';
import { freePorts, replacePorts } from '../../src/demo/ports.ts';
import { singleDocument } from '../../src/offline/generate.ts';
import { canRun } from './suite.ts';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/cli/main.js');
const SAMPLE = join(ROOT, 'samples/bookinfo');
/** Ports of the sample's files, then three for the control plane. */
const WANTED = [28080, 9080, 29081, 29082, 29083, 29084, 25010, 25014, 28081];

/** An Envoy without a control plane for a while reconnects within half a minute. */
const READY_MS_MAX = 90_000;

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Which version of reviews was asked, if the answer says. */
  readonly version: string | undefined;
}

/** The Envoy binary; undefined when it cannot be had, which is a failure where everything has to run. */
export async function envoyOrSkip(suite: string): Promise<string | undefined> {
  const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
  canRun(suite, 'missing' in found ? found.missing : undefined);
  return 'binary' in found ? found.binary : undefined;
}

export class Bookinfo {
  readonly folder: string;
  readonly ports: ReadonlyMap<number, number>;
  readonly #envoyBinary: string;
  #plane: ChildProcess | undefined;
  #backends: Backends | undefined;
  #envoys: Envoy[] = [];
  #log = '';

  private constructor(folder: string, ports: ReadonlyMap<number, number>, envoyBinary: string) {
    this.folder = folder;
    this.ports = ports;
    this.#envoyBinary = envoyBinary;
  }

  static async start(envoyBinary: string, protocols: Readonly<Record<string, 'delta' | 'sotw'>>): Promise<Bookinfo> {
    const folder = await mkdtemp(join(tmpdir(), 'periplus-e2e-'));
    const mesh = new Bookinfo(folder, await freePorts(WANTED), envoyBinary);
    await mesh.#copySample();
    const of = (port: number): number => mesh.port(port);
    const backends = { productpage: of(29081), details: of(29082), reviews: of(29083), ratings: of(29084) };
    mesh.#backends = await startBackends(backends, of(9080), line => process.stderr.write(`${line}\n`));
    await mesh.startPlane();
    await mesh.#startEnvoys(protocols);
    return mesh;
  }

  port(wanted: number): number {
    return this.ports.get(wanted) ?? wanted;
  }

  get envoys(): readonly Envoy[] {
    return this.#envoys;
  }

  get journal(): string {
    return join(this.folder, 'journal.db');
  }

  /** What the control plane has logged since it was (re)started. */
  get log(): string {
    return this.#log;
  }

  config(file: string): string {
    return join(this.folder, 'config', file);
  }

  async edit(file: string, change: (text: string) => string): Promise<void> {
    const before = await readFile(this.config(file), 'utf8');
    const after = change(before);
    if (after === before) throw new Error(`${file} was not changed`);
    await writeFile(this.config(file), after);
  }

  /** Of reviews v1 and v3. */
  weights(v1: number, v3: number): Promise<void> {
    const set = (text: string, subset: string, weight: number): string =>
      text.replace(new RegExp(`(subset: ${subset} \\}\\n\\s+weight:) [0-9]+`), `$1 ${weight}`);
    return this.edit('reviews.yaml', text => set(set(text, 'v1', v1), 'v3', v3));
  }

  async startPlane(): Promise<void> {
    const local = (port: number): string => `127.0.0.1:${this.port(port)}`;
    const addresses = [
      '--grpcAddr',
      local(25010),
      '--monitoringAddr',
      local(25014),
      '--httpAddr',
      local(28081),
      '--secureGrpcAddr',
      '',
    ];
    const files = ['--configDir', join(this.folder, 'config'), '--meshConfig', join(this.folder, 'mesh.yaml')];
    const child = spawn(process.execPath, [CLI, 'serve', ...files, ...addresses, '--journal', this.journal], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#plane = child;
    this.#log = '';
    child.stderr.on('data', (chunk: Buffer) => {
      this.#log += chunk.toString('utf8');
    });
    await this.until(`the control plane is ready`, async () => {
      if (child.exitCode !== null) throw new Error(`the control plane ended: ${this.#log}`);
      return (await fetch(`http://${local(28081)}/ready`)).ok;
    });
  }

  async endPlane(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#plane;
    this.#plane = undefined;
    if (child === undefined) return null;
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const ended = new Promise<number | null>(resolve => child.once('exit', code => resolve(code)));
    child.kill(signal);
    return ended;
  }

  /** One page of the monitoring address. */
  async monitoring(path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port(25014)}${path}`)).text();
  }

  async run(...args: string[]): Promise<{ readonly code: number; readonly stdout: string }> {
    return promisify(execFile)(process.execPath, [CLI, ...args], { maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
        code: error.code,
        stdout: error.stdout + error.stderr,
      }),
    );
  }

  /** GET through the gateway; a failed connection counts as status 0. */
  async ask(path = '/api/v1/products'): Promise<Answer> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.port(28080)}${path}`, { signal: AbortSignal.timeout(5_000) });
      const body = await answer.text();
      return { status: answer.status, body, version: /"version":"(v[0-9])"/.exec(body)?.[1] };
    } catch (error) {
      return { status: 0, body: String(error), version: undefined };
    }
  }

  /** Asks on and on while `during` runs, and a little longer. */
  async askWhile(during: () => Promise<void>): Promise<readonly Answer[]> {
    const answers: Answer[] = [];
    let running = true;
    const asking = (async () => {
      while (running) answers.push(await this.ask());
    })();
    try {
      await during();
      await new Promise(resolve => setTimeout(resolve, 300));
    } finally {
      running = false;
      await asking;
    }
    return answers;
  }

  /** Polls; a rejection counts as not yet, unless time is over. */
  async until(what: string, holds: () => Promise<boolean>, ms = READY_MS_MAX): Promise<void> {
    const end = Date.now() + ms;
    let last: unknown;
    while (Date.now() < end) {
      try {
        if (await holds()) return;
        last = undefined;
      } catch (error) {
        last = error;
      }
      await new Promise(resolve => setTimeout(resolve, 50));
    }
    throw new Error(`not within ${ms} ms: ${what}; ${String(last ?? '')}\n${this.#log.slice(-4_000)}`);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#envoys.map(envoy => envoy.stop()));
    await this.endPlane('SIGKILL');
    await this.#backends?.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #copySample(): Promise<void> {
    await mkdir(join(this.folder, 'config'));
    for (const name of await readdir(SAMPLE, { recursive: true })) {
      if (!name.endsWith('.yaml')) continue;
      await writeFile(join(this.folder, name), replacePorts(await readFile(join(SAMPLE, name), 'utf8'), this.ports));
    }
  }

  async #startEnvoys(protocols: Readonly<Record<string, 'delta' | 'sotw'>>): Promise<void> {
    const file = join(this.folder, 'proxies.yaml');
    const { value } = singleDocument(file, await readFile(file, 'utf8'));
    for (const { name, node } of value as unknown as readonly { name: string; node: JsonObject }[]) {
      const log = join(this.folder, `envoy-${name}.log`);
      const options = { binary: this.#envoyBinary, name, node, xdsPort: this.port(25010), log };
      this.#envoys.push(await startEnvoy({ ...options, protocol: protocols[name] ?? 'delta' }));
    }
  }
}
