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

export interface Started {
  readonly kubeconfig: string;
  /** The program of istiod. */
  readonly istiod: string | undefined;
  /** Folder of tokens: the secure port is served, and the load tool signs in on it. */
  readonly tokens: string | undefined;
}

export async function startControlPlane(who: Which, folder: string, started: Started): Promise<Running> {
  const secure = started.tokens === undefined ? '' : local(await freePort());
  const plane = start(who, await threeFreePorts(), folder, { ...started, secure });
  const stop = (): Promise<void> => ended(plane);
  try {
    await answers(plane, '/ready');
  } catch (error) {
    await stop();
    throw new Error(`${who} did not become ready`, { cause: error });
  }
  const asWhom = started.tokens === undefined ? [] : ['-tls', '-csr', '-tokens', started.tokens];
  const address = secure === '' ? local(plane.port) : secure;
  return { reach: ['-addr', address, '-pid', String(plane.process.pid), ...asWhom], stop };
}

interface Secured extends Started {
  /** Address of the secure port; empty: none. */
  readonly secure: string;
}

function start(who: Which, port: number, folder: string, { kubeconfig, istiod = '', secure }: Secured): Plane {
  if (who === 'periplus') {
    const journal = join(folder, 'journal.db');
    // The root of a secure port is written to the cluster; without one nothing is.
    const readOnly = secure === '' ? ['--read-only'] : [];
    const ours = ['--secureGrpcAddr', secure, ...readOnly, '--journal', journal, '--log_output_level', 'warn'];
    return startPlane(port, folder, ['--kubeconfig', kubeconfig, ...ours]);
  }
  const theirs = ['--secureGRPCAddr', secure, '--domain', 'cluster.local', '--log_output_level', 'default:warn'];
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
