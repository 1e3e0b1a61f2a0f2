// The server over real connections on loopback: a client sees what the pure steps decide, facts are recorded before
// bytes leave, and every limit answers with its status.

import { describe, expect, test } from 'vitest';
import { Engine } from '../../src/xds/engine/engine.ts';
import { CDS, EDS, RDS } from '../../src/xds/session/types.ts';
import { DeafClient, node } from './ads-client.ts';
import { testSources } from './memory-host.ts';
import { client, closing, rig, until } from './server-rig.ts';

describe('the ADS server', () => {
  test('answers a delta client, pushes what changed, and resends nothing after a reconnect', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1', b: '1' });
    const first = client(port, 'delta');
    first.send({ node, typeUrl: CDS });
    const clusters = await first.next();
    expect(clusters.resources.map(({ name }) => name)).toEqual(['a', 'b']);
    first.send({ typeUrl: CDS, responseNonce: clusters.nonce });
    await host.set('cds', { a: '1', b: '2' });
    const pushed = await first.next();
    expect(pushed.resources.map(({ name }) => name)).toEqual(['b']);
    first.close();
    await until(() => host.facts('ProxyDisconnected').length === 1);

    const second = client(port, 'delta');
    const versions = Object.fromEntries([...clusters.resources, ...pushed.resources].map(r => [r.name, r.version]));
    second.send({ node, typeUrl: CDS, initialResourceVersions: versions });
    const again = await second.next();
    expect(again.resources).toEqual([]);
    expect(again.removedResources).toEqual([]);
    expect(host.facts('ProxyConnected').map(fact => fact.connection)).toEqual(['web.ns-1', 'web.ns-2']);
    // The extensions are recorded once, and not in the node.
    expect(host.facts('Interned')).toHaveLength(1);
    expect(host.facts('ProxyConnected').every(fact => fact.node.extensions === undefined)).toBe(true);
    expect(host.state().proxies.get('web.ns-2')?.extensions).toEqual(new Set(['envoy.filters.http.router']));
  });

  test('answers a state-of-the-world client with whole sets and records a NACK with the resource that it names', async () => {
    const { host, server, port } = await rig();
    await host.set('cds', { a: '1', 'outbound|80||b.ns': '1' });
    const sotw = client(port, 'sotw');
    sotw.send({ node, typeUrl: CDS });
    const one = await sotw.next();
    expect(one.bodies).toHaveLength(2);
    await host.set('cds', { a: '1', 'outbound|80||b.ns': '2' });
    const two = await sotw.next();
    expect(two.bodies[0]).toBe(one.bodies[0]);
    expect(two.bodies[1]).not.toBe(one.bodies[1]);
    expect(two.versionInfo).not.toBe(one.versionInfo);
    const message = 'Error adding/updating cluster(s) outbound|80||b.ns: no';
    sotw.send({
      typeUrl: CDS,
      responseNonce: two.nonce,
      versionInfo: one.versionInfo,
      errorDetail: { code: 13, message },
    });
    await until(() => host.nacks.length === 1);
    expect(host.nacks[0]).toEqual({ connection: 'web.ns-1', typeUrl: CDS, message, resources: ['outbound|80||b.ns'] });
    expect(host.facts('ProxyNacked')).toHaveLength(1);
    expect(server.connections()[0]?.types[0]).toMatchObject({
      short: 'CDS',
      sync: 'ERROR',
      lastError: message,
      count: 2,
    });
    await host.set('cds', { a: '1', 'outbound|80||b.ns': '1' });
    const three = await sotw.next();
    expect(three.versionInfo).toBe(one.versionInfo);
    sotw.send({ typeUrl: CDS, responseNonce: three.nonce, versionInfo: three.versionInfo });
    await until(() => server.connections()[0]?.types[0]?.sync === 'SYNCED');
  });

  test('commits one receipt for equal proxies before the bytes leave, and replay reproduces its digest', async () => {
    const { host, engine, port } = await rig();
    await host.set('cds', { a: '1' });
    await host.set('rds', { '80': 'x', '81': 'y' });
    const clients = ['delta', 'sotw', 'delta'].map(protocol => client(port, protocol as 'sotw' | 'delta'));
    for (const one of clients) {
      one.send({ node, typeUrl: CDS });
      await one.next();
    }
    clients[0]!.send({ typeUrl: RDS, resourceNamesSubscribe: ['80', '81', 'none'] });
    expect((await clients[0]!.next()).removedResources).toEqual(['none']);
    const before = host.facts('Receipt').length;
    host.commitMs = 60;
    await host.set('cds', { a: '2' });
    await new Promise<void>(resolve => setTimeout(resolve, 40));
    expect(clients.map(one => one.waiting)).toEqual([0, 0, 0]);
    for (const one of clients) await one.next();
    const receipts = host.facts('Receipt').slice(before);
    expect(receipts).toHaveLength(1);
    expect(receipts[0]?.connections).toEqual(['web.ns-1', 'web.ns-2', 'web.ns-3']);
    const fresh = new Engine(testSources);
    for (const receipt of host.facts('Receipt')) {
      const state = host.stateAt(receipt.stateSeq);
      for (const name of receipt.connections) {
        const proxy = state.proxies.get(name)!;
        const set = fresh.resourcesFor(state, proxy, receipt.typeUrl, proxy.subscriptions[receipt.typeUrl]!);
        expect([set?.digest, set?.size]).toEqual([receipt.digest, receipt.count]);
      }
    }
    expect(engine.provenance(host.state(), host.state().proxies.get('web.ns-1')!, CDS, 'a')?.found).toEqual([
      'ConfigMap/ns/cds',
    ]);
  });

  test('sends endpoints after a changed cluster', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1' });
    await host.set('eds', { a: '1' });
    const delta = client(port, 'delta');
    delta.send({ node, typeUrl: CDS });
    await delta.next();
    delta.send({ typeUrl: EDS, resourceNamesSubscribe: ['a'] });
    await delta.next();
    await host.set('cds', { a: '2' });
    expect([(await delta.next()).typeUrl, (await delta.next()).typeUrl]).toEqual([CDS, EDS]);
  });

  test('keeps one response for a client that does not read, and then sends the newest state', async () => {
    const { host, port } = await rig({ writesMax: 1, writeSlotMs: 50 });
    const large = (value: string): Record<string, string> =>
      Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`cluster-${i}-${'x'.repeat(200)}`, value]));
    await host.set('cds', large('0'));
    const slow = new DeafClient(port, { node, typeUrl: CDS });
    closing.push(() => slow.close());
    await until(() => host.facts('Receipt').length === 1);
    const other = client(port, 'sotw');
    other.send({ node, typeUrl: CDS });
    await other.next();
    for (let i = 1; i <= 10; i++) {
      await host.set('cds', large(String(i)));
      await other.next();
    }
    const sentTo = (name: string) => host.facts('Receipt').filter(fact => fact.connections.includes(name));
    expect(sentTo('web.ns-2')).toHaveLength(11);
    expect(sentTo('web.ns-1')).toHaveLength(1);
    expect(host.observations.some(event => event.kind === 'WriteSlow')).toBe(true);
    slow.listen();
    await until(() => sentTo('web.ns-1').length === 2);
    expect(sentTo('web.ns-1').at(-1)?.digest).toBe(sentTo('web.ns-2').at(-1)?.digest);
  });

  test('refuses invalid requests with the matching gRPC status', async () => {
    const { host, server, port } = await rig({ requestBytesMax: 1_000 });
    const cases: readonly [Readonly<Record<string, unknown>>, number, RegExp][] = [
      [{ typeUrl: CDS }, 3, /missing node information/],
      [{ node: { id: '' }, typeUrl: CDS }, 3, /missing node information/],
      [{ node: { id: 'sidecar~web' }, typeUrl: CDS }, 3, /four parts/],
      [{ node: { id: 'robot~10.0.0.1~a.b~c' }, typeUrl: CDS }, 3, /unknown proxy type/],
      [{ node }, 3, /has no type_url/],
      [{ node, typeUrl: CDS, resourceNames: ['x'.repeat(2_000)] }, 8, /larger than max/],
    ];
    for (const [message, code, details] of cases) {
      const one = client(port, 'sotw');
      one.send(message);
      expect(await one.ended()).toMatchObject({ code, details: expect.stringMatching(details) });
    }
    const garbage = client(port, 'delta');
    garbage.sendBytes(Buffer.from('ffffffff', 'hex'));
    expect(await garbage.ended()).toMatchObject({ code: 3 });
    host.isReady = false;
    expect(await client(port, 'delta').ended()).toMatchObject({
      code: 14,
      details: expect.stringMatching(/not ready/),
    });
    expect(server.connections()).toEqual([]);
  });

  test('refuses streams past their number and their rate', async () => {
    const { port } = await rig({ streamsMax: 1 });
    const first = client(port, 'delta');
    first.send({ node, typeUrl: CDS });
    await first.next();
    expect(await client(port, 'delta').ended()).toMatchObject({ code: 8 });
    const slowly = await rig({ newStreamsPerSecond: 0.01 });
    const admitted = client(slowly.port, 'delta');
    admitted.send({ node, typeUrl: CDS });
    await admitted.next();
    const refused = client(slowly.port, 'delta');
    refused.send({ node, typeUrl: CDS });
    expect(await refused.ended()).toMatchObject({
      code: 8,
      details: expect.stringMatching(/rate limit/),
    });
  });

  test('sends nothing when the journal refuses facts', async () => {
    const { host, port } = await rig();
    await host.set('cds', { a: '1' });
    const one = client(port, 'delta');
    one.send({ node, typeUrl: CDS });
    await one.next();
    host.failing = 'disk full';
    host.onPush = () => undefined;
    one.send({ typeUrl: RDS, resourceNamesSubscribe: ['80'] });
    expect(await one.ended()).toMatchObject({ code: 14, details: 'disk full' });
    expect(one.waiting).toBe(0);
  });

  test('ends and records every stream on stop, and disconnects idempotently', async () => {
    const { host, server, port } = await rig();
    await host.set('cds', { a: '1' });
    const [a, b] = [client(port, 'delta'), client(port, 'sotw')];
    a.send({ node, typeUrl: CDS });
    await a.next();
    b.send({ node, typeUrl: CDS });
    await b.next();
    expect(server.disconnect('web.ns-1')).toBe(true);
    expect(await a.ended()).toMatchObject({ code: 0 });
    await until(() => !server.disconnect('web.ns-1'));
    await server.stop(1_000);
    expect(await b.ended()).toMatchObject({ code: 14, details: expect.stringMatching(/stopping/) });
    expect(host.facts('ProxyDisconnected').map(fact => fact.connection)).toEqual(['web.ns-1', 'web.ns-2']);
  });
});
