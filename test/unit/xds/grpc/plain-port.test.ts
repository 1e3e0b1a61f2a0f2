// Connections in the clear begin in turns until their first call; a silent client has none.

import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { clientOf } from '../../../../src/xds/grpc/connection-turns.ts';
import { READ_PAUSE_MS } from '../../../../src/xds/grpc/held-reading.ts';
import { CONNECTIONS_PER_TICK, PlainPort, SILENT_MS_MAX } from '../../../../src/xds/grpc/plain-port.ts';
import { GATE_PAUSE_MS } from '../../../../src/xds/serve/admission-gate.ts';
import { FakeClock, settle } from '../../../sim/fake-clock.ts';
import { countLoopTurns } from '../../loop-turns.ts';
import { pass as passOn, until } from './still-clock.ts';

const FOR_EVER_MS = 1e9;
const HELLO = 'PRI';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

interface Begun {
  readonly socket: Socket;
  /** What was read of it. */
  text: string;
}

/** Its clock stands still until `pass`. */
async function opened({ inHand: max = 16, msMax = FOR_EVER_MS, connectionsMax = 100 } = {}) {
  const begun: Begun[] = [];
  let onCall: (client: string) => void = () => undefined;
  const server = {
    injector: () => ({
      injectConnection: (socket: Socket) => {
        const one = { socket, text: '' };
        begun.push(one);
        socket.on('data', bytes => {
          one.text += bytes.toString();
        });
        socket.resume();
      },
    }),
    onCall: (listener: (client: string) => void) => {
      onCall = listener;
    },
  };
  const clock = new FakeClock();
  const inHand = { max, ofPeer: max, msMax };
  const port = new PlainPort(server as never, { clock, log: () => undefined, connectionsMax, inHand });
  closing.push(() => port.close());
  const number = await port.listen('127.0.0.1', 0);
  /** Resolves when the text is sent. */
  const client = (text: string): Promise<Socket> =>
    new Promise(resolve => {
      const socket = connect(number, '127.0.0.1', () => {
        if (text === '') resolve(socket);
        else socket.write(text, () => resolve(socket));
      });
      socket.on('error', () => undefined);
      closing.push(() => socket.destroy());
    });
  const pass = (ms: number): Promise<void> => passOn(clock, ms);
  return { begun, client, pass, call: ({ socket }: Begun) => onCall(clientOf(socket)) };
}

describe('the port in the clear', () => {
  it('begins few of the connections in one turn of the event loop that come at once', async () => {
    const { begun, client, pass, call } = await opened({ inHand: 12 });
    await Promise.all(Array.from({ length: 24 }, () => client(HELLO)));
    await until(() => begun.length === 12);
    await settle(50);
    const counts: number[] = [];
    const loop = countLoopTurns(() => counts.push(begun.length));
    for (const one of begun.slice()) call(one);
    await pass(GATE_PAUSE_MS);
    await until(() => begun.length === 24);
    await settle();
    loop.stop();
    const steps = counts.slice(1).map((count, i) => count - counts[i]!);
    expect(Math.max(...steps)).toBe(CONNECTIONS_PER_TICK);
  });

  it('begins the next connection when one in hand had its first call', async () => {
    const { begun, client, pass, call } = await opened({ inHand: 2 });
    await Promise.all([client(HELLO), client(HELLO), client(HELLO)]);
    await until(() => begun.length === 2);
    await pass(GATE_PAUSE_MS);
    expect(begun).toHaveLength(2);
    call(begun[0]!);
    await pass(GATE_PAUSE_MS);
    await until(() => begun.length === 3);
  });

  it('hands on what the client sent before its turn', async () => {
    const { begun, client } = await opened();
    const socket = await client(HELLO);
    socket.write(' * HTTP/2.0');
    await until(() => begun[0]?.text === `${HELLO} * HTTP/2.0`);
  });

  it('gives silent clients no turn', async () => {
    const { begun, client } = await opened({ inHand: 2 });
    await Promise.all([client(''), client(''), client('')]);
    await client(HELLO);
    await until(() => begun.length === 1);
  });

  it('gives the turns of connections without a call to others after a while, and reads from them now and then', async () => {
    const { begun, client, pass } = await opened({ inHand: 1, msMax: 250 });
    const first = await client(HELLO);
    await until(() => begun.length === 1);
    await client(HELLO);
    await settle(20);
    await pass(250 + GATE_PAUSE_MS);
    await until(() => begun.length === 2);
    first.write('more');
    await settle(20);
    expect(begun[0]!.text).toBe(HELLO);
    await until(
      () => begun[0]!.text === `${HELLO}more`,
      () => pass(READ_PAUSE_MS),
    );
  });

  it.each([
    ['had its first call', async ({ call, begun }: Opened) => call(begun[0]!)],
    ['is without a call for long', ({ pass }: Opened) => pass(SILENT_MS_MAX)],
  ])('reads from a connection whose turn is over as it comes once it %s', async (_, happens) => {
    const port = await opened({ inHand: 1, msMax: 250 });
    const { begun, client, pass } = port;
    const socket = await client(HELLO);
    await until(() => begun.length === 1);
    await pass(250);
    await happens(port);
    socket.write('more');
    await until(() => begun[0]!.text === `${HELLO}more`);
    socket.write(' and more');
    await until(() => begun[0]!.text === `${HELLO}more and more`);
  });

  it('closes connections past the limit of those without a call', async () => {
    const { begun, client, call } = await opened({ connectionsMax: 1 });
    await client(HELLO);
    await until(() => begun.length === 1);
    const second = await client(HELLO);
    await new Promise(resolve => second.once('close', resolve));
    call(begun[0]!);
    await client(HELLO);
    await until(() => begun.length === 2);
  });
});

type Opened = Awaited<ReturnType<typeof opened>>;
