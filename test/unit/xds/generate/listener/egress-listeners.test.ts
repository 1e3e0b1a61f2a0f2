// Where the outbound listeners of a Sidecar are opened, and by which chains TCP and TLS leave them.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { istio } from '../route/scene.ts';
import { clientScene, filterNames, type ListenerScene, service, tcpProxy } from './scene.ts';

const ports = (...named: readonly (readonly [string, number])[]): JsonObject[] =>
  named.map(([name, port]) => ({ name, port }));
const db = service('db', 'prod', { clusterIP: '10.96.0.3', ports: ports(['tcp', 9000], ['http', 8080]) });
const egress = (...listeners: readonly JsonObject[]): JsonObject =>
  istio('Sidecar', 'prod', 'default', { egress: listeners });
const own = (names: readonly string[]): readonly string[] => names.filter(name => !name.startsWith('virtual'));

describe('an egress listener', () => {
  const listener = (port: number, protocol: string, more: JsonObject = {}): JsonObject => ({
    port: { number: port, protocol, name: 'p' },
    hosts: ['./*'],
    ...more,
  });
  const names = (spec: JsonObject, metadata: JsonObject = {}): readonly string[] =>
    own(clientScene([db, egress(spec)], {}, metadata).names('client'));
  const STATUS = { ENVOY_STATUS_PORT: 9000 };
  const UNPRIVILEGED = { UNPRIVILEGED_POD: 'true', INTERCEPTION_MODE: 'NONE' };

  it.each<[string, JsonObject, JsonObject, readonly string[]]>([
    ['TCP has the address of the service', listener(9000, 'TCP'), {}, ['10.96.0.3_9000']],
    ['HTTP has every address', listener(8080, 'HTTP'), {}, ['0.0.0.0_8080']],
    ['what is written has that', listener(9000, 'TCP', { bind: '127.0.0.5' }), {}, ['127.0.0.5_9000']],
    ['no interception has the loopback', listener(9000, 'TCP'), { INTERCEPTION_MODE: 'NONE' }, ['127.0.0.1_9000']],
    ['captureMode NONE has the loopback', listener(9000, 'TCP', { captureMode: 'NONE' }), {}, ['127.0.0.1_9000']],
    ['HTTP is none on a port of the proxy', listener(9000, 'HTTP'), STATUS, []],
    ['TCP is, on an address of its own', listener(9000, 'TCP'), STATUS, ['10.96.0.3_9000']],
    ['TCP is none on every address', listener(9000, 'TCP', { bind: '0.0.0.0' }), STATUS, []],
    ['HTTP is, on an address of its own', listener(9000, 'HTTP', { bind: '127.0.0.5' }), STATUS, ['127.0.0.5_9000']],
    ['TCP is none on a privileged port', listener(90, 'TCP'), UNPRIVILEGED, []],
    ['HTTP is none on a privileged port', listener(90, 'HTTP'), UNPRIVILEGED, []],
    ['HTTP is on another port', listener(9000, 'HTTP'), UNPRIVILEGED, ['127.0.0.1_9000']],
  ])('for %s', (_what, spec, metadata, expected) => {
    expect(names(spec, metadata)).toEqual(expected);
  });

  it('that names a port takes it from the others, and the catch-all has what is left', () => {
    const scene = clientScene([db, egress(listener(9000, 'TCP', { bind: '127.0.0.5' }), { hosts: ['./*'] })]);
    expect(own(scene.names('client'))).toEqual(['0.0.0.0_8080', '10.96.0.3_9000', '127.0.0.5_9000']);
  });
});

describe('a headless service', () => {
  const slice = (...addresses: readonly string[]): JsonObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'h-1', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'h' } },
    addressType: 'IPv4',
    endpoints: addresses.map(address => ({ addresses: [address] })),
    ports: ports(['tcp', 9000]),
  });
  const headless = service('h', 'prod', { clusterIP: 'None', ports: ports(['tcp', 9000]) });
  const entry = (more: JsonObject): JsonObject =>
    istio('ServiceEntry', 'prod', 'e', {
      hosts: ['e.example.com'],
      ports: [{ number: 9000, name: 'tcp', protocol: 'TCP' }],
      resolution: 'NONE',
      ...more,
    });
  const names = (...objects: readonly JsonObject[]): readonly string[] => own(clientScene(objects).names('client'));

  it('has a listener for each endpoint but the proxy itself, and none without endpoints', () => {
    expect(names(headless, slice('10.1.0.9', '10.1.0.1', '10.1.0.8'))).toEqual(['10.1.0.8_9000', '10.1.0.9_9000']);
    expect(names(headless)).toEqual([]);
    expect(names(headless, slice('10.1.0.1'))).toEqual([]);
  });

  it('of a ServiceEntry has those of its endpoints; without endpoints and selector one for every address', () => {
    const labels = { app: 'x' };
    const machine = istio('WorkloadEntry', 'prod', 'w', { address: '10.1.0.9', labels });
    const named = istio('WorkloadEntry', 'prod', 'w', { address: 'w.example.com', labels });
    expect(names(entry({}))).toEqual(['0.0.0.0_9000']);
    expect(names(entry({ workloadSelector: { labels } }), machine)).toEqual(['10.1.0.9_9000']);
    expect(names(entry({ workloadSelector: { labels } }), named)).toEqual([]);
    expect(names(entry({ workloadSelector: { labels } }))).toEqual([]);
  });
});

describe('the filter of a TCP port', () => {
  const FLAGS = {
    PILOT_ENABLE_MONGO_FILTER: 'true',
    PILOT_ENABLE_REDIS_FILTER: 'true',
    PILOT_ENABLE_MYSQL_FILTER: 'true',
  };
  const filters = (name: string, env: Readonly<Record<string, string>>): readonly string[] => {
    const scene = clientScene([service('s', 'prod', { clusterIP: '10.96.0.4', ports: ports([name, 9000]) })], { env });
    return filterNames(scene.chains('client', '10.96.0.4_9000')[0]);
  };
  const TCP = 'envoy.filters.network.tcp_proxy';

  it.each<[string, readonly string[]]>([
    ['mongo', ['envoy.filters.network.mongo_proxy', TCP]],
    ['mysql', ['envoy.filters.network.mysql_proxy', TCP]],
    ['redis', ['envoy.filters.network.redis_proxy']],
    ['tcp', [TCP]],
  ])('of protocol %s reads it where the flag says so', (name, expected) => {
    expect(filters(name, FLAGS)).toEqual(expected);
    const off = Object.fromEntries(Object.keys(FLAGS).map(flag => [flag, 'false']));
    expect(filters(name, off)).toEqual([TCP]);
  });
});

describe('the settings of a TCP route', () => {
  const hashed = (on: boolean): JsonObject => ({
    loadBalancer: on ? { consistentHash: { useSourceIp: true } } : { simple: 'RANDOM' },
  });
  const tcp = (subset: string): JsonObject =>
    istio('VirtualService', 'prod', 'v', {
      hosts: ['db'],
      tcp: [{ route: [{ destination: { host: 'db', port: { number: 9000 }, ...(subset && { subset }) } }] }],
    });
  const proxyOf = (scene: ListenerScene) => tcpProxy(scene.chains('client', '10.96.0.3_9000')[0]);
  const rule = istio('DestinationRule', 'prod', 'db', {
    host: 'db',
    trafficPolicy: hashed(true),
    subsets: [
      { name: 'other', labels: { v: 'o' }, trafficPolicy: hashed(true) },
      { name: 'plain', labels: { v: 'p' }, trafficPolicy: hashed(false) },
      { name: 'bare', labels: { v: 'b' } },
    ],
  });

  it.each([
    ['', true],
    ['other', true],
    ['plain', false],
    ['bare', true],
    ['unknown', true],
  ])('of the subset "%s" hash the address of the client: %s', (subset, expected) => {
    expect(proxyOf(clientScene([db, rule, tcp(subset)])).hashPolicy).toEqual(expected ? [{ sourceIp: {} }] : undefined);
  });

  it('have the idle timeout of the rule, else that of the proxy', () => {
    const metadata = { IDLE_TIMEOUT: '7s' };
    expect(proxyOf(clientScene([db], {}, metadata)).idleTimeout).toEqual({ seconds: 7, nanos: 0 });
    const pool = { connectionPool: { tcp: { idleTimeout: '9s' } } };
    const slower = istio('DestinationRule', 'prod', 'db', { host: 'db', trafficPolicy: pool });
    expect(proxyOf(clientScene([db, slower], {}, metadata)).idleTimeout).toEqual({ seconds: 9, nanos: 0 });
    expect(proxyOf(clientScene([db])).idleTimeout).toBeUndefined();
  });

  it('follow the pattern of statistics names, where the service is known', () => {
    const mesh = { outboundClusterStatName: '%SERVICE%_%SERVICE_PORT%' };
    const prefix = (host: string) => {
      const route = [{ destination: { host, port: { number: 9000 } } }];
      const vs = istio('VirtualService', 'prod', 'v', { hosts: ['db'], tcp: [{ route }] });
      return proxyOf(clientScene([db, vs], { mesh })).statPrefix;
    };
    expect(prefix('db')).toBe('db.prod_9000');
    expect(prefix('gone')).toBe('outbound|9000||gone.prod.svc.cluster.local');
  });
});

describe('a TLS rule', () => {
  it('for some subnets has a chain for these, and the default of the service is gone', () => {
    const tls = [
      {
        match: [{ sniHosts: ['a.example.com'], destinationSubnets: ['10.0.0.0/8'] }],
        route: [{ destination: { host: 'db', port: { number: 9000 } } }],
      },
    ];
    const secure = service('sec', 'prod', { clusterIP: '10.96.0.5', ports: ports(['tls', 9443]) });
    const vs = istio('VirtualService', 'prod', 'v', { hosts: ['sec', 'a.example.com'], tls });
    const chains = clientScene([db, secure, vs]).chains('client', '10.96.0.5_9443');
    expect(chains.map(({ filterChainMatch }) => filterChainMatch)).toEqual([
      { serverNames: ['a.example.com'], prefixRanges: [{ addressPrefix: '10.0.0.0', prefixLen: { value: 8 } }] },
    ]);
    expect(chains.map(chain => tcpProxy(chain).cluster)).toEqual(['outbound|9000||db.prod.svc.cluster.local']);
  });
});
