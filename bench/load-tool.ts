// The load tool as a program: runs it once against a server, reads its JSON lines, and makes figures of them. Over TLS each proxy first gets its
// certificate by a signing request, with a bearer token, and connects with it.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Measured } from './reference.ts';

export interface LoadTarget {
  readonly xdsload: string;
  readonly rounds: string;
  /** The arguments that say where the server is, and as whom to connect. */
  readonly reach: readonly string[];
}

export interface Line {
  readonly phase: 'csr' | 'cold' | 'change';
  readonly proxies?: number;
  readonly failed?: number;
  readonly s?: number;
  readonly server_cpu_s: number;
  readonly server_rss_mib: number;
  readonly mib: number;
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  readonly not_ready?: number;
  readonly incomplete?: boolean;
}

/** The load tool gives up a phase by itself; this is for one that hangs. */
const RUN_MS = 600_000;

/** Changes that reach every proxy: `trigger` is a shell command, `marker` what each answer has in it; `%d` is the round. */
export interface Change {
  readonly marker: string;
  readonly trigger: string;
}

/** `onCold`: is called when all proxies are served, before the first change. */
export async function load(
  target: LoadTarget,
  proxies: number,
  { marker, trigger }: Change,
  onCold: () => void = () => undefined,
): Promise<readonly Line[]> {
  const args = [...target.reach, '-proxies', String(proxies), '-rounds', target.rounds];
  const child = spawn(target.xdsload, [...args, '-marker', marker, '-trigger', trigger], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: RUN_MS,
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const lines: Line[] = [];
  for await (const text of createInterface({ input: child.stdout })) {
    const found = linesOf(text);
    lines.push(...found);
    if (found.some(({ phase }) => phase === 'cold')) onCold();
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the load tool ended with ${code}`);
  const failed = lines.find(
    ({ not_ready, incomplete, failed = 0 }) => (not_ready ?? 0) > 0 || incomplete === true || failed > 0,
  );
  if (failed !== undefined) throw new Error(`not every proxy was served: ${JSON.stringify(failed)}`);
  return lines;
}

/** Signing requests for that many proxies, again and again until `stop`; resolves with what the rounds took. */
export class Renewals {
  readonly #target: LoadTarget;
  readonly #proxies: number;
  readonly #running: Promise<readonly Line[]>;
  #child: ChildProcess | undefined;
  #isStopped = false;

  constructor(target: LoadTarget, proxies: number) {
    this.#target = target;
    this.#proxies = proxies;
    this.#running = this.#run();
  }

  stop(): Promise<readonly Line[]> {
    this.#isStopped = true;
    this.#child?.kill('SIGKILL');
    return this.#running;
  }

  async #run(): Promise<readonly Line[]> {
    const lines: Line[] = [];
    while (!this.#isStopped) {
      const line = await this.#round();
      if (line !== undefined) lines.push(line);
    }
    return lines;
  }

  /** The tool would go on and connect: it is ended once it has its certificates. */
  async #round(): Promise<Line | undefined> {
    const args = [...this.#target.reach, '-proxies', String(this.#proxies), '-settle', '600s'];
    const child = spawn(this.#target.xdsload, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
    let found: Line | undefined;
    for await (const text of createInterface({ input: child.stdout })) {
      found = linesOf(text).find(({ phase }) => phase === 'csr');
      if (found !== undefined) break;
    }
    child.kill('SIGKILL');
    await ended;
    return found;
  }
}

function linesOf(stdout: string): readonly Line[] {
  return stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Line);
}

export function coldOf(lines: readonly Line[]): Measured {
  const cold = lines.find(({ phase }) => phase === 'cold');
  if (cold === undefined) throw new Error('the load tool reported no cold start');
  return { seconds: cold.s, cpuSeconds: cold.server_cpu_s, rssMib: cold.server_rss_mib, mib: cold.mib };
}

/** Undefined: there were no signing requests. */
export function signingOf(lines: readonly Line[]): Measured | undefined {
  const signed = lines.filter(({ phase }) => phase === 'csr');
  const median = medianOf(signed);
  if (signed.length === 0) return undefined;
  const requests = median(line => line.proxies ?? Number.NaN);
  return {
    seconds: median(line => line.s ?? Number.NaN),
    p50Ms: median(line => line.p50_ms ?? Number.NaN),
    p99Ms: median(line => line.p99_ms ?? Number.NaN),
    cpuSeconds: median(line => line.server_cpu_s),
    rssMib: median(line => line.server_rss_mib),
    perSecond: requests / median(line => line.s ?? Number.NaN),
  };
}

/** The median of the rounds. */
export function changeOf(lines: readonly Line[]): Measured {
  const median = medianOf(lines.filter(({ phase }) => phase === 'change'));
  return {
    p50Ms: median(line => line.p50_ms ?? Number.NaN),
    p99Ms: median(line => line.p99_ms ?? Number.NaN),
    cpuSeconds: median(line => line.server_cpu_s),
    rssMib: median(line => line.server_rss_mib),
    mib: median(line => line.mib),
  };
}

function medianOf(lines: readonly Line[]): (of: (line: Line) => number) => number {
  return of => lines.map(of).sort((a, b) => a - b)[Math.floor(lines.length / 2)] ?? Number.NaN;
}
