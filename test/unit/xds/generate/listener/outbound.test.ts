// Outbound listeners of a sidecar: where services get one, and what happens when two want the same address.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio } from '../route/scene.ts';
import { APP_IP, clientScene, filterNames, hcm, httpService, service, tcpProxy } from './scene.ts';

function portService(
  name: string,
  clusterIP: string,
  portName: string,
  port: number,
  meta: JsonObject = {},
): JsonObject {
  return service(name, 'prod', { clusterIP, ports: [{ name: portName, port }], selector: { app: name } }, meta);
}

const CLUSTER = 'outbound|3306||db.prod.svc.cluster.local';

describe('outbound listener generation', () => {
  it('shares one wildcard listener among HTTP services of a port, separated from other traffic by inspection', () => {
    const scene = clientScene([
      httpService('a', 'prod', 8080, '10.96.0.1'),
      httpService('b', 'prod', 8080, '10.96.0.2'),
    ]);
    expect(scene.names('client')).toEqual(['0.0.0.0_8080', 'virtualInbound', 'virtualOutbound']);
    const listener = scene.listener('client', '0.0.0.0_8080');
    expect(listener.filterChains).toHaveLength(1);
    expect(listener.filterChains?.[0]?.filterChainMatch).toEqual({
      transportProtocol: 'raw_buffer',
      applicationProtocols: ['http/1.1', 'h2c'],
    });
    expect(hcm(listener.filterChains?.[0]).rds?.routeConfigName).toBe('8080');
    expect(tcpProxy(listener.defaultFilterChain).cluster).toBe('PassthroughCluster');
    expect(listener.listenerFilters?.map(filter => filter.name)).toEqual(['envoy.filters.listener.http_inspector']);
  });

  it('gives a TCP service a listener on its address for all traffic', () => {
    const scene = clientScene([portService('db', '10.96.0.3', 'tcp', 3306)]);
    const [chain, ...others] = scene.chains('client', '10.96.0.3_3306');
    expect(others).toEqual([]);
    expect(chain?.filterChainMatch).toBeUndefined();
    expect(tcpProxy(chain)).toMatchObject({ cluster: CLUSTER, statPrefix: CLUSTER });
    expect(scene.listener('client', '10.96.0.3_3306').bindToPort).toEqual({ value: false });
  });

  it('inspects a port of unknown protocol on the service address, and routes by the host of the service', () => {
    const scene = clientScene([portService('any', '10.96.0.4', 'whatever', 7000)]);
    const listener = scene.listener('client', '10.96.0.4_7000');
    expect(hcm(listener.filterChains?.[0]).rds?.routeConfigName).toBe('any.prod.svc.cluster.local:7000');
    expect(tcpProxy(listener.defaultFilterChain).cluster).toBe('outbound|7000||any.prod.svc.cluster.local');
  });

  it('has no listener for UDP, nor for HTTP on a port reserved by the proxy', () => {
    const udp = service('dns', 'prod', { clusterIP: '10.96.0.5', ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] });
    const scene = clientScene(
      [udp, httpService('health', 'prod', 15021, '10.96.0.6')],
      {},
      { ENVOY_STATUS_PORT: 15021 },
    );
    expect(scene.names('client')).toEqual(['virtualInbound', 'virtualOutbound']);
  });

  it('gives each endpoint of a headless TCP service a listener, except the proxy itself', () => {
    const slice: JsonObject = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: 'h-1', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'h' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'] }, { addresses: [APP_IP] }],
      ports: [{ name: 'tcp', port: 9000 }],
    };
    const scene = clientScene([portService('h', 'None', 'tcp', 9000), slice]);
    expect(scene.names('client')).toEqual([`${APP_IP}_9000`, 'virtualInbound', 'virtualOutbound']);
  });
});

describe('conflicts on one address', () => {
  const entry = (name: string, protocol: string, created: string): JsonObject =>
    istio(
      'ServiceEntry',
      'prod',
      name,
      { hosts: [`${name}.example.com`], ports: [{ number: 9443, name: 'p', protocol }], resolution: 'DNS' },
      { creationTimestamp: created },
    );

  it('distinguishes TLS services without an address by SNI', () => {
    const scene = clientScene([
      entry('one', 'TLS', '2024-01-01T00:00:00Z'),
      entry('two', 'TLS', '2024-01-02T00:00:00Z'),
    ]);
    const listener = scene.listener('client', '0.0.0.0_9443');
    expect(listener.filterChains?.map(chain => chain.filterChainMatch?.serverNames)).toEqual([
      ['one.example.com'],
      ['two.example.com'],
    ]);
    expect(listener.defaultFilterChain?.name).toBe('PassthroughFilterChain');
    expect(listener.listenerFilters?.map(filter => filter.name)).toEqual(['envoy.filters.listener.tls_inspector']);
  });

  it('knows a TLS service without an address by its aliases too, in every form that clients may use', () => {
    const alias = (namespace: string): JsonObject =>
      service('out', namespace, { type: 'ExternalName', externalName: 'one.example.com' });
    const namesOf = (objects: readonly JsonObject[], env = {}): readonly string[] | undefined => {
      const scene = clientScene([entry('one', 'TLS', '2024-01-01T00:00:00Z'), ...objects], { env });
      return scene.chains('client', '0.0.0.0_9443')[0]?.filterChainMatch?.serverNames;
    };
    expect(namesOf([alias('prod')])).toEqual([
      'one.example.com',
      'out',
      'out.prod',
      'out.prod.svc',
      'out.prod.svc.cluster.local',
      'out.prod.svc.cluster.local.',
    ]);
    expect(namesOf([alias('far')], { PILOT_ENABLE_ABSOLUTE_FQDN_VHOST_DOMAIN: 'false' })).toEqual([
      'one.example.com',
      'out.far',
      'out.far.svc',
      'out.far.svc.cluster.local',
    ]);
  });

  it('gives the address to the older of two TCP services, and reports it', () => {
    const scene = clientScene([
      entry('younger', 'TCP', '2024-01-02T00:00:00Z'),
      entry('older', 'TCP', '2024-01-01T00:00:00Z'),
    ]);
    const { message, problems } = scene.listenerResource('client', '0.0.0.0_9443');
    expect(message.filterChains?.map(chain => tcpProxy(chain).cluster)).toEqual(['outbound|9443||older.example.com']);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.message).toContain('younger.example.com:9443');
  });

  it('adds the HTTP chain to a TCP listener on the wildcard address, in any order', () => {
    for (const [http, tcp] of [
      ['2024-01-01T00:00:00Z', '2024-01-02T00:00:00Z'],
      ['2024-01-02T00:00:00Z', '2024-01-01T00:00:00Z'],
    ] as const) {
      const scene = clientScene([entry('web', 'HTTP', http), entry('raw', 'TCP', tcp)]);
      const listener = scene.listener('client', '0.0.0.0_9443');
      expect(listener.filterChains?.map(filterNames)).toEqual([['envoy.filters.network.http_connection_manager']]);
      expect(tcpProxy(listener.defaultFilterChain).cluster).toBe('outbound|9443||raw.example.com');
    }
  });
});

describe('TCP and TLS rules of VirtualServices', () => {
  const db = portService('db', '10.96.0.3', 'tcp', 3306);

  it('splits by weight, without destinations of weight 0, under the name of the VirtualService', () => {
    const route = [
      { destination: { host: 'db', subset: 'v1' }, weight: 70 },
      { destination: { host: 'db', subset: 'v2' }, weight: 30 },
      { destination: { host: 'db', subset: 'v3' }, weight: 0 },
    ];
    const scene = clientScene([db, istio('VirtualService', 'prod', 'split', { hosts: ['db'], tcp: [{ route }] })]);
    const [chain] = scene.chains('client', '10.96.0.3_3306');
    expect(tcpProxy(chain)).toMatchObject({
      statPrefix: 'split.prod',
      weightedClusters: {
        clusters: [
          { name: 'outbound|3306|v1|db.prod.svc.cluster.local', weight: 70 },
          { name: 'outbound|3306|v2|db.prod.svc.cluster.local', weight: 30 },
        ],
      },
    });
    expect(chain?.metadata?.filterMetadata?.istio).toEqual({
      config: '/apis/networking.istio.io/v1/namespaces/prod/virtual-service/split',
    });
  });

  it('keeps the default beside a rule for some subnets, and matches source labels', () => {
    const rule = (app: string): JsonObject => ({
      match: [{ destinationSubnets: ['10.96.0.0/24'], sourceLabels: { app } }],
      route: [{ destination: { host: 'db', subset: app } }],
    });
    const scene = clientScene([
      db,
      istio('VirtualService', 'prod', 'vs', { hosts: ['db'], tcp: [rule('other'), rule('client')] }),
    ]);
    const listener = scene.listener('client', '10.96.0.3_3306');
    expect(listener.filterChains?.map(chain => tcpProxy(chain).cluster)).toEqual([
      'outbound|3306|client|db.prod.svc.cluster.local',
    ]);
    expect(listener.filterChains?.[0]?.filterChainMatch?.prefixRanges).toEqual([
      { addressPrefix: '10.96.0.0', prefixLen: { value: 24 } },
    ]);
    expect(tcpProxy(listener.defaultFilterChain).cluster).toBe(CLUSTER);
  });

  it('takes connection settings from the DestinationRule of the destination', () => {
    const rule = istio('DestinationRule', 'prod', 'db', {
      host: 'db',
      trafficPolicy: {
        connectionPool: { tcp: { idleTimeout: '90s', maxConnectionDuration: '10m' } },
        loadBalancer: { consistentHash: { useSourceIp: true } },
      },
    });
    const scene = clientScene([db, rule]);
    expect(tcpProxy(scene.chains('client', '10.96.0.3_3306')[0])).toMatchObject({
      idleTimeout: { seconds: 90, nanos: 0 },
      maxDownstreamConnectionDuration: { seconds: 600, nanos: 0 },
      hashPolicy: [{ sourceIp: {} }],
    });
  });
});

describe('Sidecar egress', () => {
  const web = httpService('web', 'prod', 8080, '10.96.0.1');

  it('binds a port of its own without interception, with one chain for everything', () => {
    const egress = [
      {
        port: { number: 8080, protocol: 'HTTP', name: 'http' },
        bind: '127.0.0.1',
        captureMode: 'NONE',
        hosts: ['./*'],
      },
    ];
    const scene = clientScene(
      [web, istio('Sidecar', 'prod', 'default', { egress })],
      {},
      { INTERCEPTION_MODE: 'NONE' },
    );
    expect(scene.names('client')).toEqual(['127.0.0.1_8080']);
    const listener = scene.listener('client', '127.0.0.1_8080');
    expect(listener.bindToPort).toBeUndefined();
    expect(listener.defaultFilterChain).toBeUndefined();
    expect(listener.filterChains?.map(chain => chain.filterChainMatch)).toEqual([undefined]);
    expect(hcm(listener.filterChains?.[0]).rds?.routeConfigName).toBe('8080');
  });

  it('gives a catch-all only the addresses that earlier entries left free', () => {
    const egress = [
      {
        port: { number: 8080, protocol: 'TCP', name: 'tcp' },
        bind: '0.0.0.0',
        hosts: ['./web.prod.svc.cluster.local'],
      },
      { hosts: ['./*'] },
    ];
    const scene = clientScene([web, istio('Sidecar', 'prod', 'default', { egress })]);
    const [chain] = scene.chains('client', '0.0.0.0_8080');
    expect(filterNames(chain)).toEqual(['envoy.filters.network.tcp_proxy']);
  });

  it('closes unmatched traffic where only the registry is allowed', () => {
    const outboundTrafficPolicy = { mode: 'REGISTRY_ONLY' };
    const scene = clientScene([istio('Sidecar', 'prod', 'default', { outboundTrafficPolicy })]);
    const catchAll = scene.chains('client', 'virtualOutbound').at(-1);
    expect(tcpProxy(catchAll).cluster).toBe('BlackHoleCluster');
  });

  it('has an HTTP proxy on the loopback port that the proxy configures', () => {
    const scene = clientScene([], {}, { HTTP_PROXY_PORT: '15002' });
    const manager = hcm(scene.chains('client', '127.0.0.1_15002')[0]);
    expect(manager.rds?.routeConfigName).toBe('http_proxy');
    expect(manager.httpProtocolOptions?.allowAbsoluteUrl).toEqual({ value: true });
  });
});

describe('destination subnets of TCP rules', () => {
  const db = portService('db', '10.96.0.3', 'tcp', 3306);
  const rules = (...subnets: readonly string[]): JsonObject =>
    istio('VirtualService', 'prod', 'db', {
      hosts: ['db'],
      tcp: [{ match: [{ destinationSubnets: [...subnets] }], route: [{ destination: { host: 'db' } }] }],
    });

  it('cover all addresses by a match of their own, beside the chain of the service', () => {
    const listener = clientScene([db, rules('0.0.0.0/0')]).listener('client', '10.96.0.3_3306');
    expect(listener.filterChains?.map(chain => chain.filterChainMatch)).toEqual([{}]);
    expect(tcpProxy(listener.defaultFilterChain).cluster).toBe(CLUSTER);
  });

  it('of IPv6 are matched in their short form', () => {
    const listener = clientScene([db, rules('2001:0DB8:0:0::/32', '::FFFF:10.0.0.1')]).listener(
      'client',
      '10.96.0.3_3306',
    );
    expect(listener.filterChains?.[0]?.filterChainMatch?.prefixRanges).toEqual([
      { addressPrefix: '2001:db8::', prefixLen: { value: 32 } },
      { addressPrefix: '::ffff:10.0.0.1', prefixLen: { value: 128 } },
    ]);
  });

  it('in two rules belong to the first: Envoy refuses two chains that match alike', () => {
    const route = (host: string): JsonObject[] => [{ destination: { host } }];
    const twice = istio('VirtualService', 'prod', 'db', {
      hosts: ['db'],
      tcp: [
        { match: [{ destinationSubnets: ['10.96.0.0/16'] }], route: route('first') },
        { match: [{ destinationSubnets: ['10.96.0.0/16'] }], route: route('none') },
        { match: [{ destinationSubnets: ['10.96.0.0/16', '10.97.0.0/16'] }], route: route('second') },
      ],
    });
    const listener = clientScene([db, twice]).listener('client', '10.96.0.3_3306');
    const found = listener.filterChains?.map(chain => [
      tcpProxy(chain).cluster?.split('|')[3],
      chain.filterChainMatch?.prefixRanges?.map(range => range.addressPrefix),
    ]);
    expect(found).toEqual([
      ['first.prod.svc.cluster.local', ['10.96.0.0']],
      ['second.prod.svc.cluster.local', ['10.97.0.0']],
    ]);
  });

  it('that are equal in different notations are one', () => {
    const entry = (name: string, address: string): JsonObject =>
      istio('ServiceEntry', 'prod', name, {
        hosts: [`${name}.test`],
        addresses: [address],
        ports: [{ number: 3306, name: 'tcp', protocol: 'TCP' }],
        resolution: 'NONE',
      });
    const scene = clientScene([entry('a', '10.1.2.3/8'), entry('b', '10.0.0.0/8')]);
    const chains = scene.chains('client', '0.0.0.0_3306');
    expect(chains.map(chain => tcpProxy(chain).cluster)).toEqual(['outbound|3306||a.test']);
  });
});

describe('SNI hosts of TLS rules', () => {
  it('in two rules belong to the first', () => {
    const route = (host: string): JsonObject[] => [{ destination: { host } }];
    const rules = istio('VirtualService', 'prod', 'web', {
      hosts: ['a.test', 'b.test'],
      tls: [
        { match: [{ sniHosts: ['a.test'] }], route: route('first') },
        { match: [{ sniHosts: ['a.test', 'b.test'] }], route: route('second') },
      ],
    });
    const entry = istio('ServiceEntry', 'prod', 'web', {
      hosts: ['a.test'],
      ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
      resolution: 'DNS',
    });
    const chains = clientScene([entry, rules]).chains('client', '0.0.0.0_443');
    const named = chains.flatMap(chain =>
      chain.filterChainMatch?.serverNames === undefined
        ? []
        : [[...chain.filterChainMatch.serverNames, tcpProxy(chain).cluster?.split('|')[3]]],
    );
    expect(named).toEqual([
      ['a.test', 'first.prod.svc.cluster.local'],
      ['b.test', 'second.prod.svc.cluster.local'],
    ]);
  });
});
