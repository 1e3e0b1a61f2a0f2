// A control plane from the bench's side: `periplus serve` from dist/, or another program that knows istiod's flags, as a
// process: started on three ports in a row, asked for pages, ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const SERVE: Program = [process.execPath, CLI, 'serve'];
const READY_MS = 120_000;
const LOOK_MS = 20;
/** istiod ends its streams before it exits. */
const STOP_MS = 15_000;

/** The file that is run, and the arguments before the flags. */
export type Program = readonly [string, ...string[]];

export interface Plane {
  /** Of ADS in the clear; the HTTP pages are at the next port, the metrics at the one after. */
  readonly port: number;
  readonly process: ChildProcess;
}

export interface PlaneOptions {
  /** `periplus serve` if absent. */
  readonly program?: Program;
  /** On top of the bench's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** The file that its log goes to; the bench's own standard error if absent. */
  readonly log?: number;
}

/** The secure port, which is what `args` make of it, is no part of the three. */
export function startPlane(
  port: number,
  folder: string,
  args: readonly string[],
  { program: [file, ...first] = SERVE, env = {}, log }: PlaneOptions = {},
): Plane {
  const child = spawn(
    file,
    [
      ...[...first, '--ctrlz_port', '0', '--httpsAddr', '', '--grpcAddr', local(port)],
      ...['--httpAddr', local(port + 1), '--monitoringAddr', local(port + 2), ...args],
    ],
    { stdio: ['ignore', log ?? 'ignore', log ?? 'inherit'], cwd: folder, env: { ...process.env, ...env } },
  );
  return { port, process: child };
}

export function local(port: number): string {
  return `127.0.0.1:${port}`;
}

/** Resolves with the time (performance.now) at which the page is there and as wanted. */
export async function answers(
  { port, process: child }: Plane,
  path: string,
  isWanted: (text: string) => boolean = () => true,
): Promise<number> {
  const end = Date.now() + READY_MS;
  while (Date.now() < end && child.exitCode === null) {
    const text = await fetch(`http://${local(port + 1)}${path}`).then(
      answer => (answer.ok ? answer.text() : undefined),
      () => undefined,
    );
    if (text !== undefined && isWanted(text)) return performance.now();
    await sleep(LOOK_MS);
  }
  throw new Error(`${path} of port ${port + 1} did not become what was wanted; is dist/ built (npm run build)?`);
}

/** User and system time of all threads so far, in hundredths (Linux: USER_HZ is 100). */
export function cpuSeconds({ process: child }: Plane): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export function residentMb({ process: child }: Plane): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
}

/** Resolves when the process is gone; one that does not end in time is killed. */
export async function ended({ process: child }: Plane): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await gone;
  clearTimeout(late);
}
