// Ports for processes that a test starts. They lie below the range from which Linux takes the local port of an outgoing
// connection (32768 and above), so that no connection of another process takes one between the moment at which it was
// found free and the moment at which the process listens on it. A process never gives the same port twice; where two
// test processes begin to look depends on their ids.

import { createServer } from 'node:net';

const FIRST = 15_100;
const LAST = 24_999;
const COUNT = LAST - FIRST + 1;
/** Ports between the starting points of two processes with neighbouring ids. */
const STRIDE = 211;

let next = (process.pid * STRIDE) % COUNT;

export async function freePort(): Promise<number> {
  for (let tried = 0; tried < COUNT; tried++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if ((await canListen(port, '127.0.0.1')) && (await canListen(port, '0.0.0.0'))) return port;
  }
  throw new Error(`no port from ${FIRST} to ${LAST} is free`);
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let i = 0; i < count; i++) ports.push(await freePort());
  return ports;
}

function canListen(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
