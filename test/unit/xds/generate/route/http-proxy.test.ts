// The route configuration of the mesh's HTTP proxy: a client names host and port in each request, so it holds the
// services of all ports.

import { describe, expect, it } from 'vitest';
import { istio, Scene, service, sidecarNode } from './scene.ts';

const PROXY = 'http_proxy';

function scene(...objects: readonly Parameters<typeof istio>[3][]): Scene {
  const made = new Scene(objects);
  made.connect('client', sidecarNode('prod'));
  return made;
}
const ports = (...numbers: readonly number[]) => numbers.map(port => ({ name: `http-${port}`, port }));
const shop = (...numbers: readonly number[]) =>
  service('shop', 'prod', { clusterIP: '10.96.0.1', ports: [...ports(...numbers), { name: 'tcp', port: 9 }] });
const only = (port: number) => service('only', 'prod', { clusterIP: '10.96.0.2', ports: ports(port) });
const HOST = 'shop.prod.svc.cluster.local';
const virtualService = (hosts: readonly string[], to: string) =>
  istio('VirtualService', 'prod', 'v', { hosts, http: [{ name: 'v', route: [{ destination: { host: to } }] }] });

describe('the route configuration of the HTTP proxy', () => {
  it('has a virtual host for each HTTP port of a service, by port, with the routes of its VirtualService', () => {
    const made = scene(shop(8081, 8080), only(7000), virtualService(['shop'], 'only'));
    const found = (made.route('client', PROXY).virtualHosts ?? []).map(({ name, routes }) => [name, routes?.[0]?.name]);
    expect(found).toEqual([
      ['only.prod.svc.cluster.local:7000', 'default'],
      [`${HOST}:8080`, 'v'],
      [`${HOST}:8081`, 'v'],
      ['allow_any', 'allow_any'],
    ]);
  });

  it('has two services of one VirtualService under the ports of each', () => {
    const made = scene(shop(8080), only(8080), virtualService(['shop', 'only'], 'only'));
    const names = (made.route('client', PROXY).virtualHosts ?? []).map(({ name }) => name);
    expect(names).toEqual(['only.prod.svc.cluster.local:8080', `${HOST}:8080`, 'allow_any']);
  });

  it('sends to the only port of a destination that names none', () => {
    const made = scene(shop(8080), only(7000), virtualService(['shop'], 'only'));
    expect(made.routes('client', PROXY, `${HOST}:8080`)[0]?.route?.cluster).toBe(
      'outbound|7000||only.prod.svc.cluster.local',
    );
  });

  it('has no host of a VirtualService that is no service', () => {
    const made = scene(shop(8080), virtualService(['shop.example.com'], 'shop'));
    expect((made.route('client', PROXY).virtualHosts ?? []).map(({ name }) => name)).toEqual([
      `${HOST}:8080`,
      'allow_any',
    ]);
  });
});

describe('a service whose name has capital letters', () => {
  const entry = istio('ServiceEntry', 'prod', 'big', {
    hosts: ['Shop.example.com'],
    ports: [{ number: 8080, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
  });

  it('is called by small letters on its own port, and as it is written through the HTTP proxy', () => {
    const made = scene(entry);
    const names = (route: string) => (made.route('client', route).virtualHosts ?? []).map(({ name }) => name);
    expect(names('8080')).toContain('shop.example.com:8080');
    expect(names(PROXY)).toContain('Shop.example.com:8080');
  });

  it.each(['Shop.example.com', 'shop.example.com', '*.example.com'])(
    'has the routes of a VirtualService for %s',
    host => {
      const made = scene(entry, virtualService([host], 'only'));
      expect(made.routes('client', '8080', 'shop.example.com:8080')[0]?.name).toBe('v');
    },
  );
});

describe('wildcards of two VirtualServices', () => {
  it('that cover one service: the more specific one has it, whatever their order', () => {
    const entry = istio('ServiceEntry', 'prod', 'e', {
      hosts: ['x.b.example.com'],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'DNS',
    });
    const on = (name: string, host: string) =>
      istio('VirtualService', 'prod', name, {
        hosts: [host],
        http: [{ name, route: [{ destination: { host: name } }] }],
      });
    for (const [wide, narrow] of [
      ['a', 'z'],
      ['z', 'a'],
    ] as const) {
      const made = scene(entry, on(wide, '*.example.com'), on(narrow, '*.b.example.com'));
      expect(made.routes('client', '80', 'x.b.example.com:80')[0]?.name).toBe(narrow);
    }
  });
});
