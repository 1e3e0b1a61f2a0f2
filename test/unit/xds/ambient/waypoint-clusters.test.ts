import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Query } from '../../../../src/core/query/reader.ts';
import { endpointsOfClusters } from '../../../../src/core/select/endpoint/cluster-endpoints.ts';
import { endpointsOf } from '../../../../src/xds/assemble/endpoint/resources.ts';
import { destinationRule, serviceEntry } from '../../core/registry/fixtures.ts';
import { ambientWorld, hbone, namespace, waypoint } from '../../core/select/ambient/fixtures.ts';
import { ask } from '../../world.ts';
import {
  chainsOf,
  clustersOf,
  endpointsIn,
  listenersOf,
  pod,
  port,
  service,
  shop,
  slice,
  waypointProxy,
} from './mesh.ts';

const way = waypointProxy();
const WEB = 'web.shop.svc.cluster.local';
const text = (value: unknown): string => JSON.stringify(value);
const inShop = { namespace: 'shop' };

const outside = (spec: JsonObject = {}): JsonObject =>
  serviceEntry(
    'outside',
    {
      hosts: ['outside.example.com'],
      addresses: ['10.9.0.1'],
      ports: [{ number: 443, name: 'tls', protocol: 'TCP' }],
      resolution: 'STATIC',
      endpoints: [{ address: '10.9.1.1' }],
      subjectAltNames: ['spiffe://outside'],
      ...spec,
    },
    inShop,
  );
const OUTSIDE = 'inbound-vip|443|tcp|outside.example.com';

describe('a cluster of a waypoint', () => {
  it('follows the protocol of the client on a port without a protocol, and only there', () => {
    const port = (spec: JsonObject) => clustersOf(ambientWorld([...shop(), outside({ ports: [spec] })]), way);
    const auto = port({ number: 443, name: 'any' });
    for (const carries of ['http', 'tcp']) {
      const cluster = auto.get(`inbound-vip|443|${carries}|outside.example.com`);
      expect(text(cluster?.typedExtensionProtocolOptions)).toContain('useDownstreamProtocolConfig');
    }
    const tcp = port({ number: 443, name: 'any', protocol: 'TCP' }).get(OUTSIDE);
    expect(tcp).toBeDefined();
    expect(tcp?.typedExtensionProtocolOptions).toBeUndefined();
  });

  it('does not panic over unhealthy endpoints of a service that prefers near ones', () => {
    const near = shop({ webAnnotations: { 'networking.istio.io/traffic-distribution': 'PreferClose' } });
    const lb = (objects: readonly JsonObject[]) =>
      clustersOf(ambientWorld(objects), way).get(`inbound-vip|80|http|${WEB}`)?.commonLbConfig;
    expect(lb(near)?.healthyPanicThreshold).toEqual({});
    expect(lb(shop())?.healthyPanicThreshold).toBeUndefined();
  });

  it('that resolves names on demand gives up the check of names only for TLS that names a server itself', () => {
    const wild = outside({
      hosts: ['*.example.com'],
      addresses: [],
      endpoints: [],
      subjectAltNames: [],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'DYNAMIC_DNS',
    });
    const insecure = (...rules: readonly JsonObject[]) =>
      text(
        clustersOf(ambientWorld([...shop(), wild, ...rules]), way).get('inbound-vip|80|http|*.example.com')
          ?.clusterType,
      ).includes('allowInsecureClusterOptions');
    const simple = (tls: JsonObject) =>
      destinationRule('wild', '*.example.com', { trafficPolicy: { tls: { mode: 'SIMPLE', ...tls } } }, inShop);
    expect([insecure(), insecure(simple({})), insecure(simple({ sni: 'a.com' }))]).toEqual([false, false, true]);
  });

  it('of a service that its namespace does not see has no endpoints, and over state of the world an assignment that says so', () => {
    const sotw = { ...way, protocol: 'sotw' } as const;
    const world = (exportTo: JsonObject) => {
      const gateway = waypoint('way', { namespace: 'shop', listeners: [hbone({ from: 'All' })] });
      const web = service('web', '10.0.0.7', [port('http', 80)], {
        labels: { 'istio.io/use-waypoint': 'way', 'istio.io/use-waypoint-namespace': 'shop' },
        annotations: exportTo,
      });
      const far = [
        web,
        pod('web', '10.1.0.7'),
        slice('web', '10.1.0.7', [{ name: 'http', port: 8080, protocol: 'TCP' }]),
      ];
      const moved = far.map(object => ({
        ...object,
        metadata: { ...(object.metadata as JsonObject), namespace: 'far' },
      }));
      return ambientWorld([...shop({ gateway }), namespace('far'), ...moved]);
    };
    const name = 'inbound-vip|80|http|web.far.svc.cluster.local';
    const hidden = world({ 'networking.istio.io/exportTo': '.' });
    expect(clustersOf(hidden, way).has(name)).toBe(true);
    expect(ask(hidden, endpointsOf, name, sotw)?.message).toEqual({ clusterName: name });
    const listed: Query<'', readonly string[]> = {
      name: 'test/listed',
      run: reader => endpointsOfClusters(reader, [name]).map(of => of.clusterName),
    };
    expect(ask(hidden, listed, '', sotw)).toEqual([name]);
    expect(ask(hidden, listed, '', { ...way, protocol: 'delta' })).toEqual([]);
    expect(ask(world({}), endpointsOf, name, way)?.message.endpoints).toHaveLength(1);
  });

  it('verifies the names of the rule alone, not those of a ServiceEntry', () => {
    const simple = destinationRule(
      'outside',
      'outside.example.com',
      { trafficPolicy: { tls: { mode: 'SIMPLE' } } },
      inShop,
    );
    const socket = text(clustersOf(ambientWorld([...shop(), outside(), simple]), way).get(OUTSIDE)?.transportSocket);
    expect(socket).toContain('UpstreamTlsContext');
    expect(socket).not.toContain('spiffe://outside');
  });

  it('takes the certificates of the rule, whatever files and sockets the proxy has', () => {
    const mutual = destinationRule(
      'web',
      WEB,
      { trafficPolicy: { tls: { mode: 'MUTUAL', clientCertificate: '/c', privateKey: '/k', caCertificates: '/r' } } },
      inShop,
    );
    const proxy = waypointProxy({ TLS_CLIENT_CERT_CHAIN: '/other', 'file-credential': 'true', credential: 'true' });
    const socket = text(
      clustersOf(ambientWorld([...shop(), mutual]), proxy).get(`inbound-vip|80|http|${WEB}`)?.transportSocket,
    );
    expect(socket).toContain('file-cert:/c~/k');
    expect(socket).not.toContain('/other');
    expect(socket).not.toContain('sds-files-grpc');
  });

  it('says of endpoints that they take mesh mTLS beside the tunnel, whatever the rule of the service says', () => {
    const both = pod('web', '10.1.0.2', { labels: { 'security.istio.io/tlsMode': 'istio' } });
    const off = destinationRule('web', WEB, { trafficPolicy: { tls: { mode: 'DISABLE' } } }, inShop);
    const metadata = (objects: readonly JsonObject[]) =>
      endpointsIn(ambientWorld(objects), way, `inbound-vip|80|http|${WEB}`)[0]?.metadata?.filterMetadata;
    for (const objects of [
      [...shop(), both],
      [...shop(), both, off],
    ]) {
      expect(metadata(objects)?.['envoy.transport_socket_match']).toEqual({ tlsMode: 'istio' });
      expect(metadata(objects)).toHaveProperty('envoy.filters.listener.original_dst');
    }
  });

  it('opens tunnels in tunnels only for a proxy that a Gateway manages, and with the flag', () => {
    const names = (objects: readonly JsonObject[], env = {}) => [
      ...clustersOf(ambientWorld(objects, env), way).keys(),
      ...listenersOf(ambientWorld(objects, env), way).keys(),
    ];
    const nested = (found: readonly string[]) => found.filter(name => /^(inner|outer)_connect_originate$/.test(name));
    expect(nested(names(shop()))).toHaveLength(4);
    expect(nested(names(shop(), { AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT: 'false' }))).toEqual([]);
    const unmanaged = [...shop(), pod('way', '10.1.0.1', { labels: { app: 'way' }, captured: false })];
    expect(nested(names(unmanaged))).toEqual([]);
    expect(names(unmanaged)).toContain('connect_originate');
  });
});

describe('the statistics of a waypoint', () => {
  const statPrefixes = (pattern: string): string => {
    const objects = [...shop(), outside()];
    const chains = chainsOf(ambientWorld(objects, {}, { inboundClusterStatName: pattern }), way);
    const prefixOf = (chain: string): string | undefined =>
      text(chains.get(chain)).match(/"statPrefix":"([^"]*)"/)?.[1];
    return [OUTSIDE, `inbound-vip|9000|tcp|${WEB}`, 'direct-tcp'].map(prefixOf).join(' ');
  };

  it('are named by the pattern for inbound clusters, services of any registry by name and namespace', () => {
    expect(statPrefixes('%SERVICE%')).toBe('outside.example.com.shop web.shop ');
    expect(statPrefixes('%SERVICE_NAME%_%SERVICE_PORT_NAME%_%SERVICE_PORT%')).toBe(
      'outside.example.com_tls_443 web_tcp_9000 _unknown_0',
    );
  });
});
