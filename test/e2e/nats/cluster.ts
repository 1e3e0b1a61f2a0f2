// Three NATS servers with JetStream on loopback, each a process that can be killed and started again on its own store.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../free-port.ts';
import { builtModule } from '../kube/binaries.ts';
import { until } from '../kube/until.ts';

/** The program, or undefined and a line that says why there is none. */
export async function natsOrSkip(what: string): Promise<string | undefined> {
  try {
    return await builtModule('nats-server', import.meta.dirname, '-s -w');
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (process.env.PERIPLUS_REQUIRE_ALL === '1') throw new Error(`a NATS server is required: ${why}`);
    console.warn(`NOT RUN: ${what}: ${why}`);
    return undefined;
  }
}

export interface ClusterOptions {
  readonly nodes?: number;
  /** Lines for the configuration of every node: TLS, accounts. */
  readonly more?: string;
}

export class NatsCluster {
  readonly #program: string;
  readonly #folder: string;
  readonly #ports: readonly number[];
  readonly #routes: readonly number[];
  #more: string;
  readonly #nodes: (ChildProcess | undefined)[] = [];

  private constructor(program: string, ports: readonly number[], routes: readonly number[], more: string) {
    this.#program = program;
    this.#folder = mkdtempSync(join(tmpdir(), 'periplus-nats-'));
    this.#ports = ports;
    this.#routes = routes;
    this.#more = more;
  }

  static async begin(program: string, { nodes = 3, more = '' }: ClusterOptions = {}): Promise<NatsCluster> {
    const ports = await freePorts(nodes * 2);
    const cluster = new NatsCluster(program, ports.slice(0, nodes), ports.slice(nodes), more);
    for (let i = 0; i < nodes; i++) cluster.start(i);
    return cluster;
  }

  /** `host:port`, joined by commas. */
  get servers(): string {
    return this.#ports.map(port => `127.0.0.1:${port}`).join(',');
  }

  get size(): number {
    return this.#ports.length;
  }

  /** Of nodes that are started from now on. */
  configure(more: string): void {
    this.#more = more;
  }

  start(i: number): void {
    const file = join(this.#folder, `node-${i}.conf`);
    const routes = this.#routes.map(port => `nats://127.0.0.1:${port}`).join(', ');
    const cluster =
      this.size === 1 ? '' : `cluster { name: test, listen: "127.0.0.1:${this.#routes[i]}", routes: [${routes}] }\n`;
    writeFileSync(
      file,
      `server_name: node-${i}\nlisten: "127.0.0.1:${this.#ports[i]}"\n${this.#more}\n${cluster}` +
        `jetstream { store_dir: "${join(this.#folder, `store-${i}`)}", sync_interval: always }\n`,
    );
    this.#nodes[i] = spawn(this.#program, ['-c', file], {
      stdio: process.env.PERIPLUS_NATS_LOG === '1' ? 'inherit' : 'ignore',
    });
  }

  isUp(i: number): boolean {
    return this.#nodes[i] !== undefined;
  }

  /** kill -9. Resolves when the process is gone. */
  async kill(i: number): Promise<void> {
    const node = this.#nodes[i];
    this.#nodes[i] = undefined;
    if (node === undefined || node.exitCode !== null) return;
    const gone = new Promise(resolve => node.once('exit', resolve));
    node.kill('SIGKILL');
    await gone;
  }

  /** What a node has stored is gone. */
  async lose(i: number): Promise<void> {
    await this.kill(i);
    rmSync(join(this.#folder, `store-${i}`), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    for (let i = 0; i < this.size; i++) await this.kill(i);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Resolves when `ask` does not reject any more. */
export async function answering(what: string, ask: () => Promise<unknown>): Promise<void> {
  await until(what, async () => {
    try {
      await ask();
      return true;
    } catch {
      return false;
    }
  });
}
