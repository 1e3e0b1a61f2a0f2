// `periplus wait`, and the reading commands, asked of a running control plane with proxies on real streams.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import {
  gateway,
  gatewayNode,
  namespace,
  service,
  sidecarNode,
  slice,
  virtualService,
} from '../../scripts/samples/mesh.ts';
import { refusesPrivilegedPorts, SampleProxy } from '../../scripts/samples/sample-proxy.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { entry, envoyFilter } from '../unit/xds/generate/patch/patch-scene.ts';
import { LivePlane } from './live-plane.ts';
import { periplus, type Ran } from './running.ts';

let server: LivePlane;
const proxies: SampleProxy[] = [];

const yamlOf = (...objects: readonly JsonObject[]): string => objects.map(object => stringify(object)).join('---\n');
const write = (file: string, ...objects: readonly JsonObject[]): void => server.write(file, yamlOf(...objects));
const ask = (...args: readonly string[]): Promise<Ran> => server.ask(...args);

beforeAll(async () => {
  const endpoints = slice('reviews', [{ version: 'v1', ip: '10.1.3.1' }]);
  server = await LivePlane.start(yamlOf(namespace('shop'), service('reviews', 4), endpoints));
  const { ports, xds } = server.plane;
  proxies.push(new SampleProxy(ports.grpc, sidecarNode('productpage', 'v1', '10.1.0.1')));
  proxies.push(new SampleProxy(ports.grpc, gatewayNode('10.1.9.1'), refusesPrivilegedPorts));
  while (xds.connections().length < 2) await new Promise<void>(resolve => setTimeout(resolve, 20));
});
afterAll(async () => {
  await server.stop();
  for (const proxy of proxies) proxy.close();
});

describe('wait', () => {
  test('returns when every proxy has accepted the object', async () => {
    write('route.yaml', virtualService('reviews', { v1: 100 }, 'test'));
    const { code, out } = await ask('wait', '--for', 'VirtualService/shop/reviews', '--timeout', '30s');
    expect(out).toMatch(/^VirtualService\/shop\/reviews of event \d+ is live in 2 proxies\n$/);
    expect(code).toBe(0);
    const route = await ask('proxy-config', 'route', 'productpage', '--name', '9080');
    expect(route).toMatchObject({ code: 0, err: '', out: expect.stringContaining('reviews.shop') });
  });

  test('fails on a NACK and prints it', async () => {
    write('gateway.yaml', gateway([80], 'test'));
    const waiting = () => ask('wait', '--for', 'Gateway/shop/front-door', '--timeout', '3s');
    let { code, out } = await waiting();
    // On a busy machine it may take longer until the proxy is sent it.
    for (let again = 0; again < 20 && !out.includes('refused'); again++) ({ code, out } = await waiting());
    expect(code).toBe(1);
    expect(out).toMatch(
      /^after 3s Gateway\/shop\/front-door of event \d+ is not live in 1 of 2 proxies\n {2}ingressgateway\.istio-system {2}LDS {2}refused: .*Permission denied/,
    );
    write('gateway.yaml', gateway([8080], 'test'));
    expect((await ask('wait', '--for', 'Gateway/shop/front-door', '--timeout', '30s')).code).toBe(0);
  });

  test('ends at once for a refused object, and waits on for an unknown one', async () => {
    write('bad.yaml', {
      ...virtualService('bad', { v1: 1 }, 'test'),
      spec: { hosts: ['x'], http: [{ timeout: '5' }] },
    });
    const refused = await ask('wait', '--for', 'VirtualService/shop/bad', '--timeout', '30s');
    expect([refused.code, refused.out]).toEqual([
      1,
      expect.stringMatching(/^VirtualService\/shop\/bad was refused\n {2}spec/),
    ]);
    const unknown = await ask('wait', '--for', 'VirtualService/shop/nobody', '--timeout', '300ms');
    expect([unknown.code, unknown.out]).toEqual([
      1,
      expect.stringMatching(/does not know VirtualService\/shop\/nobody/),
    ]);
  });

  test('names the proxies that the patches of an EnvoyFilter break', async () => {
    const patch = entry('CLUSTER', 'MERGE', { connect_timeout: '0s' }, { cluster: { name: 'BlackHoleCluster' } });
    write('patch.yaml', envoyFilter('zero', [patch], { namespace: 'shop' }));
    const { out } = await ask('wait', '--for', 'EnvoyFilter/shop/zero', '--timeout', '30s');
    expect(out).toContain(
      'cluster BlackHoleCluster breaks a constraint at connectTimeout: 0 must be greater than 0: Envoy refuses it on productpage-v1.shop\n',
    );
    rmSync(join(server.mesh, 'patch.yaml'));
  });

  test('returns when a deletion has reached every proxy', async () => {
    rmSync(join(server.mesh, 'route.yaml'));
    const { code, out } = await ask('wait', '--for', 'VirtualService/shop/reviews', '--deleted', '--timeout', '30s');
    expect([code, out]).toEqual([0, 'the deletion of VirtualService/shop/reviews is live in 2 proxies\n']);
  });

  test('names a wrong argument, and an address without a control plane', async () => {
    expect((await ask('wait', '--for', 'VirtualService')).code).toBe(2);
    expect((await ask('wait', '--for', 'vs/b/c', '--timeout', 'soon')).code).toBe(2);
    const none = await periplus('wait', '--for', 'vs/b/c', '--address', '127.0.0.1:1');
    expect([none.code, none.err]).toEqual([1, expect.stringMatching(/no control plane answers/)]);
  });
});

describe('--at with a running control plane', () => {
  test('answers from the past of its own journal', async () => {
    const before = await ask('proxy-config', 'route', 'productpage', '--name', '9080', '--at', 'head');
    expect(before.code).toBe(0);
    expect((await ask('proxy-status', '--at', 'head')).out).toMatch(/productpage-v1\.shop +Kubernetes +SENT \d+/);
    const early = await ask('proxy-config', 'route', 'productpage', '--at', '2');
    expect([early.code, early.err]).toEqual([
      1,
      expect.stringMatching(/no proxy productpage is connected at position 2/),
    ]);
    const never = await ask('proxy-config', 'route', 'productpage', '--at', 'tomorrow');
    expect(never.err).toMatch(/"tomorrow" is no position/);
  });
});
