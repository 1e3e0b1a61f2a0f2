import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, istio, routerNode, Scene, service } from './scene.ts';

const http = (number: number, hosts: readonly string[], more: JsonObject = {}): JsonObject => ({
  port: { number, name: `http-${number}`, protocol: 'HTTP' },
  hosts,
  ...more,
});
const gateway = (name: string, servers: readonly JsonObject[], namespace = 'edge'): JsonObject =>
  istio('Gateway', namespace, name, { selector: { istio: 'ingressgateway' }, servers });

function virtualService(
  name: string,
  hosts: readonly string[],
  rules: readonly JsonObject[],
  meta: JsonObject = {},
  gateways = ['edge/gw'],
): JsonObject {
  return istio('VirtualService', 'prod', name, { hosts, gateways, http: rules }, meta);
}
const to = (host: string, match?: JsonObject): JsonObject => ({
  ...(match === undefined ? {} : { match: [match] }),
  route: [{ destination: { host } }],
});

function scene(...objects: readonly JsonObject[]): Scene {
  const made = new Scene([httpService('shop', 'prod', 8080, '10.96.0.1'), ...objects]);
  made.connect('gw', routerNode('edge'));
  return made;
}

function domains(made: Scene, route: string): unknown {
  return made.route('gw', route).virtualHosts?.map(host => [host.name, host.domains]);
}

describe('the routes of a gateway', () => {
  it('serve the hosts that server and VirtualService share, at the port of a single-port service', () => {
    const made = scene(
      gateway('gw', [http(80, ['*.example.com'])]),
      virtualService('v', ['a.example.com', 'b.example.org'], [to('shop')]),
    );
    expect(domains(made, 'http.80')).toEqual([['a.example.com:80', ['a.example.com']]]);
    expect(made.routes('gw', 'http.80', 'a.example.com:80')[0]?.route?.cluster).toBe(
      'outbound|8080||shop.prod.svc.cluster.local',
    );
    expect(made.route('gw', 'http.80').ignorePortInHostMatching).toBe(true);
  });

  it('use the narrower host of the two', () => {
    const made = scene(gateway('gw', [http(80, ['a.example.com'])]), virtualService('v', ['*'], [to('shop')]));
    expect(domains(made, 'http.80')).toEqual([['a.example.com:80', ['a.example.com']]]);
  });

  it('respect the namespace of a host', () => {
    const made = scene(
      gateway('gw', [http(80, ['prod/a.example.com', 'far/*'])]),
      virtualService('v', ['a.example.com', 'b.example.com'], [to('shop')]),
    );
    expect(domains(made, 'http.80')).toEqual([['a.example.com:80', ['a.example.com']]]);
  });

  it('exist for a port without hosts, so that its listener does not wait', () => {
    const made = scene(gateway('gw', [http(80, ['*'])]));
    expect(made.route('gw', 'http.80').virtualHosts).toEqual([{ name: 'blackhole:80', domains: ['*'] }]);
    expect(made.route('gw', 'http.81')).toEqual({ name: 'http.81', validateClusters: { value: false } });
  });

  it('merge VirtualServices on one host, the oldest first, with catch-all matches at the end', () => {
    const older = { creationTimestamp: '2026-01-01T00:00:00Z' };
    const younger = { creationTimestamp: '2026-01-02T00:00:00Z' };
    const made = scene(
      gateway('gw', [http(80, ['*'])]),
      virtualService('a-younger', ['a.example.com'], [to('new', { uri: { prefix: '/new' } })], younger),
      virtualService('b-older', ['a.example.com'], [to('old', { uri: { prefix: '/old' } }), to('rest')], older),
    );
    const clusters = made
      .routes('gw', 'http.80', 'a.example.com:80')
      .map(route => route.route?.cluster?.split('|')[3]?.split('.')[0]);
    expect(clusters).toEqual(['old', 'new', 'rest']);
  });

  it('have one virtual host for the hosts of a VirtualService, unless switched off', () => {
    const objects = [
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      gateway('gw', [http(80, ['*'])]),
      virtualService('v', ['b.example.com', 'a.example.com', 'www.example.com'], [to('shop')]),
      virtualService('w', ['c.example.com'], [to('shop')]),
    ];
    const made = scene(...objects);
    expect(domains(made, 'http.80')).toEqual([
      ['c.example.com:80', ['c.example.com']],
      ['www.example.com:80', ['www.example.com', 'a.example.com', 'b.example.com']],
    ]);
    const apart = new Scene(objects, { env: { PILOT_ENABLE_ROUTE_COLLAPSE_OPTIMIZATION: 'false' } });
    apart.connect('gw', routerNode('edge'));
    expect(apart.route('gw', 'http.80').virtualHosts).toHaveLength(4);
  });

  it('stay apart where a host between them redirects to TLS and they do not, or the other way round', () => {
    const made = scene(
      gateway('gw', [
        http(80, ['a.example.com', 'c.example.com', 'd.example.com'], { tls: { httpsRedirect: true } }),
        http(80, ['b.example.com'], { port: { number: 80, name: 'plain', protocol: 'HTTP' } }),
      ]),
      virtualService('v', ['*.example.com'], [to('shop')]),
    );
    expect(domains(made, 'http.80')).toEqual([
      ['a.example.com:80', ['a.example.com']],
      ['b.example.com:80', ['b.example.com']],
      ['c.example.com:80', ['c.example.com', 'd.example.com']],
    ]);
  });

  it('redirect to TLS, also for hosts without VirtualService', () => {
    const tls = { httpsRedirect: true };
    const made = scene(
      gateway('gw', [http(80, ['a.example.com', 'prod/b.example.com'], { tls })]),
      virtualService('v', ['a.example.com'], [to('shop')]),
    );
    expect(made.host('gw', 'http.80', 'a.example.com:80').requireTls).toBe(2);
    // With its namespace, as Istio sends it.
    const bare = made.host('gw', 'http.80', 'prod/b.example.com:80');
    expect([bare.requireTls, bare.routes]).toEqual([2, undefined]);
  });

  it('redirect to TLS a host that a later server redirects, if only by a wildcard', () => {
    const made = scene(
      gateway('gw', [
        http(80, ['a.example.com'], { port: { number: 80, name: 'plain', protocol: 'HTTP' } }),
        http(80, ['*.example.com'], { tls: { httpsRedirect: true } }),
      ]),
      virtualService('v', ['a.example.com'], [to('shop')]),
    );
    expect(made.host('gw', 'http.80', 'a.example.com:80').requireTls).toBe(2);
  });

  it('stay apart where a second VirtualService adds routes to one of the hosts', () => {
    const made = scene(
      gateway('gw', [http(80, ['*'])]),
      virtualService('v', ['a.example.com', 'b.example.com', 'c.example.com'], [to('shop', { uri: { prefix: '/v' } })]),
      virtualService('w', ['b.example.com'], [to('shop', { uri: { prefix: '/w' } })]),
      virtualService('x', ['c.example.com'], [to('shop', { uri: { prefix: '/x' } })]),
    );
    const paths = (host: string) =>
      made.routes('gw', 'http.80', `${host}.example.com:80`).map(({ match }) => match?.prefix);
    expect(domains(made, 'http.80')).toEqual(
      ['a', 'b', 'c'].map(host => [`${host}.example.com:80`, [`${host}.example.com`]]),
    );
    expect([paths('b'), paths('c')]).toEqual([
      ['/v', '/w'],
      ['/v', '/x'],
    ]);
  });

  it('have all VirtualServices of a Gateway, however many there are', () => {
    const hosts = Array.from({ length: 100 }, (_, i) => `h${i}.example.com`);
    const many = hosts.map((host, i) => virtualService(`v${i}`, [host], [to('shop')]));
    const made = scene(gateway('gw', [http(80, hosts)]), ...many, virtualService('w', hosts, [to('shop')]));
    const found = made.route('gw', 'http.80').virtualHosts ?? [];
    expect(found.map(({ routes }) => routes?.length)).toEqual(hosts.map(() => 2));
    expect(new Set(found.flatMap(host => host.domains))).toEqual(new Set(hosts));
  });

  it('are built once for all servers of a route configuration', () => {
    const made = twoPorts(
      [http(80, ['a.example.com']), http(81, ['b.example.com'])],
      virtualService('v', ['*.example.com'], [to('shop', { port: 80 }), to('other', { port: 81 })]),
    );
    expect(domains(made, 'http.8080')).toEqual([['a.example.com:80', ['a.example.com', 'b.example.com']]]);
    expect(made.routes('gw', 'http.8080', 'a.example.com:80')).toHaveLength(1);
  });

  it('resolve destinations beside the VirtualService first', () => {
    const two = service('two', 'prod', {
      clusterIP: '10.96.0.3',
      ports: [
        { name: 'http', port: 1 },
        { name: 'http-b', port: 2 },
      ],
    });
    const made = scene(two, gateway('gw', [http(80, ['*'])]), virtualService('v', ['a.example.com'], [to('two')]));
    expect(made.routes('gw', 'http.80', 'a.example.com:80')[0]?.route?.cluster).toBe(
      'outbound|80||two.prod.svc.cluster.local',
    );
  });

  it('are built at the first server where a rule applies', () => {
    const made = twoPorts(
      [http(80, ['a.example.com']), http(81, ['b.example.com'])],
      virtualService('v', ['*.example.com'], [to('shop', { port: 81 })]),
    );
    expect(domains(made, 'http.8080')).toEqual([['b.example.com:81', ['b.example.com']]]);
  });

  it('have the host as it is written for a domain, an IPv6 address without brackets', () => {
    const made = scene(gateway('gw', [http(80, ['*'])]), virtualService('v', ['2001:db8::1'], [to('shop')]));
    expect(domains(made, 'http.80')).toEqual([['[2001:db8::1]:80', ['2001:db8::1']]]);
  });

  it('lead to the Kubernetes service of the namespace rather than to an older ServiceEntry of its host', () => {
    const older = { creationTimestamp: '2026-01-01T00:00:00Z' };
    const entry = istio(
      'ServiceEntry',
      'prod',
      'late',
      {
        hosts: ['late.prod.svc.cluster.local'],
        resolution: 'STATIC',
        ports: [
          { number: 1, name: 'http-1', protocol: 'HTTP' },
          { number: 2, name: 'http-2', protocol: 'HTTP' },
        ],
      },
      older,
    );
    const younger = { creationTimestamp: '2026-01-02T00:00:00Z' };
    const late = service('late', 'prod', { clusterIP: '10.96.0.4', ports: [{ name: 'http', port: 8080 }] }, younger);
    const route = virtualService('v', ['a.example.com'], [to('late')]);
    const made = scene(entry, late, gateway('gw', [http(80, ['*'])]), route);
    expect(made.routes('gw', 'http.80', 'a.example.com:80')[0]?.route?.cluster).toBe(
      'outbound|8080||late.prod.svc.cluster.local',
    );
  });

  it('of an Ingress have a host without a dot completed, as in every VirtualService', () => {
    const backend = { service: { name: 'shop', port: { number: 8080 } } };
    const made = scene({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name: 'web', namespace: 'prod', annotations: { 'kubernetes.io/ingress.class': 'istio' } },
      spec: { rules: [{ host: 'localhost', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    });
    expect(domains(made, 'http.80')).toEqual([
      ['localhost.prod.svc.cluster.local:80', ['localhost.prod.svc.cluster.local']],
    ]);
  });
});

/** A router whose service leads ports 80 and 81 to one port, 8080. */
function twoPorts(servers: readonly JsonObject[], ...objects: readonly JsonObject[]): Scene {
  const target = service('gw', 'edge', {
    clusterIP: '10.96.0.9',
    selector: { istio: 'ingressgateway' },
    ports: [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'alt', port: 81, targetPort: 8080 },
    ],
  });
  return scene(target, gateway('gw', servers), ...objects);
}
