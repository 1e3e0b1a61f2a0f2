// The outer half of the rig: has everything built and fetched while there is a network, then runs the inner half in new
// namespaces for network, mounts and processes. Nothing of it touches the machine's own network, and nothing outlives
// it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { findEnvoy } from '../../../src/demo/envoy.ts';
import { whyNoPods } from '../interception/pods.ts';
import { type Binaries, kubeOrSkip } from '../kube/binaries.ts';
import type { RigOptions } from './node.ts';
import { type Programs, programs } from './programs.ts';

export const PROFILES = ['GATEWAY-HTTP', 'GATEWAY-GRPC', 'GATEWAY-TLS', 'MESH-HTTP'];

export interface Parts {
  readonly binaries: Binaries;
  readonly programs: Programs;
  readonly envoy: string;
}

export type Verdict = 'PASS' | 'FAIL' | 'SKIP';

/** The parts, or why there are none. */
export async function parts(): Promise<Parts | { readonly missing: string }> {
  const why = whyNoPods();
  if (why !== undefined) return { missing: why };
  const binaries = await kubeOrSkip();
  if (binaries === undefined) return { missing: 'there is no API server' };
  const envoy = await findEnvoy(line => process.stderr.write(`${line}\n`));
  if ('missing' in envoy) return envoy;
  try {
    return { binaries, programs: await programs(), envoy: envoy.binary };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

/** The verdict of each test of the suite, by its name. `say`: hears of each when it has ended. */
export async function runSuite(
  options: RigOptions,
  say: (line: string) => void,
): Promise<ReadonlyMap<string, Verdict>> {
  await mkdir(options.folder, { recursive: true });
  await writeFile(join(options.folder, 'options.json'), JSON.stringify(options, null, 2));
  const apart = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const inner = [process.execPath, '--import', 'tsx', join(import.meta.dirname, 'node.ts'), JSON.stringify(options)];
  const child = spawn('unshare', [...apart, ...inner], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const kill = (): unknown => child.kill('SIGKILL');
  process.once('exit', kill);
  const verdicts = new Map<string, Verdict>();
  for await (const line of createInterface({ input: child.stdout })) {
    say(line);
    const found = /^ {4}--- (PASS|FAIL|SKIP): (?:TestConformance|Own)\/(\S+)/.exec(line);
    if (found !== null) verdicts.set(found[2]!, found[1] as Verdict);
  }
  await ended;
  process.off('exit', kill);
  return verdicts;
}
