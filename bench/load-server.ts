// `periplus serve` under load: a process of its own on a folder of YAML files, in the clear or with the secure port and tokens of the bench.

import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ISSUER, tokenMaker } from '../test/identity/tokens.ts';
import { answers, ended, local, startPlane } from './plane.ts';

export interface Served {
  readonly process: ChildProcess;
  /** The arguments of the load tool that say where the server is, and as whom to connect. */
  readonly reach: readonly string[];
}

/** Namespaces that the load tool spreads its proxies over. */
const NAMESPACES = 10;

export async function serve(folder: string, mesh: string, port: number, tls: boolean): Promise<Served> {
  const secure = tls ? [...tokensIn(folder), '--secureGrpcAddr', local(port + 3)] : ['--secureGrpcAddr', ''];
  const plane = startPlane(port, folder, [
    ...['--configDir', mesh, '--journal', join(folder, 'journal.db'), '--log_output_level', 'warn', ...secure],
  ]);
  await answers(plane, '/ready').catch(async (error: unknown) => {
    await ended(plane);
    throw error;
  });
  const asWhom = tls ? ['-tls', '-csr', '-tokens', join(folder, 'tokens')] : [];
  const { process: child } = plane;
  return { process: child, reach: ['-addr', local(tls ? port + 3 : port), '-pid', String(child.pid), ...asWhom] };
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
