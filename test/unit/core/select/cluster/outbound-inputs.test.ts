// What the clusters of a service are made of: flags of the mesh, the kind of proxy, rules of the service.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { WorldPart } from '../../../world.ts';
import { destinationRule, pod, service, serviceEntry, slice } from '../../registry/fixtures.ts';
import { clustersOf, type Options, only, ROUTER, WEB } from './outbound-scene.ts';

const web = service('web');

describe('every cluster of a service', () => {
  const near = service('web', { trafficDistribution: 'PreferClose' });

  it('is sent unhealthy endpoints with the flag, or if the service prefers near ones', () => {
    expect(only(WEB, [web]).sendsUnhealthy).toBe(false);
    expect(only(WEB, [web], { env: { PILOT_SEND_UNHEALTHY_ENDPOINTS: 'true' } }).sendsUnhealthy).toBe(true);
    expect(only(WEB, [near]).sendsUnhealthy).toBe(true);
  });

  it('weighs localities with the flag, or if the mesh distributes', () => {
    const distribute = [{ from: 'r/*', to: { 'r/*': 100 } }];
    expect(only(WEB, [web]).localityWeighted).toBe(false);
    expect(only(WEB, [web], { env: { ENABLE_LOCALITY_WEIGHTED_LB_CONFIG: 'true' } }).localityWeighted).toBe(true);
    const mesh = { localityLbSetting: { enabled: true, distribute } };
    const outlierDetection = { consecutive5xxErrors: 1 };
    const ejecting = destinationRule('r', 'web', { trafficPolicy: { outlierDetection } });
    expect(only(WEB, [web, ejecting], { mesh }).localityWeighted).toBe(true);
  });

  it('has a name in statistics by the pattern of the mesh; services of other registries by their hosts', () => {
    const named = (host: string, parts: readonly WorldPart[], outboundClusterStatName: string) =>
      only(host, parts, { mesh: { outboundClusterStatName } }).statName;
    expect(named(WEB, [web], '%SERVICE%_%SERVICE_PORT_NAME%_%TARGET_PORT%')).toBe('web.default_http_0');
    expect(named(WEB, [web], '')).toBe(`outbound|80||${WEB}`);
    const entry = serviceEntry('e', { hosts: ['e.com'] });
    expect(named('e.com', [entry], '%SERVICE%_%SERVICE_NAME%_%SERVICE_FQDN%')).toBe('e.com_e.com_e.com');
  });

  it('keeps sessions where a label of the service says so, but its subsets do not', () => {
    const labels = { 'istio.io/persistent-session': 'cookie' };
    const rule = destinationRule('r', 'web', { subsets: [{ name: 'v1', labels: { v: '1' } }] });
    const kept = (one: JsonObject, options: Options = {}) =>
      clustersOf(WEB, [one, rule], options).map(({ keepsSessions }) => keepsSessions);
    expect(kept(service('web', {}, { labels }))).toEqual([true, false]);
    expect(kept(service('web', {}, { labels: { 'istio.io/persistent-session': '' } }))).toEqual([false, false]);
    expect(kept(web)).toEqual([false, false]);
    expect(kept(service('web', {}, { labels }), { node: ROUTER, sniDnat: true })).toEqual([false, false]);
  });

  it('says whose rule it has, and no rule by nothing', () => {
    const rule = destinationRule('r', 'web', {}, { namespace: 'default' });
    const { ruleName, ruleNamespace, subset } = only(WEB, [web, rule]);
    expect([ruleName, ruleNamespace, subset]).toEqual(['r', 'default', '']);
    expect([only(WEB, [web]).ruleName, only(WEB, [web]).ruleNamespace]).toEqual(['', '']);
  });

  it('overrides the ALPN of the mesh where a rule originates TLS', () => {
    const overrides = (mode: string) => {
      const files = mode === 'MUTUAL' ? { clientCertificate: '/c', privateKey: '/k' } : {};
      return only(WEB, [web, destinationRule('r', 'web', { trafficPolicy: { tls: { mode, ...files } } })])
        .overridesAlpn;
    };
    expect(['SIMPLE', 'MUTUAL', 'ISTIO_MUTUAL', 'DISABLE'].map(overrides)).toEqual([true, true, false, false]);
  });
});

describe('a service that is passed through', () => {
  const external = serviceEntry('e', { hosts: ['e.com'], resolution: 'NONE' });
  const headless = service('web', { clusterIP: 'None' });
  const on = { env: { PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: 'true' } };

  it.each<[string, string, JsonObject, Options, string]>([
    ['of a ServiceEntry', 'e.com', external, {}, 'ORIGINAL_DST'],
    ['of a ServiceEntry, with the flag for headless services', 'e.com', external, on, 'ORIGINAL_DST'],
    ['on a gateway', 'e.com', external, { node: ROUTER }, 'EDS'],
    ['and headless', WEB, headless, {}, 'ORIGINAL_DST'],
    ['and headless, with the flag', WEB, headless, on, 'EDS'],
  ])('%s is discovered as it is', (_what, host, object, options, discovery) => {
    expect(only(host, [object], options).discovery).toBe(discovery);
  });

  it('has no tunnels where a rule or the mesh says how TLS is spoken', () => {
    const env = { PILOT_ENABLE_AMBIENT: 'true', PILOT_ENABLE_SENDING_HBONE: 'true' };
    const node = { metadata: { ENABLE_HBONE: 'true' } };
    const tunnels = (host: string, parts: readonly WorldPart[], more: Options = {}) =>
      clustersOf(host, parts, { env, node, ...more }).map(cluster => cluster.tunnels);
    const off = (host: string) => destinationRule('r', host, { trafficPolicy: { tls: { mode: 'DISABLE' } } });
    expect(tunnels(WEB, [web])).toEqual([true]);
    expect(tunnels(WEB, [web, off('web')])).toEqual([true]);
    expect(tunnels('e.com', [external])).toEqual([true]);
    expect(tunnels('e.com', [external, off('e.com')])).toEqual([false]);
    expect(tunnels(WEB, [web], { env: {} })).toEqual([false]);
    const sni = { node: { ...ROUTER, ...node }, sniDnat: true };
    expect(tunnels(WEB, [web], sni)).toEqual([false]);
  });
});

describe('names that are resolved on demand', () => {
  const wild = (protocol: string): JsonObject =>
    serviceEntry('w', {
      hosts: ['*.a.com'],
      ports: [{ number: 443, name: 'p', protocol }],
      resolution: 'DYNAMIC_DNS',
      location: 'MESH_EXTERNAL',
    });

  it('are looked up without statistics of their own, telemetry and subsets', () => {
    const rule = destinationRule('r', '*.a.com', {
      trafficPolicy: { loadBalancer: { simple: 'PASSTHROUGH' } },
      subsets: [{ name: 'v1', labels: { v: '1' } }],
    });
    const mesh = { outboundClusterStatName: '%SERVICE%' };
    const found = clustersOf('*.a.com', [wild('HTTP'), rule], { mesh });
    expect(found.map(({ discovery, statName, serviceHost }) => [discovery, statName, serviceHost])).toEqual([
      ['FORWARD_PROXY', 'outbound|443||*.a.com', ''],
    ]);
    expect(only(WEB, [web]).serviceHost).toBe(WEB);
  });
});

describe('the TLS of a cluster', () => {
  const rule = (tls: JsonObject): JsonObject => destinationRule('r', 'web', { trafficPolicy: { tls } });
  const sockets = (parts: readonly WorldPart[], options: Options = {}) => only(WEB, parts, options).sockets;

  it('offers metadata exchange unless either flag is off', () => {
    const mtls = rule({ mode: 'ISTIO_MUTUAL' });
    const peers = (env: Readonly<Record<string, string>>) => sockets([web, mtls], { env })?.peerExchange;
    expect(peers({})).toBe(true);
    expect(peers({ PILOT_DISABLE_MX_ALPN: 'true' })).toBe(false);
    expect(peers({ PILOT_ENABLE_METADATA_EXCHANGE: 'false' })).toBe(false);
  });

  it('of the mesh has no files, credential or settings of the rule', () => {
    expect(sockets([web, rule({ mode: 'ISTIO_MUTUAL', sni: 'x.com', subjectAltNames: ['a'] })])).toEqual({
      mode: 'ISTIO_MUTUAL',
      conditional: false,
      http2: false,
      peerExchange: true,
      sni: 'x.com',
      subjectAltNames: ['a'],
      clientCertificate: '',
      privateKey: '',
      caCertificates: '',
      caCrl: '',
      credentialName: '',
      skipVerify: false,
      fileCertificates: 'sds-grpc',
      overAds: false,
      credentialSocket: false,
      ecdhCurves: [],
      cipherSuites: [],
      compliance: '',
    });
  });

  it('obeys the policy of the control plane', () => {
    const env = { COMPLIANCE_POLICY: 'fips-140-2' };
    for (const mode of ['SIMPLE', 'ISTIO_MUTUAL'])
      expect(sockets([web, rule({ mode })], { env })?.compliance).toBe('fips-140-2');
  });

  it('originated by a rule has the socket that the proxy announces, if one is mounted', () => {
    const simple = rule({ mode: 'SIMPLE' });
    const plain = sockets([web, simple]);
    expect([plain?.mode, plain?.peerExchange, plain?.overAds, plain?.credentialSocket]).toEqual([
      'SIMPLE',
      false,
      false,
      false,
    ]);
    const mounted = sockets([web, simple], { node: { metadata: { credential: 'true' } } });
    expect(mounted?.credentialSocket).toBe(true);
  });

  it('is missing where MUTUAL has neither files nor a credential, or a sidecar may not have the credential', () => {
    const problems = (tls: JsonObject, options: Options = {}) => {
      const { sockets: found, problems: named } = only(WEB, [web, rule(tls)], options);
      return [found === undefined, ...named.map(({ message }) => message)];
    };
    const credential = { mode: 'SIMPLE', credentialName: 'cert' };
    const message = 'credentialName has no effect on sidecars unless the rule has a workloadSelector: sent without TLS';
    expect(problems(credential)).toEqual([true, message]);
    expect(problems(credential, { node: ROUTER })).toEqual([false]);
    expect(problems({ mode: 'SIMPLE', credentialName: 'configmap://default/cert' })).toEqual([false]);
  });

  it('of a gateway that routes by SNI is none', () => {
    const found = only(WEB, [web, rule({ mode: 'SIMPLE' })], { node: ROUTER, sniDnat: true });
    expect([found.sockets, found.autoSni, found.autoSanValidation, found.problems]).toEqual([
      undefined,
      false,
      false,
      [],
    ]);
  });
});

describe('the protocol of a cluster', () => {
  const http = (settings: JsonObject) =>
    destinationRule('r', 'web', { trafficPolicy: { connectionPool: { http: settings } } });
  const protocol = (one: JsonObject, rules: readonly JsonObject[], options: Options = {}) => {
    const { finalProtocol, headerCase } = only(WEB, [one, ...rules], options);
    return [finalProtocol, headerCase];
  };
  const named = (name: string) => service('web', { ports: [{ name, port: 80 }] });
  const keeps = { node: { metadata: { PROXY_CONFIG: { proxyHeaders: { preserveHttp1HeaderCase: true } } } } };
  const upgrades = { mesh: { h2UpgradePolicy: 'UPGRADE' } };

  it.each<[string, readonly JsonObject[], Options, string, boolean]>([
    ['http', [], {}, 'unset', false],
    ['grpc', [], {}, 'http2', false],
    ['x', [], {}, 'downstream', false],
    ['x', [], { node: ROUTER }, 'unset', false],
    ['http', [], keeps, 'http1', true],
    ['tcp', [], keeps, 'unset', false],
    ['grpc', [], keeps, 'http2', false],
    ['http', [], upgrades, 'http2', false],
    ['tcp', [], upgrades, 'unset', false],
    ['http', [http({ h2UpgradePolicy: 'DO_NOT_UPGRADE' })], upgrades, 'unset', false],
    ['tcp', [http({ h2UpgradePolicy: 'UPGRADE' })], {}, 'http2', false],
    ['grpc', [http({ useClientProtocol: true })], {}, 'downstream', false],
    ['http', [http({ useClientProtocol: true })], keeps, 'downstream', true],
  ])('of a port named %s is, with %j and %j, %s', (name, rules, options, expected, headerCase) => {
    expect(protocol(named(name), rules, options)).toEqual([expected, headerCase]);
  });
});

describe('a service has no clusters', () => {
  it('for UDP, as an alias, or beyond the mesh by SNI', () => {
    const ports = [
      { name: 'dns', port: 53, protocol: 'UDP' },
      { name: 'http', port: 80 },
    ];
    expect(clustersOf(WEB, [service('web', { ports })]).map(({ name }) => name)).toEqual([`outbound|80||${WEB}`]);
    const entry = (location: string) => serviceEntry('e', { hosts: ['e.com'], location });
    const names = (location: string, sniDnat: boolean) =>
      clustersOf('e.com', [entry(location)], { node: ROUTER, sniDnat }).map(({ name }) => name);
    expect(names('MESH_EXTERNAL', true)).toEqual([]);
    expect(names('MESH_EXTERNAL', false)).toEqual(['outbound|80||e.com']);
    expect(names('MESH_INTERNAL', true)).toEqual(['outbound_.80_._.e.com']);
  });

  it('for names of which there are none', () => {
    const workloadSelector = { labels: { app: 'none' } };
    expect(clustersOf('e.com', [serviceEntry('e', { hosts: ['e.com'], resolution: 'DNS', workloadSelector })])).toEqual(
      [],
    );
  });
});

describe('the service of a pool', () => {
  const labels = { 'internal.istio.io/service-semantics': 'inferencepool' };
  const ports = [
    { name: 'http-0', port: 54_321 },
    { name: 'http-1', port: 54_322 },
  ];
  const pool = service('web', { ports }, { labels });
  const subsets = destinationRule('r', 'web', { subsets: [{ name: 'v1', labels: { v: '1' } }] });
  const picks = (options: Options, parts: readonly JsonObject[] = []) =>
    clustersOf(WEB, [pool, ...parts], options).map(({ name, picksEndpoints }) => [name.split('|')[1], picksEndpoints]);

  it('has one cluster for all of its ports, whose endpoints a picker chooses on a gateway', () => {
    expect(picks({ node: ROUTER })).toEqual([['54321', true]]);
    expect(picks({})).toEqual([['54321', false]]);
    expect(picks({ node: ROUTER }, [subsets])).toEqual([
      ['54321', true],
      ['54321', false],
    ]);
    expect(picks({ node: ROUTER, sniDnat: true }).map(([, picked]) => picked)).toEqual([false, false]);
    expect(only(WEB, [service('web')], { node: ROUTER }).picksEndpoints).toBe(false);
  });
});

describe('how the cluster of a service is described', () => {
  const subsets = (host: string) => destinationRule('r', host, { subsets: [{ name: 'v1', labels: { v: '1' } }] });

  it('is by its host, name and namespace, unless telemetry has no labels', () => {
    const described = (env: Readonly<Record<string, string>>) => {
      const { serviceHost, serviceName, serviceNamespace } = only(WEB, [web], { env });
      return [serviceHost, serviceName, serviceNamespace];
    };
    expect(described({})).toEqual([WEB, 'web', 'default']);
    expect(described({ PILOT_ENABLE_TELEMETRY_LABEL: 'false' })).toEqual(['', '', '']);
  });

  it('says that a service is external, but of no subset', () => {
    const external = (location: string) =>
      clustersOf('e.com', [serviceEntry('e', { hosts: ['e.com'], location }), subsets('e.com')]).map(
        one => one.external,
      );
    expect(external('MESH_EXTERNAL')).toEqual([true, false]);
    expect(external('MESH_INTERNAL')).toEqual([false, false]);
  });

  it('says that all endpoints take tunnels, but of no subset, by SNI or without ambient mode', () => {
    const labels = { app: 'web', v: '1', 'networking.istio.io/tunnel': 'http' };
    const parts = [web, slice('web', [{ ip: '10.0.0.1', pod: 'p' }]), pod('p', '10.0.0.1', { labels }), subsets('web')];
    const captured = (options: Options) => clustersOf(WEB, parts, options).map(one => one.captured);
    const env = { PILOT_ENABLE_AMBIENT: 'true' };
    expect(captured({ env })).toEqual([true, false]);
    expect(captured({})).toEqual([false, false]);
    expect(captured({ env, node: ROUTER, sniDnat: true })).toEqual([false, false]);
    const location = 'MESH_EXTERNAL';
    const endpoints = [{ address: '10.0.0.1', labels: { 'networking.istio.io/tunnel': 'http' } }];
    const entry = serviceEntry('e', { hosts: ['e.com'], location, endpoints });
    const { external, captured: taken } = only('e.com', [entry], { env });
    expect([external, taken]).toEqual([false, true]);
  });
});

describe('how a cluster finds its endpoints', () => {
  const entry = (spec: JsonObject) => serviceEntry('e', { hosts: ['e.com'], ...spec });
  const named = entry({ resolution: 'DNS', endpoints: [{ address: 'a.com' }] });
  const found = (parts: readonly JsonObject[], options: Options = {}, host = 'e.com') => only(host, parts, options);

  it('is by names with their settings, or by EDS without them', () => {
    const mesh = { dnsRefreshRate: '7s' };
    const env = { PILOT_DNS_JITTER_DURATION: '50ms', PILOT_DNS_CARES_UDP_MAX_QUERIES: '9' };
    expect(found([named], { mesh, env })).toMatchObject({
      discovery: 'STRICT_DNS',
      dnsFamily: 'V4_ONLY',
      dnsRefreshRate: { seconds: 7, nanos: 0 },
      dnsJitterMs: 50,
      dnsUdpMaxQueries: 9,
    });
    expect(found([web], { mesh, env }, WEB)).toMatchObject({
      discovery: 'EDS',
      dnsFamily: undefined,
      dnsRefreshRate: undefined,
      dnsJitterMs: 0,
      dnsUdpMaxQueries: 0,
    });
  });

  it('is, passed through by a rule, by no assignment, except where Redis hashes keys', () => {
    const passed = (host: string) =>
      destinationRule('r', host, { trafficPolicy: { loadBalancer: { simple: 'PASSTHROUGH' } } });
    const through = found([named, passed('e.com')]);
    expect([through.discovery, through.assignment, through.dnsFamily]).toEqual(['ORIGINAL_DST', undefined, 'V4_ONLY']);
    expect(found([named]).assignment?.endpoints).toHaveLength(1);
    const redis = (name: string, flag: string) => {
      const one = service('web', { ports: [{ name, port: 80 }] });
      const cluster = found([one, passed('web')], { env: { PILOT_ENABLE_REDIS_FILTER: flag } }, WEB);
      return [cluster.discovery, cluster.hashesKeys];
    };
    expect(redis('redis', 'true')).toEqual(['EDS', true]);
    expect(redis('redis', 'false')).toEqual(['ORIGINAL_DST', false]);
    expect(redis('tcp', 'true')).toEqual(['ORIGINAL_DST', false]);
  });

  it('is by the port of the ServiceEntry instead of the requested one, on sidecars', () => {
    const ports = [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }];
    const external = entry({ resolution: 'NONE', ports });
    expect(found([external]).portOverride).toBe(8080);
    expect(found([external], { node: ROUTER }).portOverride).toBe(0);
    expect(found([entry({ resolution: 'NONE' })]).portOverride).toBe(0);
  });
});
