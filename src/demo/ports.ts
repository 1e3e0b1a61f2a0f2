// The sample's ports are those in its files. One that is taken on this machine is replaced by a free one, in the copy
// that is served.

import { createServer } from 'node:net';

/** Attempts to get a port from the system that no other part of the demo has. */
const TRIES_MAX = 100;

export async function isFree(port: number): Promise<boolean> {
  for (const host of ['127.0.0.1', '0.0.0.0']) if (!(await canBind(port, host))) return false;
  return true;
}

/** wanted port → itself, or a free one. */
export async function freePorts(wanted: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const chosen = new Map<number, number>();
  const taken = new Set(wanted);
  for (const port of wanted) chosen.set(port, (await isFree(port)) ? port : await anyFree(taken));
  return chosen;
}

/** Replaces whole numbers in a text. */
export function replacePorts(text: string, ports: ReadonlyMap<number, number>): string {
  return text.replace(/\b[0-9]{4,5}\b/g, digits => String(ports.get(Number(digits)) ?? digits));
}

async function anyFree(taken: Set<number>): Promise<number> {
  for (let i = 0; i < TRIES_MAX; i++) {
    const port = await ephemeral();
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
  throw new Error('this machine has no free port');
}

function ephemeral(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function canBind(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
