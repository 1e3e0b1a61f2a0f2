// What the clusters of a waypoint are made of: those of services behind it, those beyond it, and its tunnels.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Port, Protocol } from '../../../../../src/core/model/service.ts';
import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import type { OutboundClusterInputs } from '../../../../../src/core/select/cluster/outbound.ts';
import { servicesOfClusters } from '../../../../../src/core/select/cluster/service-clusters.ts';
import { selectTunnelClusters } from '../../../../../src/core/select/cluster/tunnels.ts';
import type { UpstreamTlsInputs } from '../../../../../src/core/select/cluster/upstream-tls.ts';
import {
  selectVipClusters,
  servicesBeyondWaypoint,
  vipProtocolOf,
  vipProtocols,
  vipServices,
} from '../../../../../src/core/select/cluster/waypoint.ts';
import type { AssignmentInputs } from '../../../../../src/core/select/endpoint/assignment.ts';
import { ask, nodeOf, proxyOf } from '../../../world.ts';
import { shop, sidecarProxy, waypointProxy } from '../../../xds/ambient/mesh.ts';
import { destinationRule, service, serviceEntry, to, virtualService } from '../../registry/fixtures.ts';
import { ambientWorld } from '../ambient/fixtures.ts';

interface Socket {
  readonly tls: UpstreamTlsInputs | undefined;
  readonly proxyProtocol: unknown;
}
type Inputs = OutboundClusterInputs<Socket, AssignmentInputs>;
interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly metadata?: JsonObject;
}

const WEB = 'web.shop.svc.cluster.local';
const inShop = { namespace: 'shop' };

function asked<R>(run: (reader: ProxyReader) => R, objects: readonly JsonObject[], options: Options = {}): R {
  const query: Query<'', R> = { name: 'test/asked', run };
  return ask(ambientWorld(objects, options.env, options.mesh), query, '', waypointProxy(options.metadata));
}

/** The clusters of the service behind the waypoint with this host. */
const behind = (objects: readonly JsonObject[], options: Options = {}, host = WEB): readonly Inputs[] =>
  asked(
    reader => {
      const parts = {
        socket: (tls: UpstreamTlsInputs | undefined, proxyProtocol: unknown): Socket => ({ tls, proxyProtocol }),
        assignment: (inputs: AssignmentInputs) => inputs,
      };
      const own = vipServices(reader).filter(one => one.service.hostname === host);
      return own.flatMap(one => selectVipClusters(reader, parts, one));
    },
    objects,
    options,
  );
const only = (...args: Parameters<typeof behind>): Inputs => behind(...args)[0]!;
const rule = (spec: JsonObject, host = WEB): JsonObject => destinationRule('r', host, spec, inShop);
const policy = (trafficPolicy: JsonObject, host = WEB): JsonObject => rule({ trafficPolicy }, host);

const entry = (spec: JsonObject = {}): JsonObject =>
  serviceEntry('e', { hosts: ['e.com'], endpoints: [{ address: '10.9.1.1' }], ...spec }, inShop);

describe('a cluster of a service behind a waypoint', () => {
  it('has what the service and the mesh say, and no more', () => {
    expect(only(shop())).toEqual({
      name: `inbound-vip|80|http|${WEB}`,
      statName: `inbound-vip|80|http|${WEB}`,
      discovery: 'EDS',
      hostname: WEB,
      protocol: 'HTTP',
      finalProtocol: 'unset',
      headerCase: false,
      sockets: { tls: undefined, proxyProtocol: undefined },
      proxyProtocol: undefined,
      assignment: undefined,
      serviceHost: WEB,
      serviceName: 'web',
      serviceNamespace: 'shop',
      ruleName: '',
      ruleNamespace: '',
      subset: 'http',
      external: false,
      captured: false,
      overridesAlpn: false,
      tunnels: false,
      exchangeMetadata: false,
      exchangeLabels: '',
      autoSni: false,
      speaksTls: false,
      autoSanValidation: false,
      problems: [],
      connectTimeout: { seconds: 10, nanos: 0 },
      meshKeepalive: undefined,
      trackRemaining: false,
      connectionPool: undefined,
      retryBudget: undefined,
      outlierDetection: undefined,
      loadBalancer: undefined,
      localityWeighted: false,
      sendsUnhealthy: false,
      keepsSessions: false,
      picksEndpoints: false,
      dnsFamily: undefined,
      dnsRefreshRate: undefined,
      dnsJitterMs: 0,
      dnsUdpMaxQueries: 0,
      hashesKeys: false,
      portOverride: 0,
    });
  });

  it('exists for each port, protocol and subset, in this order', () => {
    expect(behind([...shop(), rule({ subsets: [{ name: 'v1' }] })]).map(({ name, subset }) => [name, subset])).toEqual([
      [`inbound-vip|80|http|${WEB}`, 'http'],
      [`inbound-vip|80|http/v1|${WEB}`, 'http/v1'],
      [`inbound-vip|9000|tcp|${WEB}`, 'tcp'],
      [`inbound-vip|9000|tcp/v1|${WEB}`, 'tcp/v1'],
      [`inbound-vip|7000|tcp|${WEB}`, 'tcp'],
      [`inbound-vip|7000|tcp/v1|${WEB}`, 'tcp/v1'],
      [`inbound-vip|7000|http|${WEB}`, 'http'],
      [`inbound-vip|7000|http/v1|${WEB}`, 'http/v1'],
    ]);
  });

  it('has the policy of its port, and of its subset', () => {
    const spec = {
      trafficPolicy: {
        connectionPool: { tcp: { maxConnections: 1 } },
        retryBudget: { minRetryConcurrency: 2 },
        outlierDetection: { consecutive5xxErrors: 3 },
        loadBalancer: { simple: 'RANDOM' },
        proxyProtocol: { version: 'V2' },
        portLevelSettings: [{ port: { number: 9000 }, connectionPool: { tcp: { maxConnections: 4 } } }],
      },
      subsets: [{ name: 'v1', trafficPolicy: { connectionPool: { tcp: { maxConnections: 5 } } } }],
    };
    const [http, v1, tcp] = behind([...shop(), rule(spec)]);
    const { portLevelSettings: _, proxyProtocol, ...fields } = spec.trafficPolicy;
    expect(http).toMatchObject({ ...fields, proxyProtocol: undefined, sockets: { proxyProtocol } });
    expect(v1?.connectionPool?.tcp?.maxConnections).toBe(5);
    expect(tcp?.connectionPool?.tcp?.maxConnections).toBe(4);
    expect([http?.ruleName, http?.ruleNamespace]).toEqual(['r', 'shop']);
  });

  it('names a rule only where it has a policy', () => {
    const spec = { subsets: [{ name: 'v1' }, { name: 'v2', trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }] };
    const named = behind([...shop(), rule(spec)]).slice(0, 3);
    expect(named.map(one => one.ruleName + one.ruleNamespace)).toEqual(['', '', 'rshop']);
  });

  it('speaks HTTP/2 by its port, a rule or, on ports without a protocol, its client', () => {
    const pool = (http: JsonObject) => policy({ connectionPool: { http } });
    const spoken = (parts: readonly JsonObject[], options: Options = {}) => {
      const [http, , , detected] = behind([...shop(), ...parts], options).map(one => one.finalProtocol);
      return [http, detected];
    };
    expect(spoken([])).toEqual(['unset', 'downstream']);
    expect(spoken([pool({ h2UpgradePolicy: 'UPGRADE' })])).toEqual(['http2', 'downstream']);
    expect(spoken([pool({ useClientProtocol: true })])).toEqual(['downstream', 'downstream']);
    expect(spoken([], { mesh: { h2UpgradePolicy: 'UPGRADE' } })).toEqual(['http2', 'downstream']);
    const tls = { mode: 'SIMPLE' };
    const upgraded = policy({ tls, connectionPool: { http: { h2UpgradePolicy: 'UPGRADE' } } });
    expect(only([...shop(), upgraded]).sockets?.tls?.http2).toBe(true);
    expect(only([...shop(), policy({ tls })]).sockets?.tls?.http2).toBe(false);
  });

  it.each<[JsonObject, string | undefined, boolean]>([
    [{ mode: 'SIMPLE' }, 'SIMPLE', true],
    [{ mode: 'SIMPLE', sni: 'a.com' }, 'SIMPLE', false],
    [{ mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k' }, 'MUTUAL', true],
    [{ mode: 'ISTIO_MUTUAL' }, undefined, false],
    [{ mode: 'DISABLE' }, undefined, false],
  ])('with the TLS %j speaks %s, with the SNI of the request: %s', (tls, mode, auto) => {
    const found = only([...shop(), policy({ tls })]);
    expect([found.sockets?.tls?.mode, found.autoSni, found.autoSanValidation]).toEqual([mode, auto, auto]);
    if (mode !== undefined) expect(found.sockets?.tls?.sni).toBe(tls.sni ?? '');
  });

  it('weighs localities with the flag, or by what its rule distributes', () => {
    const distribute = [{ from: 'r/*', to: { 'r/*': 100 } }];
    const weighs = (parts: readonly JsonObject[], options: Options = {}) =>
      only([...shop(), ...parts], options).localityWeighted;
    const loadBalancer = { localityLbSetting: { enabled: true, distribute } };
    expect(weighs([policy({ loadBalancer, outlierDetection: { consecutive5xxErrors: 1 } })])).toBe(true);
    expect(weighs([], { env: { ENABLE_LOCALITY_WEIGHTED_LB_CONFIG: 'true' } })).toBe(true);
    expect(weighs([])).toBe(false);
  });

  it('that passes through leads to the port of the ServiceEntry', () => {
    const ports = [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }];
    const through = (more: JsonObject) => {
      const one = serviceEntry('e', { hosts: ['e.com'], resolution: 'NONE', ...more }, inShop);
      const found = only([...shop(), one], {}, 'e.com');
      return [found.discovery, found.portOverride];
    };
    expect(through({ ports })).toEqual(['ORIGINAL_DST', 8080]);
    expect(through({})).toEqual(['ORIGINAL_DST', 0]);
  });

  it('resolves names itself, and is absent if there are none', () => {
    const [found] = behind([...shop(), entry({ resolution: 'DNS' })], {}, 'e.com');
    expect(found).toMatchObject({ discovery: 'STRICT_DNS', dnsFamily: 'V4_ONLY', dnsRefreshRate: { seconds: 60 } });
    expect(found?.assignment?.endpoints).toHaveLength(1);
    const subsets = [{ name: 'v1', labels: { v: '1' } }];
    const all = behind([...shop(), entry({ resolution: 'DNS' }), rule({ subsets }, 'e.com')], {}, 'e.com');
    expect(all.map(one => one.assignment?.endpoints.length)).toEqual([1, 1]);
    const passed = policy({ loadBalancer: { simple: 'PASSTHROUGH' } }, 'e.com');
    const [through] = behind([...shop(), entry({ resolution: 'DNS' }), passed], {}, 'e.com');
    expect([through?.discovery, through?.assignment, through?.dnsFamily]).toEqual([
      'ORIGINAL_DST',
      undefined,
      'V4_ONLY',
    ]);
    const unbacked = serviceEntry(
      'e',
      { hosts: ['e.com'], resolution: 'DNS', workloadSelector: { labels: { app: 'none' } } },
      inShop,
    );
    expect(behind([...shop(), unbacked], {}, 'e.com')).toEqual([]);
  });
});

describe('a port behind a waypoint carries', () => {
  const port = (protocol: Protocol): Port => ({ name: 'p', port: 80, protocol });
  const wild = entry({ hosts: ['*.e.com'], resolution: 'DYNAMIC_DNS', endpoints: [] });
  const carried = (objects: readonly JsonObject[], host: string, protocol: Protocol, options: Options = {}) =>
    asked(
      reader => {
        const found = vipServices(reader).find(one => one.service.hostname === host)!;
        return vipProtocols(reader, found.service, port(protocol));
      },
      objects,
      options,
    );

  it.each<[Protocol, readonly string[], readonly string[]]>([
    ['HTTP', ['http'], ['http']],
    ['GRPC', ['http'], []],
    ['TCP', ['tcp'], []],
    ['TLS', ['tcp'], []],
    ['UDP', [], []],
    ['Unsupported', ['tcp', 'http'], []],
  ])('of the protocol %s %j, and %j where names are resolved on demand', (protocol, plain, dynamic) => {
    expect(carried(shop(), WEB, protocol)).toEqual(plain);
    expect(carried([...shop(), wild], '*.e.com', protocol)).toEqual(dynamic);
  });

  it('TLS to names on demand with the flag', () => {
    const env = { ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS: 'true' };
    expect(carried([...shop(), wild], '*.e.com', 'TLS', { env })).toEqual(['tcp']);
  });

  it.each<[Protocol, string]>([
    ['HTTP', 'http'],
    ['Unsupported', 'http'],
    ['TCP', 'tcp'],
  ])('%s under the name %s', (protocol, name) => {
    expect(vipProtocolOf({ protocol })).toBe(name);
    expect(vipProtocolOf(undefined)).toBe('http');
  });
});

describe('beyond a waypoint', () => {
  const other = (name: string) => service(name, { ports: [{ name: 'http', port: 80 }] }, inShop);
  const none = { 'istio.io/use-waypoint': 'none' };
  const far = (name: string) => service(name, {}, { ...inShop, labels: none });
  const FAR = 'far.shop.svc.cluster.local';
  const route = (spec: JsonObject) => virtualService('v', spec, inShop);
  const hosts = (objects: readonly JsonObject[], options: Options = {}) =>
    asked(reader => reader.get(servicesBeyondWaypoint, '').map(one => one.hostname), [...shop(), ...objects], options);

  it('are services that a route from one behind it leads to', () => {
    const from = (host: string, rest: JsonObject = {}) => route({ hosts: [host], http: [to(FAR)], ...rest });
    expect(hosts([far('far'), from(WEB)])).toEqual([FAR]);
    expect(hosts([far('far'), from('other.com')])).toEqual([]);
    expect(hosts([far('far'), from(WEB, { gateways: ['shop/gate'] })])).toEqual([]);
    expect(hosts([far('far')])).toEqual([]);
  });

  it('are none behind it, but for those outside of the mesh', () => {
    expect(hosts([other('near'), route({ hosts: [WEB], http: [to('near.shop.svc.cluster.local')] })])).toEqual([]);
    const toEntry = route({ hosts: [WEB], http: [to('e.com')] });
    expect(hosts([entry({ location: 'MESH_EXTERNAL' }), toEntry])).toEqual(['e.com']);
    expect(hosts([entry({ location: 'MESH_INTERNAL' }), toEntry])).toEqual([]);
  });

  it.each([FAR, `shop/${FAR}`])('is the service of a provider, named %s', name => {
    const extensionProviders = [{ name: 'p', envoyExtAuthzHttp: { service: name, port: 80 } }];
    expect(hosts([far('far')], { mesh: { extensionProviders } })).toEqual([FAR]);
  });

  it('are the services that have outbound clusters, with their rules', () => {
    const objects = [...shop(), far('far'), route({ hosts: [WEB], http: [to(FAR)] }), rule({}, FAR)];
    const found = asked(servicesOfClusters, objects);
    expect(found.map(one => [one.service.hostname, one.rule?.name, one.sniDnat])).toEqual([[FAR, 'r', false]]);
  });
});

describe('the tunnels of', () => {
  const tunnels = (proxy = waypointProxy(), env: Readonly<Record<string, string>> = {}, mesh?: JsonObject) => {
    const query: Query<'', ReturnType<typeof selectTunnelClusters>> = { name: 'test/t', run: selectTunnelClusters };
    return ask(ambientWorld(shop(), env, mesh), query, '', proxy);
  };
  const names = (...args: Parameters<typeof tunnels>) => {
    const { openers, internal, inner } = tunnels(...args);
    return [openers.map(one => one.name), internal.map(one => `${one.name}>${one.listener}`), inner?.name];
  };
  const nested = { AMBIENT_ENABLE_MULTI_NETWORK: 'true', AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT: 'true' };
  const single = { ...nested, AMBIENT_ENABLE_MULTI_NETWORK: 'false', AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT: 'false' };
  const both = ['main_internal>main_internal', 'encap>connect_originate'];

  it('a waypoint are one, or two in each other with the flag', () => {
    expect(names(waypointProxy(), single)).toEqual([['connect_originate'], both, undefined]);
    expect(names(waypointProxy(), nested)).toEqual([
      ['connect_originate', 'outer_connect_originate'],
      both,
      'inner_connect_originate',
    ]);
    const without = { PILOT_ENABLE_AMBIENT: 'false' };
    expect(names(waypointProxy(), without)).toEqual([['connect_originate'], both, undefined]);
  });

  it('a waypoint have settings of the mesh and of flags', () => {
    const env = {
      ...nested,
      PILOT_HBONE_INITIAL_STREAM_WINDOW_SIZE: '7',
      PILOT_HBONE_INITIAL_CONNECTION_WINDOW_SIZE: '8',
      DISABLE_TRACK_REMAINING_CB_METRICS: 'false',
    };
    const { openers, internal, inner } = tunnels(waypointProxy(), env, { connectTimeout: '3s', trustDomain: 'td' });
    const same = {
      trackRemaining: true,
      idleTimeout: { seconds: 3600, nanos: 0 },
      streamWindow: 7,
      connectionWindow: 8,
    };
    const timeout = { connectTimeout: { seconds: 3, nanos: 0 } };
    const morePeers = ['spiffe://td/ns/shop/sa/'];
    expect(openers).toMatchObject([
      { ...same, ...timeout, throughWaypoint: true, unshared: false, morePeers },
      { ...same, ...timeout, throughWaypoint: false, unshared: true, morePeers: [] },
    ]);
    expect(inner).toMatchObject({ ...same, listener: 'outer_connect_originate', unshared: true });
    expect(internal.map(one => one.trackRemaining)).toEqual([true, true]);
    const plain = tunnels();
    expect(plain.internal.map(one => one.trackRemaining)).toEqual([false, false]);
    expect(plain.openers[0]).toMatchObject({ trackRemaining: false, streamWindow: 0, connectionWindow: 0 });
  });

  it('a waypoint verify no peers with the flag', () => {
    expect(tunnels(waypointProxy(), { PILOT_SKIP_VALIDATE_TRUST_DOMAIN: 'true' }).openers[0]?.morePeers).toEqual([]);
  });

  it('a sidecar are opened and taken by two flags', () => {
    const takes = { PILOT_ENABLE_SIDECAR_LISTENING_HBONE: 'true' };
    const metadata = { ENABLE_HBONE: 'true' };
    expect(names(sidecarProxy(metadata), { ...takes, PILOT_ENABLE_SENDING_HBONE: 'true' })).toEqual([
      ['connect_originate'],
      ['main_internal>main_internal'],
      undefined,
    ]);
    expect(names(sidecarProxy(), { ...takes, PILOT_ENABLE_SENDING_HBONE: 'false' })).toEqual([[], [], undefined]);
    const gateway = proxyOf(nodeOf({ type: 'router', metadata }));
    expect(names(gateway, { ...takes, PILOT_ENABLE_SENDING_HBONE: 'true' })).toEqual([
      ['connect_originate'],
      [],
      undefined,
    ]);
    const [opener] = tunnels(sidecarProxy(), { PILOT_ENABLE_SENDING_HBONE: 'true' }).openers;
    expect([opener?.throughWaypoint, opener?.unshared, opener?.morePeers]).toEqual([true, false, []]);
  });
});
