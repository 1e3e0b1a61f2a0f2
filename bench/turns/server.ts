// A server of the bench with its proxies connected, to which files are added and from which they are taken; what each
// step costs. A step is over once the server has been quiet for a while.

import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Turns, turnsIn } from '../load-server.ts';
import { answers, cpuSeconds, ended, type Plane, residentMb, startPlane } from '../plane.ts';
import { TurnClient } from './client.ts';
import { baseMesh, plainObjects, proxyCases, SERVER_ENV, yamlOf } from './mesh.ts';

export interface Step {
  /** CPU of the main thread in the longest turn of the event loop. */
  readonly turnMs: number;
  /** Of the whole process. */
  readonly cpuMs: number;
  readonly sentMb: number;
  /** It was not over in time. */
  readonly unfinished?: true;
}

/** Looks in a row at a server that does nothing. */
const QUIET_LOOKS = 12;
const QUIET_CPU_SECONDS = 0.06;
const STEP_MS_MAX = 120_000;
/** As a server's log has it (src/adapters/file/file-parser.ts). */
const UNREAD = ' s to parse';
const LOOK_MS = 100;
const WARM_BYTES = 100_000;

export class TurnServer {
  readonly #folder: string;
  readonly #plane: Plane;
  readonly #turns: Turns;
  readonly #log: number;
  #clients: readonly TurnClient[] = [];

  static async start(port: number): Promise<TurnServer> {
    const server = new TurnServer(port);
    try {
      await answers(server.#plane, '/ready');
      server.#clients = proxyCases.map(proxy => new TurnClient(proxy, port));
      await server.#quiet();
      // So that no case is the first to run a function.
      await server.step(() => server.write('warm', yamlOf(plainObjects(WARM_BYTES))));
      await server.step(() => server.remove('warm'));
      return server;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  private constructor(port: number) {
    this.#folder = mkdtempSync(join(tmpdir(), 'turns-'));
    const config = join(this.#folder, 'config');
    mkdirSync(config);
    writeFileSync(join(config, 'base.yaml'), yamlOf(baseMesh));
    this.#log = openSync(join(this.#folder, 'log'), 'w');
    this.#turns = turnsIn(this.#folder);
    const args = ['--configDir', config, '--journal', join(this.#folder, 'journal.db'), '--secureGrpcAddr', ''];
    const env = { ...SERVER_ENV, ...this.#turns.env };
    this.#plane = startPlane(port, this.#folder, args, { env, log: this.#log });
    process.once('exit', () => this.#plane.process.kill('SIGKILL'));
  }

  get residentMb(): number {
    return residentMb(this.#plane);
  }

  /** Why it is of no use any longer. */
  get broken(): string | undefined {
    const { exitCode, signalCode } = this.#plane.process;
    if (exitCode !== null || signalCode !== null) return `the server has ended (${exitCode ?? signalCode})`;
    return this.#clients.map(client => client.ended).find(reason => reason !== undefined);
  }

  /** A file was not read: on a busy machine parsing it took longer than a server waits. */
  get hasUnread(): boolean {
    return readFileSync(join(this.#folder, 'log'), 'utf8').includes(UNREAD);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#folder, 'config', `${name}.yaml`), text);
  }

  remove(name: string): void {
    rmSync(join(this.#folder, 'config', `${name}.yaml`));
  }

  /** What `act`, and all that follows from it, costs. */
  async step(act: () => void): Promise<Step> {
    const cpu = cpuSeconds(this.#plane);
    const sent = this.#sent();
    await this.#turns.longestMs(this.#plane.process);
    act();
    const finished = await this.#quiet();
    return {
      turnMs: Math.round(await this.#turns.longestMs(this.#plane.process)),
      cpuMs: Math.round((cpuSeconds(this.#plane) - cpu) * 1_000),
      sentMb: Math.round((this.#sent() - sent) / 100_000) / 10,
      ...(finished ? {} : { unfinished: true }),
    };
  }

  /** Of the memory that is resident, the most since this was called last. */
  peakMb(): number {
    const of = `/proc/${this.#plane.process.pid}`;
    const peak = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`${of}/status`, 'utf8'))?.[1]) / 1_024;
    writeFileSync(`${of}/clear_refs`, '5');
    return Math.round(peak);
  }

  async stop(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#plane.process.kill('SIGKILL');
    await ended(this.#plane);
    closeSync(this.#log);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #sent(): number {
    return this.#clients.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** False: it is busy still. */
  async #quiet(): Promise<boolean> {
    const end = Date.now() + STEP_MS_MAX;
    let first = this.#seen();
    for (let looks = 0; looks < QUIET_LOOKS; ) {
      if (Date.now() > end) return false;
      await sleep(LOOK_MS);
      if (this.broken !== undefined) return true;
      const now = this.#seen();
      if (now.cpu - first.cpu > QUIET_CPU_SECONDS || now.sent !== first.sent || now.isRunning) {
        first = now;
        looks = 0;
      } else looks++;
    }
    return true;
  }

  #seen() {
    const tasks = `/proc/${this.#plane.process.pid}/task`;
    const isRunning = readdirSync(tasks).some(task => runs(`${tasks}/${task}/stat`));
    return { cpu: cpuSeconds(this.#plane), sent: this.#sent(), isRunning };
  }
}

/** A thread that runs, or waits for a processor or a disk; not one that is gone. */
function runs(file: string): boolean {
  try {
    const stat = readFileSync(file, 'utf8');
    return /^[RD]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}
