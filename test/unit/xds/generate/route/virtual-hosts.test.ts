// Which virtual hosts a port of a sidecar has, and of which VirtualService each is.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, istio, Scene, service, sidecarNode } from './scene.ts';

const LATER = { creationTimestamp: '2026-02-01T00:00:00Z' };

const tcp = (port: number): JsonObject => ({ name: `tcp-${port}`, port });
const http = (port: number): JsonObject => ({ name: `http-${port}`, port });
const withPorts = (name: string, ...ports: readonly JsonObject[]): JsonObject =>
  service(name, 'prod', { clusterIP: '10.96.0.3', ports });
const entry = (name: string, host: string, number = 80): JsonObject =>
  istio('ServiceEntry', 'prod', name, {
    hosts: [host],
    ports: [{ number, name: 'http', protocol: 'HTTP' }],
    ...(host.startsWith('*') ? { resolution: 'NONE' } : { resolution: 'DNS' }),
  });
const virtualService = (name: string, hosts: readonly string[], meta: JsonObject = {}): JsonObject =>
  istio('VirtualService', 'prod', name, { hosts, http: [{ name, route: [{ destination: { host: 'x' } }] }] }, meta);

/** The virtual hosts of the route configuration, each with the name of its first route, without the catch-all. */
function hosts(route: string, ...objects: readonly JsonObject[]): readonly string[] {
  const scene = new Scene(objects);
  scene.connect('client', sidecarNode('prod'));
  const found = scene.route('client', route).virtualHosts ?? [];
  return found
    .filter(({ name }) => name !== 'allow_any')
    .map(({ name = '', routes }) => `${name.replace('.prod.svc.cluster.local', '')} ${routes?.[0]?.name}`);
}

describe('a port of a sidecar', () => {
  it('has the services that take HTTP on it, and no other ports of them', () => {
    const services = [withPorts('two', http(8080), http(8081)), withPorts('mixed', tcp(8080), http(8081))];
    expect(hosts('8080', ...services)).toEqual(['two:8080 default']);
    expect(hosts('8081', ...services)).toEqual(['mixed:8081 default', 'two:8081 default']);
  });

  it('has no host of its own for the alias of a service', () => {
    const alias = service('alias', 'prod', {
      type: 'ExternalName',
      externalName: 'shop.prod.svc.cluster.local',
      ports: [http(8080)],
    });
    const found = hosts('8080', alias, httpService('shop', 'prod', 8080, '10.96.0.1'));
    expect(found).toEqual(['shop:8080 default']);
  });

  it('has a VirtualService for those of its services alone that take HTTP on the port', () => {
    const services = [withPorts('web', http(8080)), withPorts('db', tcp(8080))];
    const made = virtualService('v', ['web', 'db', 'web.example.com']);
    expect(hosts('8080', ...services, made)).toEqual(['web.example.com:8080 v', 'web:8080 v']);
    expect(hosts('8080', ...services, virtualService('v', ['db', 'db.example.com']))).toEqual(['web:8080 default']);
  });

  it('other than 80 has no host that is no service, not even that of a wildcard', () => {
    const made = [withPorts('web', http(8080)), virtualService('v', ['a.example.com', '*.example.org'])];
    expect(hosts('8080', ...made)).toEqual(['web:8080 default']);
    expect(hosts('80', ...made)).toEqual(['*.example.org:80 v', 'a.example.com:80 v']);
  });

  it('80 has a host with a wildcard that covers no service there beside services that it does not cover', () => {
    const made = virtualService('v', ['*.example.org']);
    expect(hosts('80', entry('e', 'a.example.com'), made)).toEqual(['*.example.org:80 v', 'a.example.com:80 default']);
  });

  it('has of two VirtualServices with one wildcard the older for the services that it covers', () => {
    const made = [virtualService('a', ['*.example.com'], LATER), virtualService('b', ['*.example.com'])];
    expect(hosts('80', entry('e', 'x.example.com'), ...made)).toEqual(['x.example.com:80 b']);
  });

  it('gives a service that is named in full and covered by a wildcard to the VirtualService that names it', () => {
    const made = [virtualService('a', ['*.example.com']), virtualService('b', ['other.example.org', 'x.example.com'])];
    const found = hosts('8080', entry('e', 'x.example.com', 8080), entry('f', 'y.example.com', 8080), ...made);
    expect(found).toEqual(['other.example.org:8080 b', 'x.example.com:8080 b', 'y.example.com:8080 a']);
  });

  it('has hosts that are written in capital letters as services', () => {
    const made = [entry('e', 'shop.example.com', 8080), entry('f', 'cart.example.com', 8080)];
    const one = virtualService('v', ['SHOP.example.com']);
    const two = virtualService('v', ['Shop.example.com', 'CART.example.com']);
    expect(hosts('8080', ...made, one)).toEqual(['cart.example.com:8080 default', 'shop.example.com:8080 v']);
    expect(hosts('8080', ...made, two)).toEqual(['cart.example.com:8080 v', 'shop.example.com:8080 v']);
  });

  it('gives an address that two services share to the first by name, whichever is older', () => {
    const scene = new Scene([
      withPorts('b', http(8080)),
      service('a', 'prod', { clusterIP: '10.96.0.3', ports: [http(8080)] }, LATER),
    ]);
    scene.connect('client', sidecarNode('prod'));
    const domains = (name: string) => scene.host('client', '8080', `${name}.prod.svc.cluster.local:8080`).domains;
    expect(domains('a')).toContain('10.96.0.3');
    expect(domains('b')).not.toContain('10.96.0.3');
  });
});

describe('the HTTP proxy', () => {
  it('has every service of a VirtualService under each of its ports', () => {
    const made = virtualService('v', ['one', 'two']);
    expect(hosts('http_proxy', withPorts('one', http(1), http(2)), withPorts('two', http(2)), made)).toEqual([
      'one:1 v',
      'one:2 v',
      'two:2 v',
    ]);
  });

  it('has a host that is no service beside a service on port 80, whatever other ports that has, and no other', () => {
    const made = virtualService('v', ['one', 'one.example.com']);
    expect(hosts('http_proxy', withPorts('one', http(70), http(80)), made)).toEqual([
      'one.example.com:80 v',
      'one:70 v',
      'one:80 v',
    ]);
    expect(hosts('http_proxy', withPorts('one', http(70)), made)).toEqual(['one:70 v']);
  });
});

describe('a route of the Gateway API', () => {
  const route = (parent: JsonObject): JsonObject => ({
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'r', namespace: 'prod' },
    spec: { parentRefs: [parent], rules: [{ backendRefs: [{ name: 'web', port: 8080 }] }] },
  });
  const web = withPorts('web', http(8080));

  it('of a service is not on a port which the service does not have, not even on 80', () => {
    const made = [web, route({ group: '', kind: 'Service', name: 'web' })];
    expect(hosts('80', ...made)).toEqual([]);
    expect(hosts('8080', ...made)).not.toEqual(['web:8080 default']);
  });

  it('of a ServiceEntry with a wildcard does not apply to the services that the wildcard covers', () => {
    const parent = { group: 'networking.istio.io', kind: 'ServiceEntry', name: 'wide' };
    const made = [web, entry('wide', '*.example.com'), entry('x', 'x.example.com'), route(parent)];
    expect(hosts('80', ...made)).toEqual(['*.example.com:80 default', 'x.example.com:80 default']);
  });
});

describe('an egress listener of a Sidecar', () => {
  const socket = (name: string, host: string): JsonObject => ({
    port: { protocol: 'HTTP', name },
    bind: `unix:///tmp/${name}.sock`,
    hosts: [host],
  });
  const listener = (number: number): JsonObject => ({
    port: { number, protocol: 'HTTP', name: `p${number}` },
    hosts: ['./*'],
  });

  it('at a socket has its own services, not those of the first socket', () => {
    const egress = [socket('a', './one.prod.svc.cluster.local'), socket('b', './two.prod.svc.cluster.local')];
    const made = [withPorts('one', http(1)), withPorts('two', http(2)), istio('Sidecar', 'prod', 's', { egress })];
    expect(hosts('unix:///tmp/a.sock', ...made)).toEqual(['one:1 default']);
    expect(hosts('unix:///tmp/b.sock', ...made)).toEqual(['two:2 default']);
  });

  it('which does not exist, without one for all other ports, leaves the catch-all alone', () => {
    const made = [withPorts('one', http(1), http(2)), istio('Sidecar', 'prod', 's', { egress: [listener(1)] })];
    expect(hosts('1', ...made)).toEqual(['one:1 default']);
    expect(hosts('2', ...made)).toEqual([]);
    expect(hosts('http_proxy', ...made)).toEqual([]);
  });
});
