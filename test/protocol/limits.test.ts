// Limits over real connections: a client that is idle, slow, too large, too many or malformed gets a status or is
// disconnected, and no other client is affected.

import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { GATE_BATCH_MS } from '../../src/xds/serve/admission-gate.ts';
import { CDS } from '../../src/xds/session/types.ts';
import { DeafClient, node } from './ads-client.ts';
import { client, closing, rig, until } from './server-rig.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
const FRAME_HEADER_BYTES = 9;
const SETTINGS = 4;
const PING = 6;
const ACK = 1;
const EMPTY_SETTINGS = Buffer.from([0, 0, 0, SETTINGS, 0, 0, 0, 0, 0]);

/** Speaks as much HTTP/2 as it takes to be pinged; answers pings or does not. */
class RawPeer {
  pings = 0;
  closed = false;
  readonly socket: Socket;
  #unread = Buffer.alloc(0);

  constructor(port: number, answers: boolean) {
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(Buffer.concat([PREFACE, EMPTY_SETTINGS])));
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.closed = true;
    });
    this.socket.on('data', bytes => {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      for (let frame = this.#frame(); frame !== undefined; frame = this.#frame()) {
        const [type, flags] = [frame[3], frame[4]!];
        if (type !== PING || (flags & ACK) !== 0) continue;
        this.pings++;
        frame[4] = ACK;
        if (answers) this.socket.write(frame);
      }
    });
    closing.push(() => this.socket.destroy());
  }

  #frame(): Buffer | undefined {
    if (this.#unread.length < FRAME_HEADER_BYTES) return undefined;
    const end = FRAME_HEADER_BYTES + this.#unread.readUIntBE(0, 3);
    if (this.#unread.length < end) return undefined;
    const frame = Buffer.from(this.#unread.subarray(0, end));
    this.#unread = this.#unread.subarray(end);
    return frame;
  }
}

/** Longer than a busy machine leaves this process, which is both ends, without a turn. */
const STALL_MS = 1_000;

const large = (value: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`cluster-${i}-${'x'.repeat(200)}`, value]));

describe('limits on the wire', () => {
  test('pings an idle client: one that answers stays connected, one that does not is disconnected', async () => {
    const { port } = await rig({ keepaliveMs: 50, keepaliveTimeoutMs: STALL_MS });
    const [alive, dead] = [new RawPeer(port, true), new RawPeer(port, false)];
    await until(() => dead.closed);
    expect(dead.pings).toBeGreaterThan(0);
    await until(() => alive.pings >= 5);
    expect(alive.closed).toBe(false);
  });

  test('ends a stream at the connection age; the reconnecting proxy is sent only what changed', async () => {
    const { host, port } = await rig({ connectionAgeMsMax: STALL_MS, connectionAgeGraceMs: 100 });
    await host.set('cds', { a: '1', b: '1' });
    const first = client(port, 'delta');
    first.send({ node, typeUrl: CDS });
    const held = await first.next();
    first.send({ typeUrl: CDS, responseNonce: held.nonce });
    await first.ended();
    await until(() => host.facts('ProxyDisconnected').length === 1);
    await host.set('cds', { a: '2', b: '1', c: '1' });
    const second = client(port, 'delta');
    const versions = Object.fromEntries(held.resources.map(({ name, version }) => [name, version]));
    second.send({ node, typeUrl: CDS, initialResourceVersions: versions });
    expect((await second.next()).resources.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  test('ends only the stream of a request that is too large, and reports why', async () => {
    const { host, port } = await rig({ requestBytesMax: 10_000 });
    await host.set('cds', { a: '1' });
    const other = client(port, 'delta');
    other.send({ node, typeUrl: CDS });
    const { nonce } = await other.next();
    other.send({ typeUrl: CDS, responseNonce: nonce });
    const greedy = client(port, 'sotw');
    greedy.send({ node, typeUrl: CDS });
    await greedy.next();
    greedy.send({ typeUrl: CDS, resourceNames: ['x'.repeat(20_000)] });
    expect(await greedy.ended()).toMatchObject({ code: 8, details: expect.stringMatching(/larger than max/) });
    await host.set('cds', { a: '2' });
    expect((await other.next()).resources.map(({ name }) => name)).toEqual(['a']);
    await until(() => host.facts('ProxyDisconnected').length === 1);
  });

  test('ends only the stream or connection of malformed input: no message, no HTTP/2, half a frame', async () => {
    const { host, server, port } = await rig();
    await host.set('cds', { a: '1' });
    const other = client(port, 'delta');
    other.send({ node, typeUrl: CDS });
    const { nonce } = await other.next();
    other.send({ typeUrl: CDS, responseNonce: nonce });

    const known = client(port, 'sotw');
    known.send({ node, typeUrl: CDS });
    await known.next();
    known.sendBytes(Buffer.from('0affffffff0f', 'hex'));
    expect(await known.ended()).toMatchObject({ code: 3, details: expect.stringMatching(/not a discovery request/) });
    for (const bytes of [
      Buffer.from('GET / HTTP/1.1\r\nhost: x\r\n\r\n'),
      Buffer.concat([PREFACE, Buffer.from('ffffff04ffffffffff', 'hex')]),
      Buffer.concat([PREFACE, EMPTY_SETTINGS, Buffer.from('000010', 'hex')]),
    ]) {
      const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
      socket.on('error', () => undefined);
      socket.resume();
      await new Promise<void>(resolve => socket.on('close', () => resolve()));
    }
    await host.set('cds', { a: '2' });
    expect((await other.next()).resources.map(({ name }) => name)).toEqual(['a']);
    expect(server.connections().map(({ connection }) => connection)).toEqual(['web.ns-1']);
  });

  test('ends a stream whose client takes no response within the send timeout, and no other', async () => {
    const { host, server, port } = await rig({ sendTimeoutMs: STALL_MS });
    await host.set('cds', large('0'));
    const reads = client(port, 'sotw');
    reads.send({ node, typeUrl: CDS });
    await reads.next();
    const deaf = new DeafClient(port, { node, typeUrl: CDS });
    closing.push(() => deaf.close());
    await until(() => host.facts('ProxyConnected').length === 2);
    await until(() => host.facts('ProxyDisconnected').length === 1);
    expect(host.facts('ProxyDisconnected')[0]).toMatchObject({
      connection: 'web.ns-2',
      reason: expect.stringContaining(`was not taken by the client within ${STALL_MS} ms`),
    });
    await new Promise<void>(resolve => setTimeout(resolve, STALL_MS + 100));
    expect(server.connections().map(({ connection }) => connection)).toEqual(['web.ns-1']);
    await host.set('cds', large('1'));
    await reads.next();
  });

  test('admits one batch of new streams at once and the others at the rate, and serves all', async () => {
    const { host, port } = await rig({ newStreamsPerSecond: 5 });
    await host.set('cds', { a: '1' });
    const began = Date.now();
    const clients = Array.from({ length: 6 }, () => client(port, 'delta'));
    for (const one of clients) one.send({ node, typeUrl: CDS });
    await Promise.all(clients.map(one => one.next()));
    // The last one is five spacings behind the first, which may come as early as a turn ago. Timers may be a few
    // milliseconds early.
    expect(Date.now() - began).toBeGreaterThanOrEqual(5 * 200 - GATE_BATCH_MS - 10);
    expect(host.facts('ProxyConnected')).toHaveLength(6);
  });

  test('serves a new proxy at once while thousands of streams are silent, at a rate and without', async () => {
    for (const newStreamsPerSecond of [5, undefined]) {
      const { host, port } = await rig({ newStreamsPerSecond, newStreamWaitMs: 20_000 });
      await host.set('cds', { a: '1' });
      for (let i = 0; i < 2_000 / 100; i++) {
        const silent = client(port, 'delta');
        for (let one = 0; one < 100; one++) silent.openSilently();
      }
      const before = process.cpuUsage();
      const proxy = client(port, 'delta');
      proxy.send({ node, typeUrl: CDS });
      await proxy.next();
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(10_000);
      expect(host.facts('ProxyConnected')).toHaveLength(1);
    }
  });

  test('refuses a node that is too large, and ends a stream that makes the journal grow too fast', async () => {
    const { host, server, port } = await rig();
    await host.set('cds', { a: '1' });
    const large = client(port, 'delta');
    large.send({ node: { ...node, cluster: 'x'.repeat(600 * 1024) }, typeUrl: CDS });
    expect(await large.ended()).toMatchObject({ code: 8, details: expect.stringMatching(/node is larger/) });
    const greedy = client(port, 'delta');
    greedy.send({ node, typeUrl: CDS });
    await greedy.next();
    const typeUrl = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
    const names = (round: number): readonly string[] =>
      Array.from({ length: 10_000 }, (_, i) => `${round}-${i}-${'x'.repeat(250)}`);
    for (let round = 0; round < 6; round++) greedy.send({ typeUrl, resourceNamesSubscribe: names(round) });
    expect(await greedy.ended()).toMatchObject({ code: 8, details: expect.stringMatching(/more than 8 MiB a minute/) });
    expect(server.stats.overBudget).toBe(1);
    await until(() => host.facts('ProxyDisconnected').length === 1);
  });

  test('ends a stream that sends no request within the time to wait for admission', async () => {
    const { port } = await rig({ newStreamWaitMs: 200 });
    expect(await client(port, 'delta').ended()).toMatchObject({ code: 1 });
  });

  test('stops reading a stream while too many of its requests wait, and loses none', async () => {
    const { host, port } = await rig({ waitingRequestsMax: 4 });
    await host.set('eds', Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`e${i}`, '1'])));
    const one = client(port, 'delta');
    const typeUrl = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment';
    one.send({ node, typeUrl, resourceNamesSubscribe: ['e0'] });
    for (let i = 1; i < 200; i++) one.send({ typeUrl, resourceNamesSubscribe: [`e${i}`] });
    const names = new Set<string>();
    while (names.size < 200) {
      const response = await one.next();
      for (const { name } of response.resources) names.add(name);
      one.send({ typeUrl, responseNonce: response.nonce });
    }
    expect(host.state().proxies.get('web.ns-1')?.subscriptions[typeUrl]?.names).toHaveLength(200);
  });
});
