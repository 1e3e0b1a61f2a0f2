import { describe, expect, it } from 'vitest';
import { httpService, istio, Scene, type SceneOptions, service, sidecarNode } from './scene.ts';

const RETRY_ON = 'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';

function scene(objects: readonly Parameters<typeof istio>[3][], options: SceneOptions = {}): Scene {
  const made = new Scene(objects, options);
  made.connect('client', sidecarNode('prod'));
  return made;
}

function hostNames(made: Scene, route: string): readonly string[] {
  return (made.route('client', route).virtualHosts ?? []).map(host => host.name ?? '');
}

describe('a service without VirtualService', () => {
  it('has the default route, and its names as seen from its own namespace', () => {
    const made = scene([httpService('shop', 'prod', 8080, '10.96.0.1')]);
    const host = made.host('client', '8080', 'shop.prod.svc.cluster.local:8080');
    expect(host.domains).toEqual([
      'shop.prod.svc.cluster.local',
      'shop.prod.svc.cluster.local.',
      'shop',
      'shop.prod.svc',
      'shop.prod',
      '10.96.0.1',
    ]);
    expect(host.includeRequestAttemptCount).toBe(true);
    const [route, ...others] = host.routes ?? [];
    expect(others).toEqual([]);
    expect(route).toMatchObject({
      name: 'default',
      match: { prefix: '/' },
      decorator: { operation: 'shop.prod.svc.cluster.local:8080/*' },
      route: {
        cluster: 'outbound|8080||shop.prod.svc.cluster.local',
        timeout: { seconds: 0, nanos: 0 },
        retryPolicy: { retryOn: RETRY_ON, numRetries: { value: 2 }, hostSelectionRetryMaxAttempts: 5 },
      },
    });
    expect(route?.metadata).toBeUndefined();
  });

  it('has other short names in another namespace', () => {
    const made = scene([httpService('shop', 'far', 8080, '10.96.0.1')]);
    expect(made.host('client', '8080', 'shop.far.svc.cluster.local:8080').domains).toEqual([
      'shop.far.svc.cluster.local',
      'shop.far.svc.cluster.local.',
      'shop.far',
      'shop.far.svc',
      '10.96.0.1',
    ]);
  });

  it('is also served by the names of its pods if it is headless, and has no address', () => {
    const made = scene([httpService('shop', 'prod', 8080, 'None')]);
    const domains = made.host('client', '8080', 'shop.prod.svc.cluster.local:8080').domains ?? [];
    expect(domains).toHaveLength(10);
    expect(domains.slice(5)).toEqual(domains.slice(0, 5).map(domain => `*.${domain}`));
  });

  it('is absent from the route of a port that is TCP or that it does not have', () => {
    const tcp = service('db', 'prod', { clusterIP: '10.96.0.2', ports: [{ name: 'tcp', port: 8080 }] });
    expect(hostNames(scene([tcp]), '8080')).toEqual(['allow_any']);
    expect(hostNames(scene([httpService('shop', 'prod', 80, '10.96.0.1')]), '8080')).toEqual(['allow_any']);
  });

  it('uses the hash of its DestinationRule, and retries on other hosts all the same', () => {
    const by = (httpHeaderName: string): Parameters<typeof istio>[3] => ({
      loadBalancer: { consistentHash: { httpHeaderName } },
    });
    const routeWith = (trafficPolicy: Parameters<typeof istio>[3]): unknown => {
      const rule = istio('DestinationRule', 'prod', 'shop', { host: 'shop', trafficPolicy });
      const made = scene([httpService('shop', 'prod', 8080, '10.96.0.1'), rule]);
      const [route] = made.routes('client', '8080', 'shop.prod.svc.cluster.local:8080');
      expect(route?.route?.retryPolicy?.retryHostPredicate).toHaveLength(1);
      return route?.route?.hashPolicy;
    };
    const ofPort = { port: { number: 8080 }, ...by('port') };
    expect(routeWith(by('top'))).toEqual([{ header: { headerName: 'top' } }]);
    expect(routeWith({ ...by('top'), portLevelSettings: [ofPort] })).toEqual([{ header: { headerName: 'port' } }]);
  });

  it('has the retries of the mesh', () => {
    const mesh = { defaultHttpRetryPolicy: { attempts: 0 } };
    const made = scene([httpService('shop', 'prod', 8080, '10.96.0.1')], { mesh });
    const [route] = made.routes('client', '8080', 'shop.prod.svc.cluster.local:8080');
    expect(route?.route?.retryPolicy).toBeUndefined();
  });
});

describe('a request for an unknown host', () => {
  it('passes through, or is blocked with REGISTRY_ONLY', () => {
    const open = scene([]).host('client', '80', 'allow_any');
    expect(open.routes?.[0]?.route?.cluster).toBe('PassthroughCluster');
    const closed = scene([], { mesh: { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } } }).host(
      'client',
      '80',
      'block_all',
    );
    expect(closed.domains).toEqual(['*']);
    expect(closed.routes?.[0]?.directResponse).toEqual({ status: 502 });
  });

  it('is sent to the egress proxy of a Sidecar', () => {
    const egressProxy = { host: 'egress.prod.svc.cluster.local', subset: 'v1', port: { number: 443 } };
    const sidecar = istio('Sidecar', 'prod', 'default', { outboundTrafficPolicy: { mode: 'ALLOW_ANY', egressProxy } });
    const host = scene([sidecar]).host('client', '80', 'allow_any');
    expect(host.routes?.[0]?.route?.cluster).toBe('outbound|443|v1|egress.prod.svc.cluster.local');
  });
});

describe('a VirtualService on a sidecar', () => {
  const rule = (cluster: string): Parameters<typeof istio>[3] => ({
    http: [{ route: [{ destination: { host: cluster } }] }],
  });

  it('adds its hosts to the route of port 80 and of every port that a service among them has', () => {
    const made = scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('VirtualService', 'prod', 'v', { hosts: ['shop', 'shop.example.com'], ...rule('shop') }),
    ]);
    expect(hostNames(made, '8080')).toEqual(['shop.example.com:8080', 'shop.prod.svc.cluster.local:8080', 'allow_any']);
    expect(hostNames(made, '80')).toEqual(['shop.example.com:80', 'shop.prod.svc.cluster.local:80', 'allow_any']);
    expect(made.host('client', '80', 'shop.prod.svc.cluster.local:80').domains).toEqual([
      'shop.prod.svc.cluster.local',
    ]);
    expect(hostNames(made, '9999')).toEqual(['allow_any']);
  });

  it('uses the port of the route if a destination has none', () => {
    const made = scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('VirtualService', 'prod', 'v', { hosts: ['shop'], ...rule('shop') }),
    ]);
    const cluster = (port: string): unknown =>
      made.routes('client', port, `shop.prod.svc.cluster.local:${port}`)[0]?.route?.cluster;
    expect(cluster('8080')).toBe('outbound|8080||shop.prod.svc.cluster.local');
    expect(cluster('80')).toBe('outbound|80||shop.prod.svc.cluster.local');
  });

  it('loses a host to an older one, and the route reports it', () => {
    const older = { creationTimestamp: '2026-01-01T00:00:00Z' };
    const younger = { creationTimestamp: '2026-02-01T00:00:00Z' };
    const made = scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('VirtualService', 'prod', 'a-younger', { hosts: ['shop', 'other.example.com'], ...rule('young') }, younger),
      istio('VirtualService', 'prod', 'b-older', { hosts: ['shop'], ...rule('old') }, older),
    ]);
    const host = 'shop.prod.svc.cluster.local:8080';
    expect(made.routes('client', '8080', host)[0]?.route?.cluster).toContain('|old.prod.');
    expect(hostNames(made, '8080')).toContain('other.example.com:8080');
    expect(made.resource('client', '8080').problems.map(found => found.path)).toEqual([host]);
  });

  it('with a wildcard includes services that no more specific one has', () => {
    const entry = (name: string): Parameters<typeof istio>[3] =>
      istio('ServiceEntry', 'prod', name, {
        hosts: [`${name}.example.com`],
        ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
        resolution: 'DNS',
      });
    const made = scene([
      entry('a'),
      entry('b'),
      istio('VirtualService', 'prod', 'all', { hosts: ['*.example.com'], ...rule('wide') }),
      istio('VirtualService', 'prod', 'one', { hosts: ['a.example.com'], ...rule('narrow') }),
    ]);
    expect(made.routes('client', '80', 'a.example.com:80')[0]?.route?.cluster).toContain('|narrow.prod.');
    expect(made.routes('client', '80', 'b.example.com:80')[0]?.route?.cluster).toContain('|wide.prod.');
    expect(hostNames(made, '80')).toEqual(['a.example.com:80', 'b.example.com:80', 'allow_any']);
  });

  it('leaves the default route if all of its rules are for other workloads', () => {
    const http = [{ match: [{ sourceLabels: { app: 'other' } }], route: [{ destination: { host: 'elsewhere' } }] }];
    const made = scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      istio('VirtualService', 'prod', 'v', { hosts: ['shop', 'shop.example.com'], http }),
    ]);
    expect(hostNames(made, '8080')).toEqual(['shop.prod.svc.cluster.local:8080', 'allow_any']);
    expect(made.routes('client', '8080', 'shop.prod.svc.cluster.local:8080')[0]?.name).toBe('default');
  });
});

describe('a route configuration', () => {
  it('for a sniffed port has one virtual host for every domain, and no catch-all', () => {
    const auto = service('shop', 'prod', { clusterIP: 'None', ports: [{ name: 'any', port: 9000 }] });
    const { virtualHosts } = scene([auto]).route('client', 'shop.prod.svc.cluster.local:9000');
    expect(virtualHosts?.map(host => [host.name, host.domains])).toEqual([['shop.prod.svc.cluster.local:9000', ['*']]]);
  });

  it('for an unknown sniffed port has none', () => {
    expect(scene([]).route('client', 'nobody.example.com:9000').virtualHosts).toBeUndefined();
  });

  it('for the HTTP proxy has the services of all ports, distinguished by the port in the domain', () => {
    const made = scene([httpService('shop', 'prod', 8080, '10.96.0.1'), httpService('front', 'prod', 80, '10.96.0.2')]);
    expect(hostNames(made, 'http_proxy')).toEqual([
      'front.prod.svc.cluster.local:80',
      'shop.prod.svc.cluster.local:8080',
      'allow_any',
    ]);
    const shop = made.host('client', 'http_proxy', 'shop.prod.svc.cluster.local:8080').domains ?? [];
    expect(shop.every(domain => domain.endsWith(':8080'))).toBe(true);
    expect(shop).toContain('10.96.0.1:8080');
    const front = made.host('client', 'http_proxy', 'front.prod.svc.cluster.local:80').domains ?? [];
    expect(front.slice(0, 2)).toEqual(['front.prod.svc.cluster.local', 'front.prod.svc.cluster.local:80']);
  });

  it('for an egress listener has the services of that listener only', () => {
    const port = (number: number, protocol: string): Parameters<typeof istio>[3] => ({
      number,
      protocol,
      name: `p${number}`,
    });
    const egress = [
      { port: port(8080, 'HTTP'), hosts: ['./shop.prod.svc.cluster.local'] },
      { port: port(15080, 'HTTP_PROXY'), hosts: ['far/*'] },
      { port: { protocol: 'HTTP', name: 'unix' }, bind: 'unix:///tmp/mesh.sock', hosts: ['far/*'] },
      { hosts: ['./none.example.com'] },
    ];
    const made = scene([
      httpService('shop', 'prod', 8080, '10.96.0.1'),
      httpService('other', 'prod', 8080, '10.96.0.2'),
      httpService('there', 'far', 9090, '10.96.0.3'),
      istio('Sidecar', 'prod', 'default', { egress }),
    ]);
    expect(hostNames(made, '8080')).toEqual(['shop.prod.svc.cluster.local:8080', 'allow_any']);
    expect(hostNames(made, '15080')).toEqual(['there.far.svc.cluster.local:9090', 'allow_any']);
    expect(hostNames(made, 'unix:///tmp/mesh.sock')).toEqual(['there.far.svc.cluster.local:9090', 'allow_any']);
    expect(hostNames(made, '9090')).toEqual(['allow_any']);
  });

  it('with an unknown name is empty', () => {
    expect(scene([]).route('client', 'no such route')).toEqual({
      name: 'no such route',
      validateClusters: { value: false },
    });
    expect(scene([]).route('client', '99999')).toEqual({ name: '99999', validateClusters: { value: false } });
  });
});

describe('proxy headers', () => {
  it('switch off the attempt count, and switch on the forwarded host', () => {
    const proxyHeaders = { attemptCount: { disabled: true }, xForwardedHost: { enabled: true } };
    const made = scene([httpService('shop', 'prod', 8080, '10.96.0.1')], { mesh: { defaultConfig: { proxyHeaders } } });
    expect(made.host('client', '8080', 'shop.prod.svc.cluster.local:8080').includeRequestAttemptCount).toBeUndefined();
    expect(made.host('client', '8080', 'allow_any').routes?.[0]?.route?.appendXForwardedHost).toBe(true);
  });

  it('in the node metadata override those of the mesh', () => {
    const made = new Scene([], { mesh: { defaultConfig: { proxyHeaders: { attemptCount: { disabled: true } } } } });
    made.connect('client', sidecarNode('prod', { PROXY_CONFIG: { concurrency: 2 } }));
    expect(made.host('client', '80', 'allow_any').includeRequestAttemptCount).toBe(true);
  });

  it('that cannot be parsed count as unset', () => {
    const made = new Scene([]);
    const proxyHeaders = { attemptCount: { disabled: 'yes' }, xForwardedHost: { enabled: true } };
    made.connect('client', sidecarNode('prod', { PROXY_CONFIG: { proxyHeaders } }));
    expect(made.host('client', '80', 'allow_any').routes?.[0]?.route?.appendXForwardedHost).toBeUndefined();
  });
});
