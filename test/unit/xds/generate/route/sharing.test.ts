// What is made anew when something changes, and what is one object for many proxies: encoding and pushing go by
// identity.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, istio, routerNode, Scene, sidecarNode } from './scene.ts';

const SERVICES = 30;
const nameOf = (index: number): string => `s${String(index).padStart(2, '0')}`;
const hostOf = (index: number): string => `${nameOf(index)}.prod.svc.cluster.local:8080`;

function virtualService(index: number, timeout: string): JsonObject {
  const http = [{ timeout, route: [{ destination: { host: nameOf(index) } }] }];
  return istio('VirtualService', 'prod', nameOf(index), { hosts: [nameOf(index)], http });
}

function mesh(): Scene {
  const scene = new Scene([]);
  for (let i = 0; i < SERVICES; i++) {
    scene.put(httpService(nameOf(i), 'prod', 8080, `10.96.0.${i + 1}`));
    if (i % 2 === 0) scene.put(virtualService(i, '1s'));
  }
  scene.connect('client', sidecarNode('prod', { LABELS: { app: 'one' }, INSTANCE_IPS: '10.1.0.1' }));
  return scene;
}

describe('sharing of routes', () => {
  it('rebuilds only the virtual host of the VirtualService that changed', () => {
    const scene = mesh();
    const before = new Map(scene.route('client', '8080').virtualHosts?.map(host => [host.name, host]));
    const generated = scene.tracker.stats.generated;
    scene.put(virtualService(4, '2s'));
    const after = scene.route('client', '8080').virtualHosts ?? [];
    expect(after).toHaveLength(SERVICES + 1);
    const changed = after.filter(host => before.get(host.name) !== host).map(host => host.name);
    expect(changed).toEqual([hostOf(4)]);
    // What the listener sees, what its routes are made from, the part that it is, the parts of its port, its routes, its
    // virtual host, and the route configuration around.
    expect(scene.tracker.stats.generated - generated).toBe(7);
  });

  it('keeps the resource when a VirtualService of other hosts changes, and for a change without effect', () => {
    const scene = mesh();
    const before = scene.resource('client', '8080');
    scene.put(
      istio('DestinationRule', 'prod', 'pool', {
        host: nameOf(1),
        trafficPolicy: { loadBalancer: { simple: 'RANDOM' } },
      }),
    );
    scene.put(
      istio('Gateway', 'prod', 'gw', {
        selector: { app: 'gw' },
        servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
      }),
    );
    expect(scene.resource('client', '8080')).toBe(before);
  });

  it('keeps the resource with its problems when the same problems are found again', () => {
    const scene = mesh();
    scene.put(
      istio('VirtualService', 'prod', 'z-loser', {
        hosts: [nameOf(2)],
        http: [{ route: [{ destination: { host: 'x' } }] }],
      }),
    );
    const before = scene.resource('client', '8080');
    expect(before.problems).toHaveLength(1);
    scene.put(httpService('elsewhere', 'prod', 9999, '10.96.9.9'));
    expect(scene.resource('client', '8080')).toBe(before);
  });

  it('gives proxies that differ only in irrelevant fields the identical resource', () => {
    const scene = mesh();
    scene.connect('other', sidecarNode('prod', { LABELS: { app: 'two' }, INSTANCE_IPS: '10.1.0.2' }));
    expect(scene.resource('other', '8080')).toBe(scene.resource('client', '8080'));
  });

  it('builds a new resource only for proxies that a source label distinguishes', () => {
    const scene = mesh();
    const http = [
      { match: [{ sourceLabels: { app: 'two' } }], route: [{ destination: { host: 'canary' } }] },
      { route: [{ destination: { host: nameOf(0) } }] },
    ];
    scene.put(istio('VirtualService', 'prod', nameOf(0), { hosts: [nameOf(0)], http }));
    scene.connect('other', sidecarNode('prod', { LABELS: { app: 'two' }, INSTANCE_IPS: '10.1.0.2' }));
    const [mine, others] = [scene.route('client', '8080'), scene.route('other', '8080')];
    const differing = mine.virtualHosts?.filter((host, i) => host !== others.virtualHosts?.[i]).map(host => host.name);
    expect(differing).toEqual([hostOf(0)]);
  });

  it('spans the gateways of two namespaces', () => {
    const scene = new Scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('Gateway', 'prod', 'gw', {
        servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
      }),
      istio('VirtualService', 'prod', 'v', {
        hosts: ['shop.example.com'],
        gateways: ['gw'],
        http: [{ route: [{ destination: { host: 'shop' } }] }],
      }),
    ]);
    scene.connect('a', routerNode('edge'));
    scene.connect('b', routerNode('inner', { istio: 'other' }));
    expect(scene.resource('a', 'http.80')).toBe(scene.resource('b', 'http.80'));
    expect(scene.host('a', 'http.80', 'shop.example.com:80').routes).toHaveLength(1);
  });
});
