// Requests that are read below grpc-js's queue arrive complete and in order, however the bytes are cut, and a paused call
// is not read.

import { connect } from 'node:http2';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { readDirectly } from '../../src/xds/grpc/direct-read.ts';
import { adsService, type Call } from '../../src/xds/grpc/server.ts';
import { closing, until } from './server-rig.ts';

const PATH = '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources';
const BYTES_MAX = 1_000;

let received: { readonly way: 'direct' | 'ordinary'; readonly text: string }[] = [];
afterEach(() => {
  received = [];
});

/** A stream whose client decides what is in each DATA frame. */
async function stream(): Promise<{ readonly call: Call; write(bytes: Buffer): void }> {
  let accepted = (_: Call): void => undefined;
  const accepting = new Promise<Call>(resolve => {
    accepted = resolve;
  });
  const server = new Server({ 'grpc.max_receive_message_length': BYTES_MAX });
  closing.push(() => server.forceShutdown());
  const deltaAggregatedResources = (call: Call): void => {
    call.on('error', () => undefined);
    call.on('data', (bytes: Buffer) => received.push({ way: 'ordinary', text: bytes.toString() }));
    readDirectly(call, BYTES_MAX, bytes => received.push({ way: 'direct', text: bytes.toString() }));
    accepted(call);
  };
  server.addService(adsService, { deltaAggregatedResources });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const session = connect(`http://127.0.0.1:${port}`);
  closing.push(() => session.destroy());
  const headers = { ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc', te: 'trailers' };
  const request = session.request(headers, { endStream: false });
  request.on('error', () => undefined);
  return { call: await accepting, write: bytes => request.write(bytes) };
}

function message(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

const texts = (): readonly string[] => received.map(({ text }) => text);

describe('requests read below grpc-js', () => {
  it('arrive at once when a frame is whole messages', async () => {
    const { write } = await stream();
    write(message('a'));
    await until(() => received.length === 1);
    write(Buffer.concat([message('b'), message(''), message('c')]));
    await until(() => received.length === 4);
    expect(texts()).toEqual(['a', 'b', '', 'c']);
    expect(received.slice(1).map(({ way }) => way)).toEqual(['direct', 'direct', 'direct']);
  });

  it('arrive in order wherever the bytes are cut', async () => {
    const { write } = await stream();
    const sent = Array.from({ length: 60 }, (_, i) => `${i} ${'x'.repeat((i * 7) % 40)}`);
    const bytes = Buffer.concat(sent.map(message));
    for (let at = 0, size = 1; at < bytes.length; at += size, size = 1 + ((size * 31) % 97)) {
      write(bytes.subarray(at, at + size));
      await new Promise(resolve => setImmediate(resolve));
    }
    await until(() => received.length === sent.length);
    expect(texts()).toEqual(sent);
    write(message('whole'));
    await until(() => received.length === sent.length + 1);
    expect(received.at(-1)).toEqual({ way: 'direct', text: 'whole' });
    expect(received.some(({ way }) => way === 'ordinary')).toBe(true);
  });

  it('wait while the call is paused, also the rest of a frame whose first message paused it', async () => {
    const { call, write } = await stream();
    write(message('first'));
    await until(() => received.length === 1);
    const { push } = received;
    received.push = (...items) => {
      call.pause();
      return push.apply(received, items);
    };
    write(Buffer.concat([message('pauses'), message('waits'), message('waits, too')]));
    await until(() => received.length === 2);
    for (let i = 0; i < 20; i++) await new Promise(resolve => setImmediate(resolve));
    expect(texts()).toEqual(['first', 'pauses']);
    received.push = push;
    call.resume();
    await until(() => received.length === 4);
    write(message('last'));
    await until(() => received.length === 5);
    expect(texts()).toEqual(['first', 'pauses', 'waits', 'waits, too', 'last']);
  });

  it('leave a message that is too large to grpc-js, which ends the stream', async () => {
    const { call, write } = await stream();
    const gone = new Promise(resolve => call.on('cancelled', resolve));
    write(message('x'.repeat(BYTES_MAX + 1)));
    await gone;
    expect(received).toEqual([]);
  });

  it('are left to grpc-js where its inside is another', () => {
    expect(readDirectly({} as Call, BYTES_MAX, () => undefined)).toBe(false);
    expect(readDirectly({ call: { handleDataFrame: () => undefined } } as never, BYTES_MAX, () => undefined)).toBe(
      false,
    );
  });
});
