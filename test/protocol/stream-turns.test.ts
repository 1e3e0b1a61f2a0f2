// Clients that break HTTP/2's manners with the frames of calls: what they send in one packet, Node announces in one turn
// of the event loop.

import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { SILENT_STREAMS_MAX, StreamTurns } from '../../src/xds/grpc/stream-turns.ts';
import { CDS } from '../../src/xds/session/types.ts';
import { node } from './ads-client.ts';
import { client, closing, rig, until } from './server-rig.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const [HEADERS, RST_STREAM, SETTINGS, PING, CONTINUATION] = [1, 3, 4, 6, 9];
const [ACK, END_STREAM, END_HEADERS] = [1, 1, 4];
const ADS = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';

function frame(type: number, flags: number, stream: number, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

/** A header field without indexing and without Huffman's code (RFC 7541, section 6.2.2). */
function field(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), text(name), text(value)]);
}

function text(value: string): Buffer {
  const length: number[] = value.length < 127 ? [value.length] : [127];
  for (let left = value.length - 127; left >= 0; left >>= 7) {
    length.push(left > 127 ? (left & 127) | 128 : left);
    if (left <= 127) break;
  }
  return Buffer.concat([Buffer.from(length), Buffer.from(value)]);
}

function call(stream: number, path: string, flags = END_HEADERS): Buffer {
  const named = { ':path': path, ':authority': 'x', te: 'trailers', 'content-type': 'application/grpc' };
  const fields = Object.entries(named).map(([name, value]) => field(name, value));
  // POST and http, from the static table.
  return frame(HEADERS, flags, stream, Buffer.concat([Buffer.from([0x83, 0x86]), ...fields]));
}

const start = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), frame(SETTINGS, ACK, 0)]);
const odd = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => 2 * i + 1);

function send(port: number, bytes: Buffer): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
  socket.on('error', () => undefined);
  socket.resume();
  closing.push(() => socket.destroy());
  return socket;
}

async function isServed(port: number): Promise<void> {
  const proxy = client(port, 'delta');
  proxy.send({ node, typeUrl: CDS });
  await proxy.next();
}

describe('the ADS server', () => {
  test('survives a connection that calls an unknown method and is ended by a flood in the same packet', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1' });
    const pings = Array.from({ length: 1_100 }, () => frame(PING, 0, 0, Buffer.alloc(8)));
    const flags = END_HEADERS | END_STREAM;
    const socket = send(port, Buffer.concat([start, call(1, '/unknown.Service/Method', flags), ...pings]));
    await new Promise<void>(resolve => socket.on('close', () => resolve()));
    await isServed(port);
  });

  test('ends a connection that opens more streams than it may, and serves others', async () => {
    const { host, port } = await rig({ connectionStreamsMax: 10 });
    await host.set('cds', { a: '1' });
    const socket = send(port, Buffer.concat([start, ...odd(300).map(stream => call(stream, ADS))]));
    await new Promise<void>(resolve => socket.on('close', () => resolve()));
    await isServed(port);
  });

  test('serves a proxy while a connection opens and resets streams without end', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1' });
    const resets = odd(3_000).flatMap(id => [call(id, ADS), frame(RST_STREAM, 0, id, Buffer.from([0, 0, 0, 8]))]);
    const socket = send(port, Buffer.concat([start, ...resets]));
    await isServed(port);
    expect(host.facts('ProxyConnected')).toHaveLength(1);
    socket.destroy();
  });

  test('resets a call whose headers are too large', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1' });
    const received: Buffer[] = [];
    const more = [0, END_HEADERS].map(flags => frame(CONTINUATION, flags, 1, field('x', 'y'.repeat(9_000))));
    send(port, Buffer.concat([start, call(1, ADS, 0), ...more])).on('data', bytes => received.push(bytes));
    const reset = frame(RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 11]));
    await until(() => Buffer.concat(received).includes(reset));
    await isServed(port);
  });
});

describe('turns of streams', () => {
  interface Opened {
    readonly session: object;
    closed: boolean;
    destroyed: boolean;
    close(): void;
    destroy(): void;
    on(): void;
  }

  const opened = (session: object): Opened => ({
    session,
    closed: false,
    destroyed: false,
    close(): void {
      this.closed = true;
    },
    destroy(): void {
      this.destroyed = true;
    },
    on: () => undefined,
  });

  function turnsOf(begin: (stream: Opened) => void): (stream: Opened) => void {
    const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
    const turns = new StreamTurns({ clock, silentMsMax: 1_000 });
    const server = { _streamHandler: (_: unknown, stream: Opened, _headers: object) => begin(stream) };
    turns.attach(server as never);
    return stream => server._streamHandler([], stream, {});
  }

  const session = (): object => ({ destroyed: false, socket: {} });
  const tick = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

  test('begin a stream of a quiet connection before the second of a crowded one', async () => {
    const begun: Opened[] = [];
    const add = turnsOf(stream => begun.push(stream));
    const [crowded, quiet] = [session(), session()];
    const many = Array.from({ length: 500 }, () => opened(crowded));
    const one = opened(quiet);
    for (const stream of [...many, one]) add(stream);
    expect(begun).toEqual([]);
    await tick();
    expect(begun.slice(0, 2)).toEqual([many[0], one]);
    expect(begun.length).toBeLessThan(100);
  });

  test('pass over a stream that is gone, and destroy one that cannot begin', async () => {
    const add = turnsOf(() => {
      throw new Error('cannot begin');
    });
    const [gone, bad] = [opened(session()), opened(session())];
    for (const stream of [gone, bad]) add(stream);
    gone.closed = true;
    await tick();
    expect([gone.destroyed, bad.destroyed]).toEqual([false, true]);
  });

  test('close the oldest stream without a message when there are too many', () => {
    const add = turnsOf(() => undefined);
    const streams = Array.from({ length: SILENT_STREAMS_MAX + 2 }, () => opened(session()));
    for (const stream of streams) add(stream);
    expect(streams.filter(({ closed }) => closed)).toEqual(streams.slice(0, 2));
  });
});
