// `periplus serve` or `periplus record` as a process of its own, from dist/, that can be ended and asked.

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { until } from './until.ts';

const CLI = join(import.meta.dirname, '../../../dist/cli/main.js');

/** Characters of the log that an error shows. */
const LOG_SHOWN = 4_000;

export class Plane {
  readonly grpc: number;
  readonly http: number;
  /** 0: there is no secure port. */
  readonly secure: number;
  /** Of the webhooks. 0: there are none. */
  readonly https: number;
  readonly #child: ChildProcess;
  log = '';

  private constructor(
    {
      grpc,
      http,
      secure,
      https = 0,
    }: { readonly grpc: number; readonly http: number; readonly secure: number; readonly https?: number },
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ) {
    this.grpc = grpc;
    this.http = http;
    this.secure = secure;
    this.https = https;
    this.#child = spawn(process.execPath, [CLI, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.log += chunk.toString('utf8');
    });
  }

  /** In the clear only, and without a certificate authority. */
  static async serve(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Plane> {
    return Plane.#serve(0, args, env);
  }

  static async serveSecurely(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Plane> {
    return Plane.#serve(await freePort(), args, env);
  }

  static async #serve(secure: number, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Plane> {
    const [grpc, http, monitoring] = [await freePort(), await freePort(), await freePort()];
    const https = secure === 0 ? 0 : await freePort();
    const at = (port: number): string => (port === 0 ? '' : `127.0.0.1:${port}`);
    const ports = {
      grpcAddr: grpc,
      httpAddr: http,
      monitoringAddr: monitoring,
      secureGrpcAddr: secure,
      httpsAddr: https,
    };
    const addresses = Object.entries(ports).flatMap(([flag, port]) => [`--${flag}`, at(port)]);
    return new Plane({ grpc, http, secure, https }, ['serve', '--ctrlz_port', '0', ...addresses, ...args], env);
  }

  static record(...args: readonly string[]): Plane {
    return new Plane({ grpc: 0, http: 0, secure: 0 }, ['record', ...args]);
  }

  /** Another command, to its end. */
  static async run(...args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
    const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
    }
    const code = await new Promise<number | null>(resolve => child.once('close', resolve));
    return { code, said };
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async page(path: string): Promise<{ readonly status: number; readonly text: string }> {
    const response = await fetch(`http://127.0.0.1:${this.http}${path}`);
    return { status: response.status, text: await response.text() };
  }

  async ready(): Promise<void> {
    await until('ready', async () => {
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.log}`);
      return (await this.page('/ready').catch(() => undefined))?.status === 200;
    });
  }

  /** Every source has been listed. */
  async synced(): Promise<void> {
    let text: string | undefined;
    await until('synced', async () => {
      text = (await this.page('/ready').catch(() => undefined))?.text;
      return text === 'ready\n';
    }).catch((error: unknown) => {
      throw new Error(`/ready says ${text ?? 'nothing'}; its log ends ${this.log.slice(-LOG_SHOWN)}`, { cause: error });
    });
  }

  /** Resolves when it has ended by itself. */
  async ended(): Promise<void> {
    await until('its end', () => this.#child.exitCode !== null);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return this.#child.exitCode;
    const ended = new Promise<number | null>(resolve => this.#child.once('exit', resolve));
    this.#child.kill(signal);
    return ended;
  }
}
