// `periplus serve` under load: a process of its own on a folder of YAML files, in the clear or with the secure port and tokens of the bench.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ISSUER, tokenMaker } from '../test/identity/tokens.ts';

export interface Served {
  readonly process: ChildProcess;
  /** The arguments of the load tool that say where the server is, and as whom to connect. */
  readonly reach: readonly string[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const READY_MS = 120_000;
/** Namespaces that the load tool spreads its proxies over. */
const NAMESPACES = 10;

export async function serve(folder: string, mesh: string, port: number, tls: boolean): Promise<Served> {
  const address = (offset: number): string => `127.0.0.1:${port + offset}`;
  const secure = tls ? [...tokensIn(folder), '--secureGrpcAddr', address(3)] : ['--secureGrpcAddr', ''];
  const server = spawn(
    process.execPath,
    [
      join(root, 'dist/cli/main.js'),
      'serve',
      ...['--configDir', mesh, '--journal', join(folder, 'journal.db'), '--log_output_level', 'warn'],
      ...['--grpcAddr', address(0), '--httpAddr', address(1), '--monitoringAddr', address(2), ...secure],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder },
  );
  const until = Date.now() + READY_MS;
  while (Date.now() < until && server.exitCode === null) {
    const ready = await fetch(`http://${address(1)}/ready`).then(
      answer => answer.ok,
      () => false,
    );
    if (ready) {
      const asWhom = tls ? ['-tls', '-csr', '-tokens', join(folder, 'tokens')] : [];
      return { process: server, reach: ['-addr', address(tls ? 3 : 0), '-pid', String(server.pid), ...asWhom] };
    }
    await sleep(50);
  }
  server.kill('SIGKILL');
  throw new Error('periplus serve did not become ready; is dist/ built (npm run build)?');
}

/** The longest stall of the server's event loop since this was asked last, by its own metrics. */
export async function stallSeconds(port: number): Promise<number> {
  const page = await fetch(`http://127.0.0.1:${port + 2}/metrics`).then(answer => answer.text());
  return Number(/^periplus_loop_lag_max_seconds (\S+)$/m.exec(page)?.[1] ?? Number.NaN);
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
