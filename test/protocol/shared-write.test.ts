// Messages written below grpc-js's API arrive as its API would write them; without access to the HTTP/2 stream the API is
// used.

import type { Writable } from 'node:stream';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { adsService, type Call } from '../../src/xds/grpc/server.ts';
import { byteStreamOf, flushPieces, isGone, sendPieces } from '../../src/xds/grpc/shared-write.ts';
import { SLICE_BYTES } from '../../src/xds/grpc/sliced-writes.ts';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { leafOf, rootOf } from '../adapters/leaf.ts';
import { AdsClient } from './ads-client.ts';

let server: Server | undefined;
let client: AdsClient | undefined;
afterEach(() => {
  client?.close();
  server?.forceShutdown();
});

interface ServerTls {
  readonly roots: string;
  readonly credentials: ServerCredentials;
}

async function serverTls(): Promise<ServerTls> {
  const root = await rootOf('mesh');
  const { cert, key } = await leafOf(root, 'localhost');
  const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
  return { roots: root.certificate, credentials: ServerCredentials.createSsl(null, [pair]) };
}

async function serving(onRequest: (call: Call) => void, tls?: ServerTls): Promise<AdsClient> {
  server = new Server();
  server.addService(adsService, {
    deltaAggregatedResources: (call: Call) => {
      call.on('error', () => undefined);
      call.on('data', () => onRequest(call));
    },
  });
  const made = server;
  const port = await new Promise<number>((resolve, reject) =>
    made.bindAsync('127.0.0.1:0', tls?.credentials ?? ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  client = new AdsClient(port, 'delta', tls?.roots);
  return client;
}

function response(nonce: string, typeUrl: string): readonly Buffer[] {
  const type = typeOf('envoy.service.discovery.v3.DeltaDiscoveryResponse');
  const bytes = (message: object): Buffer => Buffer.from(type.encode(type.create(message)).finish());
  return [bytes({ typeUrl }), bytes({ nonce })];
}

describe('a message in pieces', () => {
  it('arrives whole and in order, with and without access to the HTTP/2 stream', async () => {
    const done: (Error | null | undefined)[] = [];
    let below = false;
    const large = 'x'.repeat(3_000_000);
    const asking = await serving(call => {
      below = byteStreamOf(call) !== undefined;
      sendPieces(call, response('1', large), error => done.push(error));
      sendPieces(call, response('2', 'two'), error => done.push(error));
      // A call as one of another release might be: nothing to write to below it.
      const closed = { write: call.write.bind(call) } as unknown as Call;
      sendPieces(closed, response('3', 'three'), error => done.push(error));
      sendPieces(call, [], error => done.push(error));
      sendPieces(call, response('4', 'four'), error => done.push(error));
    });
    asking.send({ typeUrl: 'any' });
    const seen = new Map<string, string>();
    for (let i = 0; i < 5; i++) {
      const { nonce, typeUrl } = await asking.next();
      seen.set(nonce, typeUrl);
    }
    expect(below, 'this release of grpc-js has the stream where it is looked for').toBe(true);
    expect(Object.fromEntries(seen)).toEqual({ 1: large, 2: 'two', 3: 'three', 4: 'four', '': '' });
    expect(done.filter(error => error !== undefined && error !== null)).toEqual([]);
  });

  it('is handed to TLS in slices, arrives whole, and what is sent by another way comes after it', async () => {
    const sizes: number[] = [];
    const order: string[] = [];
    const large = 'x'.repeat(1_000_000);
    const onRequest = (call: Call): void => {
      const stream = byteStreamOf(call) as unknown as Writable;
      const writev = stream._writev?.bind(stream);
      stream._writev = (chunks, done) => {
        sizes.push(chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0));
        writev?.(chunks, done);
      };
      const write = stream._write.bind(stream);
      stream._write = (chunk: Buffer, encoding, done) => {
        sizes.push(chunk.length);
        write(chunk, encoding, done);
      };
      sendPieces(call, response('1', large), () => order.push('1'));
      sendPieces(call, response('2', large), () => {
        order.push('2');
        sendPieces(call, response('3', large), () => order.push('3'));
        flushPieces(call);
        call.write(Buffer.concat([...response('4', 'four')]));
      });
    };
    const asking = await serving(onRequest, await serverTls());
    asking.send({ typeUrl: 'any' });
    const seen: string[] = [];
    for (let i = 0; i < 4; i++) seen.push((await asking.next()).nonce);
    expect(seen).toEqual(['1', '2', '3', '4']);
    expect(order).toEqual(['1', '2', '3']);
    const sliced = sizes.filter(size => size <= SLICE_BYTES);
    expect(sliced.length, 'two messages in slices').toBeGreaterThanOrEqual(2 * 15);
    expect(
      sizes.filter(size => size > SLICE_BYTES).length,
      'only what was flushed is handed over at once',
    ).toBeLessThanOrEqual(2);
  });

  it('counts no client as gone that only ended its side, or whose stream is not accessible', async () => {
    let call: Call | undefined;
    let finished = (): void => undefined;
    const end = new Promise<void>(resolve => {
      finished = resolve;
    });
    const asking = await serving(one => {
      call = one;
      one.on('end', finished);
    });
    asking.send({ typeUrl: 'any' });
    asking.finish();
    await end;
    expect(isGone(call!)).toBe(false);
    expect(isGone({ write: call!.write.bind(call!) } as unknown as Call)).toBe(false);
    const gone = new Promise(resolve => call!.on('cancelled', resolve));
    asking.close();
    await gone;
    expect(isGone(call!)).toBe(true);
  });
});
