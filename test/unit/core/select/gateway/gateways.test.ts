import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { type MergedGateway, mergedGateway } from '../../../../../src/core/select/gateway/gateways.ts';
import { istio, routerNode, Scene, service } from '../../../xds/generate/route/scene.ts';

const server = (number: number, protocol: string, more: JsonObject = {}): JsonObject => ({
  port: { number, name: `${protocol.toLowerCase()}-${number}`, protocol },
  hosts: ['*'],
  ...more,
});
const tls: JsonObject = { mode: 'SIMPLE', credentialName: 'cert' };

function gateway(
  name: string,
  servers: readonly JsonObject[],
  spec: JsonObject = {},
  meta: JsonObject = {},
): JsonObject {
  return istio('Gateway', 'edge', name, { servers, selector: { istio: 'ingressgateway' }, ...spec }, meta);
}

function merged(objects: readonly JsonObject[], env: Readonly<Record<string, string>> = {}): MergedGateway {
  const scene = new Scene(objects, { env });
  scene.connect('gw', routerNode('edge'));
  return scene.tracker.get(scene.state, scene.state.proxies.get('gw')!, mergedGateway, '');
}

function groups(found: MergedGateway): unknown {
  return found.groups.map(group => [
    group.port,
    group.protocol,
    group.bind,
    group.servers.map(s => s.server.port?.name),
  ]);
}

describe('the Gateways that apply to a proxy', () => {
  it('have a matching selector or none', () => {
    const found = merged([
      gateway('a', [server(80, 'HTTP')]),
      gateway('b', [server(81, 'HTTP')], { selector: {} }),
      gateway('c', [server(82, 'HTTP')], { selector: { istio: 'other' } }),
    ]);
    expect(found.groups.map(group => group.port)).toEqual([80, 81]);
  });

  it('may be in other namespaces, unless scoped', () => {
    const far = { ...gateway('a', [server(80, 'HTTP')]), metadata: { name: 'a', namespace: 'far' } };
    expect(merged([far]).groups).toHaveLength(1);
    const near = gateway('b', [server(81, 'HTTP')]);
    const scoped = merged([far, near], { PILOT_SCOPE_GATEWAY_TO_NAMESPACE: 'true' });
    expect(scoped.groups.map(group => group.port)).toEqual([81]);
  });
});

describe('ports of a Gateway', () => {
  const target = (ports: readonly JsonObject[], labels: JsonObject = {}): JsonObject =>
    service('gw', 'edge', { clusterIP: '10.96.0.9', selector: { istio: 'ingressgateway' }, ports }, { labels });

  it('are resolved through the services of the proxy, else used as they are', () => {
    const found = merged([
      target([{ name: 'http', port: 80, targetPort: 8080 }]),
      gateway('a', [server(80, 'HTTP'), server(90, 'HTTP')]),
    ]);
    expect(Object.keys(found.routes).sort()).toEqual(['http.8080', 'http.90']);
  });

  it('are used as they are where the service is annotated so', () => {
    const label = { 'experimental.istio.io/disable-gateway-port-translation': 'true' };
    const found = merged([
      target([{ name: 'http', port: 80, targetPort: 8080 }], label),
      gateway('a', [server(80, 'HTTP')]),
    ]);
    expect(Object.keys(found.routes)).toEqual(['http.80']);
  });
});

describe('a Gateway of chosen Services', () => {
  const own = (name: string, ports: readonly JsonObject[], namespace = 'edge'): JsonObject =>
    service(name, namespace, { clusterIP: '10.96.0.9', selector: { istio: 'ingressgateway' }, ports });
  const of = (services: string, more: JsonObject = {}): JsonObject =>
    gateway(
      'a',
      [server(80, 'HTTP'), server(90, 'HTTP')],
      {},
      {
        annotations: { 'internal.istio.io/gateway-service': services, ...more },
      },
    );
  const routes = (...objects: readonly JsonObject[]) => Object.keys(merged(objects).routes).sort();
  const EDGE = 'gw.edge.svc.cluster.local';
  const ports = (targetPort: number): readonly JsonObject[] => [{ name: 'http', port: 80, targetPort }];

  it('is for their proxies, at the ports that they have', () => {
    expect(routes(own('gw', ports(8080)), of(EDGE))).toEqual(['http.8080']);
    expect(routes(own('gw', ports(8080)), of('other.edge.svc.cluster.local'))).toEqual([]);
  });

  it('has a TLS server at each port that one of them leads to', () => {
    const two = 'gw.edge.svc.cluster.local,more.edge.svc.cluster.local';
    const annotations = { 'internal.istio.io/gateway-service': two };
    const secure = gateway('a', [server(80, 'HTTPS', { tls })], {}, { annotations });
    const found = merged([own('gw', ports(8080)), own('more', ports(8081)), secure]);
    expect(found.groups.map(({ port }) => port)).toEqual([8080, 8081]);
    expect(found.refused).toEqual([]);
  });

  it('has each port that one of them leads to, once', () => {
    const two = 'gw.edge.svc.cluster.local,more.edge.svc.cluster.local';
    expect(routes(own('gw', ports(8080)), own('more', ports(8081)), of(two))).toEqual(['http.8080', 'http.8081']);
    expect(routes(own('gw', ports(8080)), own('more', ports(8080)), of(two))).toEqual(['http.8080']);
  });

  it('leads to Services of its own namespace alone', () => {
    const annotations = { 'internal.istio.io/gateway-service': EDGE };
    const far = { ...gateway('a', [server(80, 'HTTP')]), metadata: { name: 'a', namespace: 'far', annotations } };
    expect(routes(own('gw', ports(8080)), far)).toEqual([]);
  });
});

describe('servers on one port', () => {
  it('form one group for HTTP, the oldest Gateway first', () => {
    const found = merged([
      gateway('a', [server(80, 'HTTP2')], {}, { creationTimestamp: '2026-01-02T00:00:00Z' }),
      gateway('b', [server(80, 'HTTP')], {}, { creationTimestamp: '2026-01-01T00:00:00Z' }),
    ]);
    expect(groups(found)).toEqual([[80, 'HTTP', '', ['http-80', 'http2-80']]]);
    expect(found.routes['http.80']?.map(s => s.gatewayName)).toEqual(['edge/b', 'edge/a']);
  });

  it('form separate groups for different binds', () => {
    const found = merged([gateway('a', [server(80, 'HTTP'), server(80, 'TCP', { bind: '10.0.0.1' })])]);
    expect(groups(found)).toEqual([
      [80, 'HTTP', '', ['http-80']],
      [80, 'TCP', '10.0.0.1', ['tcp-80']],
    ]);
  });

  it('are refused for TCP, or for TLS beside plain HTTP', () => {
    const found = merged([gateway('a', [server(80, 'HTTP'), server(80, 'TCP'), server(80, 'HTTPS', { tls })])]);
    expect(groups(found)).toEqual([[80, 'HTTP', '', ['http-80']]]);
    const beside = 'port 80 already serves HTTP, which cannot be merged with';
    expect(found.refused).toEqual([
      { gateway: 'edge/a', server: 1, port: 80, message: `${beside} TCP` },
      { gateway: 'edge/a', server: 2, port: 80, message: `${beside} HTTPS` },
    ]);
    expect(Object.keys(found.routes)).toEqual(['http.80']);
  });

  it('are refused for HTTP after TCP at one address, also where another address has the port first', () => {
    const bind = '10.0.0.1';
    const found = merged([
      gateway('a', [
        server(80, 'HTTP'),
        server(80, 'TCP', { bind, port: { number: 80, name: 'tcp', protocol: 'TCP' } }),
        server(80, 'HTTP', { bind, port: { number: 80, name: 'late', protocol: 'HTTP' } }),
      ]),
    ]);
    expect(groups(found)).toEqual([
      [80, 'HTTP', '', ['http-80']],
      [80, 'TCP', bind, ['tcp']],
    ]);
    expect(found.refused.map(({ message }) => message)).toEqual([
      'port 80 already serves TCP, which cannot be merged with HTTP',
    ]);
    expect(Object.keys(found.routes)).toEqual(['http.80']);
  });

  it('may be several for TLS at another address than one for HTTP', () => {
    const at = (name: string) =>
      server(80, 'HTTPS', {
        tls,
        hosts: [`${name}.example.com`],
        bind: '10.0.0.1',
        port: { number: 80, name, protocol: 'HTTPS' },
      });
    const found = merged([gateway('a', [server(80, 'HTTP'), at('one'), at('two')])]);
    expect(groups(found)).toEqual([
      [80, 'HTTP', '', ['http-80']],
      [80, 'HTTPS', '10.0.0.1', ['one', 'two']],
    ]);
    expect(found.refused).toEqual([]);
  });

  it('have one host twice at different ports', () => {
    const found = merged([gateway('a', [server(443, 'HTTPS', { tls }), server(8443, 'HTTPS', { tls })])]);
    expect(found.refused).toEqual([]);
    expect(found.groups).toHaveLength(2);
  });

  it('lead on by SNI alone if one of them says so', () => {
    const passes = server(15_443, 'TLS', { tls: { mode: 'AUTO_PASSTHROUGH' } });
    expect(merged([gateway('a', [passes])]).autoPassthrough).toBe(true);
    expect(merged([gateway('a', [server(443, 'HTTPS', { tls })])]).autoPassthrough).toBe(false);
    // Its host is taken, so it does not count.
    const late = gateway('b', [server(443, 'TLS', { tls: { mode: 'AUTO_PASSTHROUGH' } })]);
    expect(merged([gateway('a', [server(443, 'HTTPS', { tls })]), late]).autoPassthrough).toBe(false);
  });

  it('are distinguished by their hosts for TLS, and refused where they cannot be', () => {
    const found = merged([
      gateway('a', [
        server(443, 'HTTPS', { tls, hosts: ['a.example.com'], port: { number: 443, name: 'one', protocol: 'HTTPS' } }),
        server(443, 'HTTPS', { tls, hosts: ['b.example.com'], port: { number: 443, name: 'two', protocol: 'HTTPS' } }),
      ]),
      gateway('b', [server(443, 'HTTPS', { tls, hosts: ['b.example.com'] })]),
    ]);
    expect(groups(found)).toEqual([[443, 'HTTPS', '', ['one', 'two']]]);
    expect(Object.keys(found.routes)).toEqual(['https.443.one.a.edge', 'https.443.two.a.edge']);
    expect(found.refused.map(refused => refused.gateway)).toEqual(['edge/b']);
  });

  it('are two groups for TLS and, after it, TCP, and TLS that comes then is refused', () => {
    const named = (host: string, name: string) =>
      server(9443, 'TLS', { tls, hosts: [host], port: { number: 9443, name, protocol: 'TLS' } });
    const found = merged([
      gateway('a', [named('a.example.com', 'one'), server(9443, 'TCP'), named('b.example.com', 'two')]),
    ]);
    expect(groups(found)).toEqual([
      [9443, 'TLS', '', ['one']],
      [9443, 'TCP', '', ['tcp-9443']],
    ]);
    expect(found.refused.map(({ server: index, message }) => [index, message])).toEqual([
      [2, 'port 9443 already serves TCP, which cannot be merged with TLS'],
    ]);
  });

  it('may have one host twice at different addresses, and report which hosts clash at one', () => {
    const at = (name: string, bind: string, hosts = ['a.example.com']) =>
      server(443, 'HTTPS', { tls, hosts, bind, port: { number: 443, name, protocol: 'HTTPS' } });
    expect(merged([gateway('a', [at('one', '10.0.0.1'), at('two', '10.0.0.2')])]).refused).toEqual([]);
    const both = ['a.example.com', 'b.example.com'];
    const twice = merged([gateway('a', [at('one', '', both), at('two', '', both)])]);
    expect(twice.refused.map(({ message }) => message)).toEqual([
      'another TLS server on port 443 has the same hosts: a.example.com, b.example.com',
    ]);
  });

  it('are offered over QUIC where a Service has the port for UDP, too, and the flag says so', () => {
    const both = ['TCP', 'UDP'].map(protocol => ({
      name: `p-${protocol.toLowerCase()}`,
      port: 443,
      targetPort: 8443,
      protocol,
    }));
    const own = (ports: readonly JsonObject[]) =>
      service('gw', 'edge', { clusterIP: '10.96.0.9', selector: { istio: 'ingressgateway' }, ports });
    const http3 = (ports: readonly JsonObject[], value: string): readonly boolean[] =>
      Object.values(
        merged([own(ports), gateway('a', [server(443, 'HTTPS', { tls })])], { PILOT_ENABLE_QUIC_LISTENERS: value })
          .routes,
      )
        .flat()
        .map(one => one.http3);
    expect(http3(both, 'true')).toEqual([true]);
    expect(http3(both, 'false')).toEqual([false]);
    expect(http3(both.slice(0, 1), 'true')).toEqual([false]);
  });

  it('are plain HTTP if they redirect to TLS', () => {
    const [group] = merged([gateway('a', [server(80, 'HTTP', { tls: { httpsRedirect: true } })])]).groups;
    expect(group?.servers[0]?.tls).toBe(false);
    expect(group?.routeName).toBe('http.80');
  });
});

describe('hosts of a server', () => {
  it('are normalized', () => {
    const hosts = ['./a.example.com', '*/b.example.com', 'far/c.example.com'];
    const [group] = merged([gateway('a', [server(443, 'TLS', { tls: { mode: 'PASSTHROUGH' }, hosts })])]).groups;
    expect(group?.servers[0]?.server.hosts).toEqual(['edge/a.example.com', 'b.example.com', 'far/c.example.com']);
    expect(group?.servers[0]?.sniHosts).toEqual(['a.example.com', 'b.example.com', 'c.example.com']);
    expect(group?.servers[0]?.routeName).toBe('');
  });

  it('may be of any namespace and name', () => {
    const [group] = merged([gateway('a', [server(80, 'HTTP', { hosts: ['*/*', 'a.example.com'] })])]).groups;
    expect(group?.servers[0]?.server.hosts).toEqual(['*']);
  });
});

describe('the identity of a server group', () => {
  it('is kept when another Gateway changes', () => {
    const scene = new Scene([gateway('a', [server(80, 'HTTP')]), gateway('b', [server(81, 'HTTP')])]);
    scene.connect('gw', routerNode('edge'));
    const ask = (): MergedGateway => scene.tracker.get(scene.state, scene.state.proxies.get('gw')!, mergedGateway, '');
    const before = ask();
    scene.put(gateway('b', [server(82, 'HTTP')]));
    const after = ask();
    expect(after.groups[0]).toBe(before.groups[0]);
    expect(after.groups[1]).not.toBe(before.groups[1]);
    scene.put(
      istio('VirtualService', 'edge', 'v', {
        hosts: ['x.example.com'],
        http: [{ route: [{ destination: { host: 'x' } }] }],
      }),
    );
    expect(ask()).toBe(after);
  });
});
