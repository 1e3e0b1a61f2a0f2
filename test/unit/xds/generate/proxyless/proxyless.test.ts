// What a gRPC program without a proxy is sent: the rules that differ from those of a sidecar.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Resource } from '../../../../../src/core/model/resource.ts';
import { wantedListeners } from '../../../../../src/core/select/listener/proxyless-names.ts';
import { allOf, listedOf, namedOf } from '../../../../../src/offline/generate.ts';
import { resourceSources } from '../../../../../src/xds/assemble/types.ts';
import { Engine } from '../../../../../src/xds/engine/engine.ts';
import type { Cluster, HttpFilter, Listener, RouteConfiguration } from '../../../../../src/xds/proto/types.gen.ts';
import { CDS, EDS, LDS, RDS } from '../../../../../src/xds/session/types.ts';
import { istio, Scene, type SceneOptions, service } from '../route/scene.ts';

const ORDERS = 'orders.prod.svc.cluster.local';
const CLUSTER = `outbound|50051||${ORDERS}`;
const SERVER = 'xds.istio.io/grpc/lds/inbound/0.0.0.0:9090';

const orders = service('orders', 'prod', {
  clusterIP: '10.96.0.7',
  ports: [{ name: 'grpc', port: 50_051, targetPort: 9090 }],
  selector: { app: 'orders' },
});

function pod(labels: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'orders-1', namespace: 'prod', labels: { app: 'orders', ...labels } },
    spec: { containers: [{ name: 'app', ports: [{ containerPort: 9090 }] }] },
    status: { phase: 'Running', podIP: '10.1.0.1', podIPs: [{ ip: '10.1.0.1' }] },
  };
}

function grpcNode(metadata: JsonObject = {}): JsonObject {
  return {
    id: 'sidecar~10.1.0.1~orders-1.prod~prod.svc.cluster.local',
    metadata: { GENERATOR: 'grpc', NAMESPACE: 'prod', CLUSTER_ID: 'Kubernetes', ...metadata },
  };
}

function scene(more: readonly JsonObject[] = [], node = grpcNode(), options: SceneOptions = {}): Scene {
  const made = new Scene([orders, ...more], options);
  made.connect('c', node);
  return made;
}

function listed(of: Scene, url: string, ...names: readonly string[]): readonly Resource<object>[] {
  return listedOf(of.tracker, of.state, of.state.proxies.get('c')!, url, names);
}

function one<T>(of: Scene, url: string, name: string): T {
  const found = namedOf(of.tracker, of.state, of.state.proxies.get('c')!, url, name);
  if (found === undefined) throw new Error(`no ${name}`);
  return found.message as T;
}

const names = (made: readonly Resource<object>[]): readonly string[] => made.map(({ name }) => name);

function policy(name: string, spec: JsonObject, annotations: JsonObject = {}): JsonObject {
  const metadata = { name, namespace: 'prod', annotations };
  return { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata, spec };
}

interface Chain {
  readonly name: string;
  readonly transportSocket?: object;
  readonly filters: readonly [{ readonly typedConfig: { readonly httpFilters: readonly HttpFilter[] } }];
}

function chainOf(of: Scene): Chain {
  return one<Listener>(of, LDS, SERVER).filterChains![0] as unknown as Chain;
}

interface Rules {
  readonly action?: number;
  readonly policies: Readonly<Record<string, JsonObject>>;
}

/** The rules of the filter that allows, or denies; undefined: there is no such filter. */
function rulesOf(of: Scene, filter: string): Rules | undefined {
  const found = chainOf(of).filters[0].typedConfig.httpFilters.find(({ name }) => name === filter);
  return (found?.typedConfig as { readonly rules?: Rules } | undefined)?.rules;
}
const ALLOW = 'envoy.filters.http.rbac';
const DENY = 'envoy.filters.http.rbac.DENY';
const never = { permissions: [{ notRule: { any: true } }], principals: [{ notId: { any: true } }] };

describe('the listeners of a gRPC client', () => {
  it.each([
    ['orders:50051', 'orders:50051'],
    ['orders.prod:50051', 'orders.prod:50051'],
    ['orders.prod.svc:50051', 'orders.prod.svc:50051'],
    [`${ORDERS}:50051`, `${ORDERS}:50051`],
    ['orders', 'orders:50051'],
  ])('carry the spelling that was asked for: %s', (asked, name) => {
    expect(names(listed(scene(), LDS, asked))).toEqual([name]);
  });

  it.each(['orders.other:50051', 'orders:1', 'nothing:50051', 'orders:50051:1', 'orders:', ''])(
    'do not exist under the name %j',
    asked => {
      expect(names(listed(scene(), LDS, asked))).toEqual([]);
    },
  );

  it('are those of all services if no name is given', () => {
    expect(names(listed(scene(), LDS))).toEqual([`${ORDERS}:50051`]);
  });

  it('pool the ports of all spellings of a host, and have all of them once one spelling has no port', () => {
    const place = { namespace: 'a', dnsDomain: 'a.svc.x' };
    const pooled = wantedListeners(['h:1', 'h.a:2'], place).hosts!;
    expect(pooled.get('h.a.svc.x')).toEqual({ spellings: ['h', 'h.a'], ports: new Set(['1', '2']) });
    expect(wantedListeners(['h', 'h.a:2'], place).hosts!.get('h.a.svc.x')?.ports).toBeUndefined();
  });

  it('are found by short names from an id that alone says the namespace', () => {
    const simple = { id: 'sidecar~10.1.0.1~orders-1.prod~cluster.local', metadata: { GENERATOR: 'grpc' } };
    expect(names(listed(scene([], simple), LDS, 'orders:50051'))).toEqual(['orders:50051']);
  });

  it('hold the session filter of a service that keeps its sessions', () => {
    const labels = { 'istio.io/persistent-session': 'session' };
    const kept = service('kept', 'prod', { ...(orders.spec as JsonObject) }, { labels });
    const env = { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true' };
    const made = one<Listener>(scene([kept], grpcNode(), { env }), LDS, 'kept:50051');
    const { httpFilters } = made.apiListener!.apiListener as unknown as { httpFilters: readonly HttpFilter[] };
    expect(httpFilters.map(({ name }) => name)).toEqual([
      'envoy.filters.http.stateful_session',
      'envoy.filters.http.fault',
      'envoy.filters.http.router',
    ]);
  });
});

describe('the routes of a gRPC client', () => {
  const routed = (http: JsonObject, hosts: readonly string[] = ['orders']): RouteConfiguration =>
    one(scene([istio('VirtualService', 'prod', 'orders', { hosts, http: [http] })]), RDS, CLUSTER);
  const to = { route: [{ destination: { host: 'orders' } }] };

  it('limit the duration of a stream, which gRPC reads, and not the deprecated field', () => {
    const route = routed({ ...to, timeout: '3s' }).virtualHosts![0]!.routes![0]!.route!;
    expect(route.maxStreamDuration).toEqual({ maxStreamDuration: { seconds: 3, nanos: 0 } });
    expect(route.maxGrpcTimeout).toBeUndefined();
  });

  it('leave out CORS, for which gRPC would refuse them all, with a finding', () => {
    const virtualService = { hosts: ['orders'], http: [{ ...to, corsPolicy: { maxAge: '1s' } }] };
    const of = scene([istio('VirtualService', 'prod', 'orders', virtualService)]);
    const [found] = listed(of, RDS, CLUSTER);
    expect((found!.message as RouteConfiguration).virtualHosts![0]!.routes![0]!.typedPerFilterConfig).toBeUndefined();
    expect(found!.problems.map(({ path }) => path)).toEqual(['VirtualService prod/orders spec.http[0].corsPolicy']);
    const plain = scene([istio('VirtualService', 'prod', 'orders', { hosts: ['orders'], http: [to] })]);
    expect(listed(plain, RDS, CLUSTER)[0]!.problems).toEqual([]);
  });

  it('keep faults, which gRPC knows', () => {
    const fault = { abort: { grpcStatus: 'UNAVAILABLE', percentage: { value: 100 } } };
    const { typedPerFilterConfig } = routed({ ...to, fault }).virtualHosts![0]!.routes![0]!;
    expect(Object.keys(typedPerFilterConfig ?? {})).toEqual(['envoy.filters.http.fault']);
  });

  it('have domains with and without port, of hosts that are no service too', () => {
    const hosts = routed(to, ['orders', 'shop.example.com']).virtualHosts!;
    const of = (name: string) => hosts.find(host => host.name === `${name}:50051`)?.domains;
    expect(of(ORDERS)).toEqual(expect.arrayContaining(['orders', 'orders:50051', ORDERS, '10.96.0.7:50051']));
    expect(of('shop.example.com')).toEqual(['shop.example.com', 'shop.example.com:50051']);
  });

  it('do not exist under a name that is no cluster', () => {
    expect(listed(scene(), RDS, '50051', 'outbound|0||x', 'outbound|50051||')).toEqual([]);
  });
});

describe('the clusters of a gRPC client', () => {
  const rule = (trafficPolicy: JsonObject): JsonObject =>
    istio('DestinationRule', 'prod', 'orders', {
      host: 'orders',
      trafficPolicy,
      subsets: [{ name: 'v1', labels: { version: 'v1' }, trafficPolicy: { loadBalancer: { simple: 'ROUND_ROBIN' } } }],
    });
  const cluster = (trafficPolicy: JsonObject, name = CLUSTER): Cluster => one(scene([rule(trafficPolicy)]), CDS, name);

  it.each([
    ['LEAST_REQUEST', 1],
    ['LEAST_CONN', undefined],
    ['ROUND_ROBIN', undefined],
    ['RANDOM', undefined],
    ['PASSTHROUGH', undefined],
  ])('of %s have a policy that gRPC knows', (simple, lbPolicy) => {
    expect(cluster({ loadBalancer: { simple } }).lbPolicy).toBe(lbPolicy);
  });

  it('hash on a ring, also where the rule names Maglev', () => {
    const hash = (more: JsonObject) => ({ loadBalancer: { consistentHash: { httpHeaderName: 'x', ...more } } });
    const { lbPolicy, ringHashLbConfig } = cluster(hash({ ringHash: { minimumRingSize: 5 } }));
    expect([lbPolicy, ringHashLbConfig?.minimumRingSize]).toEqual([2, { value: 5 }]);
    const maglev = cluster(hash({ maglev: { tableSize: 7 } }));
    expect([maglev.lbPolicy, maglev.maglevLbConfig]).toEqual([2, undefined]);
  });

  it('limit requests, and nothing else of a connection pool', () => {
    const pool = { http: { http2MaxRequests: 9, http1MaxPendingRequests: 3 }, tcp: { maxConnections: 4 } };
    expect(cluster({ connectionPool: pool }).circuitBreakers).toEqual({ thresholds: [{ maxRequests: { value: 9 } }] });
  });

  it.each([['SIMPLE'], ['MUTUAL'], ['DISABLE']])('use no TLS in mode %s', mode => {
    const files = mode === 'MUTUAL' ? { clientCertificate: '/c', privateKey: '/k' } : {};
    expect(cluster({ tls: { mode, ...files } }).transportSocket).toBeUndefined();
  });

  it('of a subset have the policy of the subset', () => {
    const ring = { loadBalancer: { consistentHash: { httpHeaderName: 'x' } } };
    expect([cluster(ring).lbPolicy, cluster(ring, `outbound|50051|v1|${ORDERS}`).lbPolicy]).toEqual([2, undefined]);
  });

  it.each(['LEAST_CONN', 'RANDOM', 'PASSTHROUGH'])('report that gRPC does not know %s', simple => {
    const [found] = listed(scene([rule({ loadBalancer: { simple } })]), CDS, CLUSTER);
    expect(found!.problems.map(({ message }) => message)).toEqual([
      `gRPC does not know ${simple}: its clients use round robin`,
    ]);
  });

  it('of a service that keeps its sessions keep to endpoints that drain, and those of its subsets do not', () => {
    const metadata = { name: 'orders', namespace: 'prod', labels: { 'istio.io/persistent-session': 'session' } };
    const env = { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: 'true' };
    const of = scene([{ ...orders, metadata }, rule({ loadBalancer: { simple: 'ROUND_ROBIN' } })], grpcNode(), { env });
    const [whole, subset] = ['', 'v1'].map(name => one<Cluster>(of, CDS, `outbound|50051|${name}|${ORDERS}`));
    expect(whole!.commonLbConfig?.overrideHostStatus).toBeDefined();
    expect(subset!.commonLbConfig).toBeUndefined();
    const bare = { ...orders, metadata: { ...metadata, labels: {} } };
    expect(one<Cluster>(scene([bare], grpcNode(), { env }), CDS, CLUSTER).commonLbConfig).toBeUndefined();
  });

  it('exist for subsets that the rule names', () => {
    const of = scene([rule({ tls: { mode: 'ISTIO_MUTUAL' } })]);
    const asked = ['v1', 'v2'].map(subset => `outbound|50051|${subset}|${ORDERS}`);
    const made = listed(of, CDS, ...asked, `outbound|1||${ORDERS}`, 'outbound|50051||nothing');
    expect(names(made)).toEqual([asked[0]]);
    expect((made[0]!.message as Cluster).transportSocket?.name).toBe('envoy.transport_sockets.tls');
  });

  it('are EDS clusters for hosts that a proxy resolves, too', () => {
    const host = 'api.example.com';
    const ports = [{ number: 443, name: 'grpc', protocol: 'GRPC' }];
    const of = scene([istio('ServiceEntry', 'prod', 'api', { hosts: [host], ports, resolution: 'DNS' })]);
    expect(one<Cluster>(of, CDS, `outbound|443||${host}`).type).toBe(3);
    expect(one<object>(of, EDS, `outbound|443||${host}`)).toEqual({ clusterName: `outbound|443||${host}` });
  });
});

describe('the listener of a gRPC server', () => {
  const peers = (mode: string, portLevelMtls?: JsonObject): JsonObject => ({
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name: 'p', namespace: 'prod' },
    spec: {
      ...(portLevelMtls === undefined ? {} : { selector: { matchLabels: { app: 'orders' } }, portLevelMtls }),
      mtls: { mode },
    },
  });
  const labelled = { 'security.istio.io/tlsMode': 'istio' };

  it.each<[string, JsonObject, readonly JsonObject[], string]>([
    ['STRICT', {}, [peers('STRICT')], 'inbound-mtls'],
    ['PERMISSIVE with the label', labelled, [], 'inbound-mtls'],
    ['PERMISSIVE without the label', {}, [], 'inbound-plaintext'],
    ['DISABLE with the label', labelled, [peers('DISABLE')], 'inbound-plaintext'],
    ['STRICT of its port alone', {}, [peers('DISABLE', { '9090': { mode: 'STRICT' } })], 'inbound-mtls'],
  ])('in mode %s has the right chain', (_, labels, objects, name) => {
    const chain = chainOf(scene([pod(labels), ...objects]));
    expect([chain.name, chain.transportSocket !== undefined]).toEqual([name, name === 'inbound-mtls']);
  });

  it.each(['0.0.0.0:50051', '0.0.0.0', '0.0.0.0:http', '0.0.0.0:'])('does not exist at %s', address => {
    expect(listed(scene([pod()]), LDS, `xds.istio.io/grpc/lds/inbound/${address}`)).toEqual([]);
  });

  it('refuses everything if an ALLOW policy has no rules', () => {
    expect(rulesOf(scene([pod(), policy('nothing', {})]), ALLOW)).toEqual({ policies: { 'prod-nothing-0': never } });
  });

  it('has no filter for AUDIT, CUSTOM or a policy on trial', () => {
    const rules = [{ to: [{ operation: { paths: ['/a'] } }] }];
    const of = scene([
      pod(),
      policy('audit', { action: 'AUDIT', rules }),
      policy('custom', { action: 'CUSTOM', rules, provider: { name: 'p' } }),
      policy('trial', { rules }, { 'istio.io/dry-run': 'true' }),
    ]);
    expect([rulesOf(of, ALLOW), rulesOf(of, DENY)]).toEqual([undefined, undefined]);
  });

  it.each<[string, JsonObject]>([
    ['a token', { from: [{ source: { requestPrincipals: ['*'] } }] }],
    ['a claim', { when: [{ key: 'request.auth.claims[group]', values: ['a'] }] }],
    ['the SNI', { when: [{ key: 'connection.sni', values: ['a'] }] }],
    ['metadata', { when: [{ key: 'experimental.envoy.filters.a.b[c]', values: ['a'] }] }],
    ['a path template', { to: [{ operation: { paths: ['/{*}/x'] } }] }],
  ])('allows nothing by, and denies more with, a rule about %s, which gRPC would take for a match', (_, rule) => {
    const of = scene([pod(), policy('allow', { rules: [rule] }), policy('deny', { action: 'DENY', rules: [rule] })]);
    expect(rulesOf(of, ALLOW)).toEqual({ policies: { 'prod-allow-0': never } });
    expect(rulesOf(of, DENY)?.policies['prod-deny-0']).toEqual({
      permissions: [{ andRules: { rules: [{ any: true }] } }],
      principals: [{ andIds: { ids: [{ any: true }] } }],
    });
  });

  it('refuses more with a path template beside another path', () => {
    const rules = [{ to: [{ operation: { paths: ['/a', '/b/{*}'] } }] }];
    const of = scene([pod(), policy('deny', { action: 'DENY', rules })]);
    expect(rulesOf(of, DENY)?.policies['prod-deny-0']?.permissions).toEqual([{ andRules: { rules: [{ any: true }] } }]);
  });

  it('keeps the policies of two namespaces that come to one name', () => {
    const named = (namespace: string, name: string): JsonObject => {
      const one = policy(name, { action: 'DENY', rules: [{ to: [{ operation: { paths: ['/a'] } }] }] });
      return { ...one, metadata: { namespace, name } };
    };
    const of = scene([pod(), named('prod', 'x-y'), named('prod-x', 'y')], grpcNode(), {
      mesh: { rootNamespace: 'prod-x' },
    });
    expect(Object.keys(rulesOf(of, DENY)?.policies ?? {})).toEqual(['prod-x-y-0', "prod-x-y-0'"]);
  });

  it('expands no trust domain aliases', () => {
    const rules = [{ from: [{ source: { principals: ['cluster.local/ns/a/sa/b'] } }] }];
    const of = scene([pod(), policy('a', { rules })], grpcNode(), { mesh: { trustDomainAliases: ['old'] } });
    const { principals } = rulesOf(of, ALLOW)!.policies['prod-a-0'] as { principals: readonly JsonObject[] };
    const exact = 'spiffe://cluster.local/ns/a/sa/b';
    expect(principals).toEqual([
      { andIds: { ids: [{ orIds: { ids: [{ authenticated: { principalName: { exact } } }] } }] } },
    ]);
  });
});

describe('the engine', () => {
  it('serves a gRPC client what it names, and a sidecar everything', () => {
    const of = scene([pod()]);
    of.connect('sidecar', { ...grpcNode(), metadata: { NAMESPACE: 'prod', CLUSTER_ID: 'Kubernetes' } });
    const engine = new Engine(resourceSources);
    const held = (connection: string, url: string, asked: readonly string[]) => {
      const subscription = { wildcard: asked.length === 0, names: asked };
      const set = engine.resourcesFor(of.state, of.state.proxies.get(connection)!, url, subscription);
      return [...set!.resources.keys()];
    };
    expect(held('c', LDS, ['orders'])).toEqual(['orders:50051']);
    expect(held('c', CDS, [])).toEqual([]);
    expect(held('sidecar', LDS, [])).toContain('virtualInbound');
    expect(held('sidecar', CDS, [])).toContain(CLUSTER);
    expect(allOf(of.tracker, of.state, of.state.proxies.get('c')!, CDS)).toEqual([]);
    const { found } = engine.provenance(of.state, of.state.proxies.get('c')!, CDS, CLUSTER)!;
    expect(found.join()).toContain('prod/orders');
  });
});
