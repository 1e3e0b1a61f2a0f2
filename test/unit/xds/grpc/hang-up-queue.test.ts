import { EventEmitter } from 'node:events';
import { connect, createServer, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { HANG_UPS_PER_TICK, HangUpQueue } from '../../../../src/xds/grpc/hang-up-queue.ts';
import { countLoopTurns } from '../../loop-turns.ts';

test('hang-up queue: connections that end in one tick are closed over several ticks', async () => {
  const hangUps = new HangUpQueue();
  const log: string[] = [];
  const sockets = Array.from({ length: 2 * HANG_UPS_PER_TICK + 1 }, (_, i) => {
    const socket = Object.assign(new EventEmitter(), { allowHalfOpen: false });
    const session = { destroyed: false, socket, destroy: () => log.push(String(i)) };
    hangUps.watch(session as never);
    hangUps.watch(session as never);
    return socket;
  });
  expect(sockets.every(({ allowHalfOpen }) => allowHalfOpen)).toBe(true);
  const loop = countLoopTurns(() => log.push('-'));
  for (const socket of sockets) socket.emit('end');
  expect(log).toEqual([]);
  while (log.filter(line => line !== '-').length < sockets.length) await new Promise(resolve => setImmediate(resolve));
  loop.stop();
  expect(log.filter(line => line !== '-')).toEqual(sockets.map((_, i) => String(i)));
  for (const turn of log.join(' ').split('-'))
    expect(turn.match(/\d+/g)?.length ?? 0).toBeLessThanOrEqual(HANG_UPS_PER_TICK);
});

test('hang-up queue: a real session whose client hangs up is closed, and its streams end', async () => {
  const hangUps = new HangUpQueue();
  const server = createServer();
  const closed: string[] = [];
  const all = new Promise<void>(resolve => {
    const told = (who: string) => () => {
      if (closed.push(who) === 2) resolve();
    };
    server.on('session', (session: ServerHttp2Session) => {
      hangUps.watch(session);
      session.on('close', told('session'));
    });
    server.on('stream', stream => {
      stream.on('error', () => undefined);
      stream.on('close', told('stream'));
      stream.respond({ ':status': 200 });
      client.socket.unref();
      closing();
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.on('error', () => undefined);
  const request = client.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
  request.on('error', () => undefined);
  const closing = (): void => client.destroy();
  await all;
  expect(closed.sort()).toEqual(['session', 'stream']);
  await new Promise<void>(resolve => server.close(() => resolve()));
});
