// Connections without a call: how long they stay, and which of them make room.

import { EventEmitter, once } from 'node:events';
import { connect } from 'node:http2';
import { type AddressInfo, createServer } from 'node:net';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import {
  GOING_MS_MAX,
  IDLE_MS_MAX,
  IdleConnections,
  type IdleSession,
} from '../../../../src/xds/grpc/idle-connections.ts';
import { adsService } from '../../../../src/xds/grpc/server.ts';
import { FakeClock } from '../../../sim/fake-clock.ts';

class FakeSession extends EventEmitter {
  readonly socket: { readonly remoteAddress: string };
  isTold = false;
  destroyed = false;

  constructor(remoteAddress: string) {
    super();
    this.socket = { remoteAddress };
  }

  /** As of a client that does not go. */
  close(): void {
    this.isTold = true;
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  call(): EventEmitter {
    const stream = new EventEmitter();
    this.emit('stream', stream);
    return stream;
  }
}

function opened(max?: number) {
  const clock = new FakeClock();
  const connections = new IdleConnections(clock, max);
  const come = (address: string): FakeSession => {
    const session = new FakeSession(address);
    connections.watch(session as unknown as IdleSession);
    return session;
  };
  const pass = (ms: number): void => {
    for (const until = clock.now() + ms; clock.next(until); );
  };
  return { clock, connections, come, pass };
}

describe('a connection without a call', () => {
  test('is sent a GOAWAY after a time, and closed if it stays', () => {
    const { clock, come, connections, pass } = opened();
    const session = come('a');
    pass(IDLE_MS_MAX - 1);
    expect([session.isTold, connections.size]).toEqual([false, 1]);
    pass(1);
    expect([session.isTold, session.destroyed, connections.size]).toEqual([true, false, 0]);
    pass(GOING_MS_MAX);
    expect([session.destroyed, clock.waiting]).toEqual([true, 0]);
  });

  test('stays while a call is open, and begins to wait when the last one ends', () => {
    const { come, connections, pass } = opened();
    const session = come('a');
    const [first, second] = [session.call(), session.call()];
    pass(2 * IDLE_MS_MAX);
    first.emit('close');
    pass(2 * IDLE_MS_MAX);
    expect([session.isTold, connections.size]).toEqual([false, 0]);
    second.emit('close');
    pass(IDLE_MS_MAX - 1);
    expect(session.isTold).toBe(false);
    pass(1);
    expect(session.isTold).toBe(true);
  });

  test('is forgotten when it ends', () => {
    const { clock, come, connections } = opened();
    const session = come('a');
    const stream = session.call();
    session.destroy();
    stream.emit('close');
    come('b').destroy();
    expect([connections.size, clock.waiting]).toEqual([0, 0]);
  });
});

describe('past the limit', () => {
  test('the address with the most loses the oldest, and those with calls stay', () => {
    const { come, connections } = opened(3);
    const calling = come('crowd');
    calling.call();
    const other = come('other');
    const crowd = [come('crowd'), come('crowd'), come('crowd'), come('crowd')];
    expect(crowd.map(({ isTold }) => isTold)).toEqual([true, true, false, false]);
    expect([calling.isTold, other.isTold, connections.size]).toEqual([false, false, 3]);
    come('another');
    expect(crowd.map(({ isTold }) => isTold)).toEqual([true, true, true, false]);
    expect(other.isTold).toBe(false);
  });

  test('one whose last call ends counts as well', () => {
    const { come, connections } = opened(1);
    const [first, second] = [come('a'), come('a')];
    const [ofFirst, ofSecond] = [first.call(), second.call()];
    ofFirst.emit('close');
    ofSecond.emit('close');
    expect([first.isTold, second.isTold, connections.size]).toEqual([true, false, 1]);
  });
});

test('connections of a real server are counted until they call', async () => {
  const server = new Server({ 'grpc.enable_channelz': 0 });
  const connections = new IdleConnections(new FakeClock(), 1);
  let sessions = 0;
  connections.attach(server, () => {
    sessions += 1;
  });
  const open = (): void => undefined;
  server.addService(adsService, { streamAggregatedResources: open, deltaAggregatedResources: open });
  const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
  const listener = createServer(socket => injector.injectConnection(socket)).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  const [first, second] = [connect(`http://127.0.0.1:${port}`), connect(`http://127.0.0.1:${port}`)];
  await once(first, 'goaway');
  expect(sessions).toBe(2);
  expect(connections.size).toBe(1);
  const { path } = adsService.streamAggregatedResources;
  const stream = second.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' });
  await expect.poll(() => connections.size).toBe(0);
  stream.close();
  await expect.poll(() => connections.size).toBe(1);
  second.close();
  await expect.poll(() => connections.size).toBe(0);
  listener.close();
});
