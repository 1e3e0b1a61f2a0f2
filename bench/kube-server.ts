// A control plane of the bench on a cluster: `periplus serve --kubeconfig`, or istiod's own program with nothing beside
// its streams.

import { join } from 'node:path';
import { freePort } from '../test/e2e/free-port.ts';
import { answers, ended, local, type Plane, startPlane } from './plane.ts';

export type Which = 'periplus' | 'istiod';

export interface Running {
  /** The arguments of the load tool that say where the server is. */
  readonly reach: readonly string[];
  stop(): Promise<void>;
}

export async function startControlPlane(who: Which, folder: string, kubeconfig: string, istiod = ''): Promise<Running> {
  const plane = start(who, await threeFreePorts(), folder, kubeconfig, istiod);
  const stop = (): Promise<void> => ended(plane);
  try {
    await answers(plane, '/ready');
  } catch (error) {
    await stop();
    throw new Error(`${who} did not become ready`, { cause: error });
  }
  return { reach: ['-addr', local(plane.port), '-pid', String(plane.process.pid)], stop };
}

function start(who: Which, port: number, folder: string, kubeconfig: string, istiod: string): Plane {
  if (who === 'periplus') {
    const journal = join(folder, 'journal.db');
    const ours = ['--secureGrpcAddr', '', '--read-only', '--journal', journal, '--log_output_level', 'warn'];
    return startPlane(port, folder, ['--kubeconfig', kubeconfig, ...ours]);
  }
  const theirs = ['--secureGRPCAddr', '', '--domain', 'cluster.local', '--log_output_level', 'default:warn'];
  return startPlane(port, folder, ['--kubeconfig', kubeconfig, ...theirs], {
    program: [istiod, 'discovery'],
    env: {
      POD_NAMESPACE: 'istio-system',
      POD_NAME: 'istiod-bench',
      ROOT_CA_DIR: folder,
      VALIDATION_WEBHOOK_CONFIG_NAME: '',
      INJECTION_WEBHOOK_CONFIG_NAME: '',
    },
  });
}

/** The first of three in a row. */
export async function threeFreePorts(): Promise<number> {
  for (;;) {
    const [first, second, third] = [await freePort(), await freePort(), await freePort()];
    if (second === first + 1 && third === first + 2) return first;
  }
}
