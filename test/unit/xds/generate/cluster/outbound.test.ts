import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import {
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  Cluster_LbPolicy,
} from '../../../../../src/xds/proto/types.gen.ts';
import { istio, routerNode, Scene, type SceneOptions, service, sidecarNode } from '../route/scene.ts';
import { cluster, clustersOf, HTTP_PORT, httpOptions, rule, workload } from './cluster-scene.ts';

const NAME = 'outbound|80||web.default.svc.cluster.local';
const unlimited = { value: 4294967295 };

function scene(extra: readonly JsonObject[], options: SceneOptions = {}, port: JsonObject = HTTP_PORT): Scene {
  const made = new Scene([...workload('web', 'default', '10.0.0.1', [port]), ...extra], options);
  made.connect('p', sidecarNode('default'));
  made.connect('gw', routerNode('default'));
  return made;
}

function entry(spec: JsonObject, annotations: JsonObject = {}): JsonObject {
  const ports = [{ number: 443, name: 'tls', protocol: 'TLS' }];
  return istio('ServiceEntry', 'default', 'ext', { hosts: ['ext.example.com'], ports, ...spec }, { annotations });
}

describe('the cluster of a plain service', () => {
  it('has Istio’s defaults', () => {
    const { transportSocketMatches, filters, ...rest } = cluster(scene([]), 'p', NAME);
    expect(rest).toEqual({
      name: NAME,
      altStatName: `${NAME};`,
      type: Cluster_DiscoveryType.EDS,
      edsClusterConfig: {
        serviceName: NAME,
        edsConfig: { ads: {}, initialFetchTimeout: { seconds: 0, nanos: 0 }, resourceApiVersion: 2 },
      },
      connectTimeout: { seconds: 10, nanos: 0 },
      circuitBreakers: {
        thresholds: [
          { maxConnections: unlimited, maxPendingRequests: unlimited, maxRequests: unlimited, maxRetries: unlimited },
        ],
      },
      lbPolicy: Cluster_LbPolicy.LEAST_REQUEST,
      commonLbConfig: {},
      metadata: {
        filterMetadata: {
          istio: { services: [{ host: 'web.default.svc.cluster.local', name: 'web', namespace: 'default' }] },
        },
      },
    });
    expect(transportSocketMatches?.map(match => match.name)).toEqual(['tlsMode-istio', 'tlsMode-disabled']);
    expect(filters?.map(filter => filter.name)).toEqual(['istio.metadata_exchange']);
  });

  it('is absent for UDP ports and ExternalName services', () => {
    const names = [
      ...clustersOf(
        scene([
          service('dns', 'default', { clusterIP: '10.9.1.1', ports: [{ name: 'dns', port: 53, protocol: 'UDP' }] }),
          service('alias', 'default', { type: 'ExternalName', externalName: 'example.com', ports: [HTTP_PORT] }),
        ]),
        'p',
      ).keys(),
    ];
    expect(names.filter(name => /dns|alias/.test(name))).toEqual([]);
    expect(names).toContain(NAME);
  });

  it('follows the pattern of statistics names', () => {
    const outboundClusterStatName = '%SERVICE%_%SERVICE_PORT_NAME%_%SERVICE_PORT%_%TARGET_PORT%_%SUBSET_NAME%';
    expect(cluster(scene([], { mesh: { outboundClusterStatName } }), 'p', NAME).altStatName).toBe(
      'web.default_http_80_0_;',
    );
  });

  it('omits metadata and metadata exchange if the flags say so', () => {
    const env = { PILOT_ENABLE_TELEMETRY_LABEL: 'false', PILOT_ENABLE_METADATA_EXCHANGE: 'false' };
    const message = cluster(scene([], { env }), 'p', NAME);
    expect(message.metadata).toBeUndefined();
    expect(message.filters).toBeUndefined();
  });
});

describe('the discovery type', () => {
  it('of a headless service is the original destination, except on gateways', () => {
    const headless = service('db', 'default', { clusterIP: 'None', ports: [{ name: 'tcp', port: 5432 }] });
    const name = 'outbound|5432||db.default.svc.cluster.local';
    expect(cluster(scene([headless]), 'p', name)).toMatchObject({
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
    });
    expect(cluster(scene([headless]), 'gw', name).type).toBe(Cluster_DiscoveryType.EDS);
    const env = { PILOT_ENABLE_EDS_FOR_HEADLESS_SERVICES: 'true' };
    expect(cluster(scene([headless], { env }), 'p', name).type).toBe(Cluster_DiscoveryType.EDS);
  });

  const external = 'outbound|443||ext.example.com';
  it.each([
    ['DNS', {}, Cluster_DiscoveryType.STRICT_DNS, Cluster_DnsLookupFamily.V4_ONLY],
    ['DNS_ROUND_ROBIN', {}, Cluster_DiscoveryType.LOGICAL_DNS, Cluster_DnsLookupFamily.V4_ONLY],
    [
      'DNS',
      { 'istio.io/connect-strategy': 'RACE_FIRST_TCP_CONNECT' },
      Cluster_DiscoveryType.LOGICAL_DNS,
      Cluster_DnsLookupFamily.ALL,
    ],
  ])('of resolution %s %j resolves names and contains its endpoints', (resolution, annotations, type, family) => {
    const message = cluster(scene([entry({ resolution }, annotations)]), 'p', external);
    expect(message).toMatchObject({ type, dnsLookupFamily: family, respectDnsTtl: true });
    expect(message.loadAssignment?.endpoints?.[0]?.lbEndpoints?.[0]?.endpoint?.address?.socketAddress).toEqual({
      address: 'ext.example.com',
      portValue: 443,
    });
    expect(message.dnsJitter).toEqual({ seconds: 0, nanos: 100_000_000 });
  });

  it('of resolution NONE connects to the requested address, with the target port if it differs', () => {
    const ports = [{ number: 443, name: 'tls', protocol: 'TLS', targetPort: 8443 }];
    const message = cluster(scene([entry({ resolution: 'NONE', ports })]), 'p', external);
    expect(message.type).toBe(Cluster_DiscoveryType.ORIGINAL_DST);
    expect(message.originalDstLbConfig).toEqual({ upstreamPortOverride: { value: 8443 } });
  });

  it('of DYNAMIC_DNS with a wildcard is a forward proxy', () => {
    const ports = [
      { number: 80, name: 'http', protocol: 'HTTP' },
      { number: 443, name: 'tls', protocol: 'TLS' },
    ];
    const dynamic = scene([entry({ hosts: ['*.example.com'], resolution: 'DYNAMIC_DNS', ports })]);
    const message = cluster(dynamic, 'p', 'outbound|80||*.example.com');
    expect(message.clusterType?.name).toBe('envoy.clusters.dynamic_forward_proxy');
    expect(message.commonLbConfig).toBeUndefined();
    expect([...clustersOf(dynamic, 'p').keys()]).toContain('outbound|443||*.example.com');
  });

  it.each<[string, JsonObject | undefined, true | undefined]>([
    ['without TLS', undefined, undefined],
    ['that validates the requested name', { mode: 'SIMPLE' }, undefined],
    ['with a name of the rule', { mode: 'SIMPLE', sni: 'a.example.com' }, true],
    ['that validates nothing', { mode: 'SIMPLE', insecureSkipVerify: true }, true],
    ['of the mesh', { mode: 'ISTIO_MUTUAL' }, undefined],
    ['of the mesh with a name of the rule', { mode: 'ISTIO_MUTUAL', sni: 'a.example.com' }, true],
  ])('of a forward proxy %s is marked as insecure only where Envoy demands it', (_what, tls, expected) => {
    const rules = tls === undefined ? [] : [rule('*.example.com', { trafficPolicy: { tls } })];
    const made = scene([entry({ hosts: ['*.example.com'], resolution: 'DYNAMIC_DNS' }), ...rules]);
    const { clusterType } = cluster(made, 'p', 'outbound|443||*.example.com');
    const config = clusterType?.typedConfig as { readonly allowInsecureClusterOptions?: boolean } | undefined;
    expect(config?.allowInsecureClusterOptions).toBe(expected);
  });

  it('of names without any endpoint gives no cluster', () => {
    const spec = { resolution: 'DNS', workloadSelector: { labels: { app: 'none' } } };
    expect([...clustersOf(scene([entry(spec)]), 'p').keys()]).not.toContain(external);
  });

  it('becomes the original destination by PASSTHROUGH, without endpoints', () => {
    const rules = [entry({ resolution: 'DNS' }), rule('ext.example.com', passthrough)];
    const message = cluster(scene(rules), 'p', external);
    expect(message.type).toBe(Cluster_DiscoveryType.ORIGINAL_DST);
    expect(message.loadAssignment).toBeUndefined();
  });
});

const passthrough = { trafficPolicy: { loadBalancer: { simple: 'PASSTHROUGH' } } };

describe('the upstream protocol of a cluster', () => {
  const optionsOf = (s: Scene, connection = 'p', name = NAME) =>
    cluster(s, connection, name).typedExtensionProtocolOptions?.[httpOptions];

  it.each([
    ['http', undefined],
    ['tcp', undefined],
    ['grpc', { explicitHttpConfig: { http2ProtocolOptions: {} } }],
    ['http2', { explicitHttpConfig: { http2ProtocolOptions: {} } }],
    ['foo', { useDownstreamProtocolConfig: { httpProtocolOptions: {}, http2ProtocolOptions: {} } }],
  ])('is derived from a port named %s', (name, expected) => {
    const options = optionsOf(scene([], {}, { name, port: 80 }));
    if (expected === undefined) expect(options).toBeUndefined();
    else expect(options).toMatchObject(expected);
  });

  it('of an undetected port is HTTP/1 on gateways', () => {
    expect(optionsOf(scene([], {}, { name: 'foo', port: 80 }), 'gw')).toBeUndefined();
  });

  it.each<[string, string | undefined, string | undefined, boolean]>([
    ['http', undefined, 'UPGRADE', true],
    ['tcp', undefined, 'UPGRADE', false],
    ['http', undefined, 'DO_NOT_UPGRADE', false],
    ['http', 'UPGRADE', undefined, true],
    ['tcp', 'UPGRADE', undefined, true],
    ['http', 'DO_NOT_UPGRADE', 'UPGRADE', false],
    ['http', 'DEFAULT', 'UPGRADE', true],
    ['http', 'DEFAULT', undefined, false],
  ])('of a port named %s with the rule %s in a mesh with %s is HTTP/2: %s', (name, ofRule, ofMesh, expected) => {
    const http = ofRule === undefined ? { maxRetries: 1 } : { h2UpgradePolicy: ofRule };
    const mesh = ofMesh === undefined ? {} : { h2UpgradePolicy: ofMesh };
    const made = scene([rule('web', { trafficPolicy: { connectionPool: { http } } })], { mesh }, { name, port: 80 });
    const options = optionsOf(made) as { readonly explicitHttpConfig?: JsonObject } | undefined;
    expect(options?.explicitHttpConfig?.http2ProtocolOptions !== undefined).toBe(expected);
  });

  it('is upgraded by the mesh or by a rule, and ALPN lists it', () => {
    const upgraded = scene([], { mesh: { h2UpgradePolicy: 'UPGRADE' } });
    expect(optionsOf(upgraded)).toMatchObject({ explicitHttpConfig: { http2ProtocolOptions: {} } });
    expect(JSON.stringify(cluster(upgraded, 'p', NAME).transportSocketMatches)).toContain('"istio","h2"');
    const refused = rule('web', { trafficPolicy: { connectionPool: { http: { h2UpgradePolicy: 'DO_NOT_UPGRADE' } } } });
    expect(optionsOf(scene([refused], { mesh: { h2UpgradePolicy: 'UPGRADE' } }))).toBeUndefined();
    const asked = rule('web', { trafficPolicy: { connectionPool: { http: { h2UpgradePolicy: 'UPGRADE' } } } });
    expect(optionsOf(scene([asked], {}, { name: 'tcp', port: 80 }))).toMatchObject({ explicitHttpConfig: {} });
  });

  it('has HTTP/2 settings only where HTTP/2 is certain', () => {
    const pool = { connectionPool: { http: { maxConcurrentStreams: 7 } } };
    expect(optionsOf(scene([rule('web', { trafficPolicy: pool })], {}, { name: 'grpc', port: 80 }))).toMatchObject({
      explicitHttpConfig: { http2ProtocolOptions: { maxConcurrentStreams: { value: 7 } } },
    });
    expect(optionsOf(scene([rule('web', { trafficPolicy: pool })]))).toEqual({
      '@type': `type.googleapis.com/${httpOptions}`,
      commonHttpProtocolOptions: {},
      explicitHttpConfig: { httpProtocolOptions: {} },
    });
  });
});
