// Handshakes are counted while they are under way, and no longer; those of many clients take turns, and a silent
// client has none.

import { connect as connectTcp, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { signedServingCertificate } from '../../../../src/identity/serving.ts';
import { TURN_WAIT_MS_MAX } from '../../../../src/xds/grpc/connection-turns.ts';
import {
  HANDED_ON_PER_TICK,
  HANDSHAKES_MAX,
  HANDSHAKES_PER_TICK,
  SecurePort,
} from '../../../../src/xds/grpc/secure-port.ts';
import { GATE_PAUSE_MS } from '../../../../src/xds/serve/admission-gate.ts';
import { FakeClock, settle } from '../../../sim/fake-clock.ts';
import { testAuthority } from '../../identity/authority-of-tests.ts';
import { countLoopTurns } from '../../loop-turns.ts';
import { pass as passOn, until } from './still-clock.ts';

/** The beginning of a ClientHello: a record of 512 bytes, of which the first are here. */
const HALF_A_HELLO = Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3);
const FOR_EVER_MS = 1e9;
/** Timers of a handshake in its turn: the port's and the gate's; and the gate's own while others wait. */
const IN_TURN = 2;
const LOOKING = 1;
const NAME = 'istiod.istio-system.svc';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

interface Limits {
  readonly handshakesMax?: number;
  readonly inHand?: number;
  readonly msMax?: number;
}

/** Its clock stands still until `pass`. */
async function opened({ handshakesMax = HANDSHAKES_MAX, inHand: max = 16, msMax = FOR_EVER_MS }: Limits = {}) {
  const verified: TLSSocket[] = [];
  const log: string[] = [];
  const injector = {
    injectConnection: (socket: TLSSocket) => {
      verified.push(socket);
      log.push('verified');
    },
  };
  const serving = await signedServingCertificate(await testAuthority(() => Date.now()), [NAME]);
  const clock = new (class extends FakeClock {
    override after(ms: number, run: () => void) {
      // The port sets the timer of a turn when the turn begins.
      if (ms === msMax) log.push('begun');
      return super.after(ms, run);
    }
  })();
  const port = new SecurePort(injector as never, {
    settings: { minVersion: 'TLSv1.2' },
    material: { certificate: serving.certificate, key: serving.key, clientRoots: serving.roots },
    admits: () => undefined,
    log: () => undefined,
    clock,
    handshakesMax,
    inHand: { max, ofPeer: max, msMax },
  });
  closing.push(() => port.close());
  const number = await port.listen('127.0.0.1', 0);
  const options = { port: number, host: '127.0.0.1', ca: serving.roots, servername: NAME, ALPNProtocols: ['h2'] };
  /** Resolves with whether the handshake succeeded; the connection stays. */
  const client = (further: { readonly socket?: Duplex; readonly ALPNProtocols?: string[] } = {}): Promise<boolean> =>
    new Promise(resolve => {
      const socket = connect({ ...options, ...further }, () => resolve(true));
      socket.on('error', () => resolve(false));
      socket.on('close', () => resolve(false));
      closing.push(() => socket.destroy());
    });
  /** Resolves with the connection when the bytes are sent. */
  const silent = (bytes: Uint8Array = new Uint8Array()): Promise<Socket> =>
    new Promise(resolve => {
      const socket = connectTcp(number, '127.0.0.1', () => socket.write(bytes, () => resolve(socket)));
      socket.on('error', () => undefined);
      closing.push(() => socket.destroy());
    });
  const pass = (ms: number): Promise<void> => passOn(clock, ms);
  /** Lets the gate look again and again. */
  const passUntil = (holds: () => boolean): Promise<void> => until(holds, () => pass(GATE_PAUSE_MS));
  /** How often it happened in each turn of the event loop while `act` ran. */
  const inTurns = async (what: 'begun' | 'verified', act: () => Promise<unknown>): Promise<readonly number[]> => {
    log.length = 0;
    const loop = countLoopTurns(() => log.push('-'));
    await act();
    loop.stop();
    const turns = log.join(' ').split('-');
    return turns.map(turn => turn.split(' ').filter(line => line === what).length);
  };
  return { verified, client, silent, clock, pass, passUntil, inTurns };
}

/** Sends its first bytes in two pieces, the second one when `rest` is called. */
function inTwoPieces(raw: Socket) {
  let rest: (() => void) | undefined;
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _, done) => {
      if (rest !== undefined) return raw.write(bytes, () => done());
      raw.write(bytes.subarray(0, 5));
      rest = () => raw.write(bytes.subarray(5), () => done());
      return undefined;
    },
  });
  raw.on('data', bytes => socket.push(bytes));
  return { socket, rest: () => rest?.() };
}

/** Keeps what it sends after its ClientHello until `release` is called. */
function withHeldFlight(raw: Socket) {
  let writes = 0;
  let isReleased = false;
  const held: (() => void)[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (bytes: Buffer, _, done) => {
      writes++;
      const send = (): void => void raw.write(bytes, () => done());
      if (writes === 1 || isReleased) send();
      else held.push(send);
    },
  });
  raw.on('data', bytes => socket.push(bytes));
  const release = (): void => {
    isReleased = true;
    for (const send of held.splice(0)) send();
  };
  return { socket, release, isHeld: () => held.length > 0 };
}

describe('the secure port', () => {
  it('does not count connections whose handshake is over', async () => {
    const { verified, client } = await opened({ handshakesMax: 2 });
    for (let i = 0; i < 6; i++) {
      expect(await client()).toBe(true);
      await until(() => verified.length === i + 1);
    }
    expect(verified.filter(({ destroyed }) => !destroyed)).toHaveLength(6);
  });

  it('closes connections past the limit of handshakes under way', async () => {
    const { client, silent } = await opened({ handshakesMax: 2 });
    await silent();
    await silent();
    expect(await client()).toBe(false);
  });

  it('serves as many handshakes at once as it may, and the others when these are over', async () => {
    const { verified, client, silent, clock, pass, passUntil } = await opened({ inHand: 2 });
    const [first] = await Promise.all([silent(HALF_A_HELLO), silent(HALF_A_HELLO)]);
    await until(() => clock.waiting === 2 * IN_TURN);
    const all = Promise.all(Array.from({ length: 5 }, () => client()));
    await until(() => clock.waiting === 2 * IN_TURN + LOOKING);
    await settle(50);
    expect(verified).toEqual([]);
    first.destroy();
    await until(
      () => verified.length === 1,
      () => pass(GATE_PAUSE_MS),
    );
    await settle(50);
    expect(verified).toHaveLength(1);
    await passUntil(() => verified.length === 5);
    expect(await all).toEqual(Array(5).fill(true));
    expect(new Set(verified).size).toBe(5);
  });

  it('gives silent clients no turn', async () => {
    const { client, silent } = await opened({ inHand: 2 });
    await Promise.all([silent(), silent(), silent()]);
    expect(await client()).toBe(true);
  });

  it('gives the turns of handshakes that stand still to others after a while', async () => {
    const { verified, client, silent, clock, pass } = await opened({ inHand: 2, msMax: 250 });
    await Promise.all([silent(HALF_A_HELLO), silent(HALF_A_HELLO)]);
    await until(() => clock.waiting === 2 * IN_TURN);
    const third = client();
    await until(() => clock.waiting === 2 * IN_TURN + LOOKING);
    await pass(250 - GATE_PAUSE_MS);
    expect(verified).toEqual([]);
    await pass(2 * GATE_PAUSE_MS);
    expect(await third).toBe(true);
  });

  it('begins few of the handshakes in one turn of the event loop that wait', async () => {
    const { silent, clock, pass, inTurns } = await opened({ inHand: 12, msMax: 250 });
    await Promise.all(Array.from({ length: 12 }, () => silent(HALF_A_HELLO)));
    await until(() => clock.waiting === 12 * IN_TURN);
    await Promise.all(Array.from({ length: 12 }, () => silent(HALF_A_HELLO)));
    await settle(50);
    const begun = await inTurns('begun', () => pass(250 + GATE_PAUSE_MS));
    expect(begun.reduce((sum, count) => sum + count)).toBe(12);
    expect(Math.max(...begun)).toBe(HANDSHAKES_PER_TICK);
  });

  it('hands on few of the connections that are verified in one turn of the event loop', async () => {
    const { verified, client, silent, inTurns } = await opened();
    const held = await Promise.all(Array.from({ length: 16 }, async () => withHeldFlight(await silent())));
    const answers = held.map(({ socket }) => client({ socket }));
    await until(() => held.every(({ isHeld }) => isHeld()));
    const turns = await inTurns('verified', async () => {
      for (const { release } of held) release();
      await until(() => verified.length === 16);
    });
    expect(Math.max(...turns)).toBe(HANDED_ON_PER_TICK);
    expect(await Promise.all(answers)).toEqual(Array(16).fill(true));
  });

  it('still reads from a handshake whose turn is over', async () => {
    const { verified, client, silent, clock, pass } = await opened({ inHand: 1, msMax: 250 });
    const { socket, rest } = inTwoPieces(await silent());
    const answer = client({ socket });
    await until(() => clock.waiting === IN_TURN);
    await pass(250);
    rest();
    expect(await answer).toBe(true);
    await until(() => verified.length === 1);
  });

  it('takes a turn back however a handshake ends', async () => {
    const { verified, client, silent, passUntil } = await opened({ inHand: 1 });
    const ended = async (handshake: Promise<boolean>): Promise<boolean> => {
      let done = false;
      void handshake.finally(() => {
        done = true;
      });
      await passUntil(() => done);
      return handshake;
    };
    for (let i = 0; i < 3; i++) {
      await silent(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
      const gone = await silent(HALF_A_HELLO);
      gone.destroy();
      const halfClosed = await silent(HALF_A_HELLO);
      halfClosed.end();
      expect(await ended(client({ ALPNProtocols: ['http/1.1'] }))).toBe(false);
      expect(await ended(client())).toBe(true);
    }
    await until(() => verified.length === 3);
  });

  it.each([
    ['before its turn', true],
    ['in its turn', false],
  ])('reads a ClientHello whose second piece comes %s', async (_, isWaiting) => {
    const { verified, client, silent, clock, passUntil } = await opened({ inHand: 1 });
    const first = isWaiting ? await silent(HALF_A_HELLO) : undefined;
    await until(() => first === undefined || clock.waiting === IN_TURN);
    const { socket, rest } = inTwoPieces(await silent());
    const answer = client({ socket });
    await until(() => clock.waiting === IN_TURN + (isWaiting ? LOOKING : 0));
    rest();
    await settle();
    first?.destroy();
    await passUntil(() => verified.length === 1);
    expect(await answer).toBe(true);
  });

  it('gives up a client that waits too long for its turn', async () => {
    const { client, silent, clock, pass } = await opened({ inHand: 1, msMax: TURN_WAIT_MS_MAX + GATE_PAUSE_MS });
    await silent(HALF_A_HELLO);
    await until(() => clock.waiting === IN_TURN);
    const second = client();
    await until(() => clock.waiting === IN_TURN + LOOKING);
    await pass(TURN_WAIT_MS_MAX + 2 * GATE_PAUSE_MS);
    expect(await second).toBe(false);
  });
});

describe('the key of a serving certificate', () => {
  it.each([
    ['of an elliptic curve', '', 'EC'],
    ['of an elliptic curve if a chosen suite has it', 'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256', 'EC'],
    ['RSA if no chosen suite has another', 'TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256', 'RSA'],
  ])('is %s', async (_, ciphers, kind) => {
    const { key } = await signedServingCertificate(await testAuthority(() => Date.now()), [NAME], ciphers);
    expect(key).toContain(`BEGIN ${kind} PRIVATE KEY`);
  });
});
