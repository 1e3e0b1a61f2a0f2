// A control plane of the bench on a cluster: `periplus serve --kubeconfig`, or istiod's own program with nothing beside
// its streams.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/e2e/free-port.ts';

export type Which = 'periplus' | 'istiod';

export interface Running {
  /** The arguments of the load tool that say where the server is. */
  readonly reach: readonly string[];
  stop(): Promise<void>;
}

const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const READY_MS = 120_000;
/** istiod ends its streams before it exits. */
const STOP_MS = 15_000;

export async function startControlPlane(who: Which, folder: string, kubeconfig: string, istiod = ''): Promise<Running> {
  const [grpc, http, monitoring] = [await address(), await address(), await address()];
  const common = ['--kubeconfig', kubeconfig, '--grpcAddr', grpc, '--httpAddr', http, '--monitoringAddr', monitoring];
  const ours = ['--secureGrpcAddr', '', '--read-only', '--journal', join(folder, 'journal.db')];
  const theirs = ['--secureGRPCAddr', '', '--httpsAddr', '', '--ctrlz_port', '0', '--domain', 'cluster.local'];
  const env = {
    ...process.env,
    POD_NAMESPACE: 'istio-system',
    POD_NAME: 'istiod-bench',
    ROOT_CA_DIR: folder,
    VALIDATION_WEBHOOK_CONFIG_NAME: '',
    INJECTION_WEBHOOK_CONFIG_NAME: '',
  };
  const [program, args] =
    who === 'periplus'
      ? ([process.execPath, [CLI, 'serve', ...common, ...ours, '--log_output_level', 'warn']] as const)
      : ([istiod, ['discovery', ...common, ...theirs, '--log_output_level', 'default:warn']] as const);
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder, env });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  };
  const until = Date.now() + READY_MS;
  while (Date.now() < until && child.exitCode === null) {
    const ready = await fetch(`http://${http}/ready`).then(
      answer => answer.ok,
      () => false,
    );
    if (ready) return { reach: ['-addr', grpc, '-pid', String(child.pid)], stop };
    await sleep(100);
  }
  await stop();
  throw new Error(`${who} did not become ready`);
}

async function address(): Promise<string> {
  return `127.0.0.1:${await freePort()}`;
}
