// `periplus serve` under load: a process of its own on a folder of YAML files, in the clear or with the secure port and tokens of the bench.

import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ISSUER, tokenMaker } from '../test/identity/tokens.ts';
import { answers, ended, local, startPlane } from './plane.ts';

export interface Served {
  readonly process: ChildProcess;
  /** The arguments of the load tool that say where the server is, and as whom to connect. */
  readonly reach: readonly string[];
  /** The longest hold of the event loop since this was asked last. */
  held(): Promise<Held>;
}

export interface Held {
  /** By the server's own metrics: by the clock, so waits for the processor count. */
  readonly stallMs: number;
  /** The CPU of its longest turn. */
  readonly turnMs: number;
}

/** Namespaces that the load tool spreads its proxies over. */
const NAMESPACES = 10;
const ANSWER_MS_MAX = 60_000;
const LOOK_MS = 5;

export async function serve(folder: string, mesh: string, port: number, tls: boolean): Promise<Served> {
  const secure = tls ? [...tokensIn(folder), '--secureGrpcAddr', local(port + 3)] : ['--secureGrpcAddr', ''];
  const turns = turnsIn(folder);
  const args = ['--configDir', mesh, '--journal', join(folder, 'journal.db'), '--log_output_level', 'warn', ...secure];
  const plane = startPlane(port, folder, args, { env: turns.env });
  await answers(plane, '/ready').catch(async (error: unknown) => {
    await ended(plane);
    throw error;
  });
  const asWhom = tls ? ['-tls', '-csr', '-tokens', join(folder, 'tokens')] : [];
  const { process: child } = plane;
  return {
    process: child,
    reach: ['-addr', local(tls ? port + 3 : port), '-pid', String(child.pid), ...asWhom],
    held: async () => ({ stallMs: await stallMs(port), turnMs: await turns.longestMs(child) }),
  };
}

async function stallMs(port: number): Promise<number> {
  const page = await fetch(`http://127.0.0.1:${port + 2}/metrics`).then(answer => answer.text());
  return Number(/^periplus_loop_lag_max_seconds (\S+)$/m.exec(page)?.[1] ?? Number.NaN) * 1_000;
}

/** A server's own look at its turns (turns.mjs), which it is started with. */
export interface Turns {
  readonly env: NodeJS.ProcessEnv;
  /** CPU of the main thread in the longest turn since this was asked last. */
  longestMs(child: ChildProcess): Promise<number>;
}

/** `folder`: where the server writes its answers. */
export function turnsIn(folder: string): Turns {
  const file = join(folder, 'turns');
  const preload = `--import ${new URL('turns.mjs', import.meta.url).href}`;
  return {
    env: { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${preload}`, TURNS_FILE: file },
    longestMs: child => turnMs(child, file),
  };
}

async function turnMs(child: ChildProcess, file: string): Promise<number> {
  rmSync(file, { force: true });
  child.kill('SIGUSR2');
  const end = Date.now() + ANSWER_MS_MAX;
  while (!existsSync(file)) {
    if (child.exitCode !== null || child.signalCode !== null) return Number.NaN;
    if (Date.now() > end) throw new Error('the server does not say how long its turns were');
    await sleep(LOOK_MS);
  }
  return Number(readFileSync(file, 'utf8'));
}

/** A token a namespace, and the keys that verify it: the flags for them. */
function tokensIn(folder: string): readonly string[] {
  const { jwks, token } = tokenMaker();
  mkdirSync(join(folder, 'tokens'));
  for (let i = 0; i < NAMESPACES; i++) {
    writeFileSync(join(folder, 'tokens', `ns-${i}.default`), token(`ns-${i}/default`));
  }
  writeFileSync(join(folder, 'keys.json'), jwks);
  return ['--tokenKeys', join(folder, 'keys.json'), '--tokenIssuer', ISSUER];
}
