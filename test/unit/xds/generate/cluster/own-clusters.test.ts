import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Cluster_DiscoveryType, Cluster_LbPolicy } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, routerNode, Scene, type SceneOptions, service, sidecarNode } from '../route/scene.ts';
import { cluster, clustersOf, HTTP_PORT, rule, workload } from './cluster-scene.ts';

/** The sidecar of the workload `web`. */
function node(metadata: JsonObject = {}, ip = '10.0.0.1'): JsonObject {
  return {
    id: `sidecar~${ip}~web.default~default.svc.cluster.local`,
    metadata: { NAMESPACE: 'default', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'web' }, ...metadata },
  };
}

function scene(extra: readonly JsonObject[] = [], options: SceneOptions = {}, metadata: JsonObject = {}): Scene {
  const ports = [{ ...HTTP_PORT, targetPort: 8080 }];
  const made = new Scene([...workload('web', 'default', '10.0.0.1', ports), ...extra], options);
  made.connect('web', node(metadata));
  return made;
}

describe('special clusters', () => {
  it('of a sidecar include black hole, passthrough and inbound passthrough', () => {
    const names = [...clustersOf(scene(), 'web').keys()];
    expect(names).toEqual([
      'BlackHoleCluster',
      'InboundPassthroughCluster',
      'PassthroughCluster',
      'inbound|8080||',
      'outbound|80||web.default.svc.cluster.local',
    ]);
  });

  it('of a gateway', () => {
    const made = scene();
    made.connect('gw', routerNode('default'));
    expect([...clustersOf(made, 'gw').keys()]).toEqual([
      'BlackHoleCluster',
      'outbound|80||web.default.svc.cluster.local',
    ]);
  });

  it('drop traffic, or pass it through from a source address of their own', () => {
    const made = scene();
    expect(cluster(made, 'web', 'BlackHoleCluster')).toEqual({
      name: 'BlackHoleCluster',
      altStatName: 'BlackHoleCluster;',
      type: Cluster_DiscoveryType.STATIC,
      connectTimeout: { seconds: 10, nanos: 0 },
    });
    expect(cluster(made, 'web', 'InboundPassthroughCluster')).toMatchObject({
      altStatName: 'PassthroughCluster;',
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      upstreamBindConfig: { sourceAddress: { address: '127.0.0.6', portValue: 0 } },
    });
  });

  it('include the credential server where its socket is mounted', () => {
    expect([...clustersOf(scene([], {}, { credential: 'true' }), 'web').keys()]).toContain('sds-external');
  });
});

describe('inbound clusters', () => {
  const name = 'inbound|8080||';

  it('connect to the original destination address', () => {
    expect(cluster(scene(), 'web', name)).toMatchObject({
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      cleanupInterval: { seconds: 9223372035, nanos: 0 },
      upstreamBindConfig: { sourceAddress: { address: '127.0.0.6' } },
      metadata: { filterMetadata: { istio: { services: [{ host: 'web.default.svc.cluster.local' }] } } },
    });
  });

  it('connect to loopback where the mesh says so', () => {
    const message = cluster(scene([], { mesh: { inboundTrafficPolicy: { mode: 'LOCALHOST' } } }), 'web', name);
    expect(message.type).toBe(Cluster_DiscoveryType.STATIC);
    expect(message.upstreamBindConfig).toBeUndefined();
    expect(message.loadAssignment?.endpoints?.[0]?.lbEndpoints?.[0]?.endpoint?.address?.socketAddress).toEqual({
      address: '127.0.0.1',
      portValue: 8080,
    });
  });

  it("connect to the loopback address of the workload's family", () => {
    const made = scene([], { mesh: { inboundTrafficPolicy: { mode: 'LOCALHOST' } } });
    made.connect('web', node({}, '2001:db8::1'));
    const [group] = cluster(made, 'web', name).loadAssignment?.endpoints ?? [];
    expect(group?.lbEndpoints?.[0]?.endpoint?.address?.socketAddress?.address).toBe('::1');
  });

  it('name the service and the rule in telemetry, unless telemetry has no labels', () => {
    const trafficPolicy = { connectionPool: { tcp: { maxConnections: 3 } } };
    const described = (env: SceneOptions['env'] = {}) =>
      cluster(scene([rule('web', { trafficPolicy })], { env }), 'web', name).metadata?.filterMetadata?.istio;
    expect(described()).toEqual({
      config: '/apis/networking.istio.io/v1/namespaces/default/destination-rule/rule-web',
      services: [{ host: 'web.default.svc.cluster.local', name: 'web', namespace: 'default' }],
    });
    expect(described({ PILOT_ENABLE_TELEMETRY_LABEL: 'false' })).toBeUndefined();
  });

  it('have statistics without a subset', () => {
    const mesh = { inboundClusterStatName: '%SERVICE_NAME%-%SUBSET_NAME%-%TARGET_PORT%' };
    expect(cluster(scene([], { mesh }), 'web', name).altStatName).toBe('web--8080;');
  });

  it('are absent without interception', () => {
    expect([...clustersOf(scene([], {}, { INTERCEPTION_MODE: 'NONE' }), 'web').keys()]).not.toContain(name);
  });

  it('use the connection pool of the rule, but not its load balancer', () => {
    const trafficPolicy = { connectionPool: { tcp: { maxConnections: 3 } }, loadBalancer: { simple: 'RANDOM' } };
    const message = cluster(scene([rule('web', { trafficPolicy })]), 'web', name);
    expect(message.circuitBreakers?.thresholds?.[0]?.maxConnections).toEqual({ value: 3 });
    expect(message.lbPolicy).toBe(Cluster_LbPolicy.CLUSTER_PROVIDED);
  });

  it('list every service of a service port', () => {
    const twin = service(
      'web-twin',
      'default',
      { clusterIP: '10.9.9.9', ports: [{ ...HTTP_PORT, targetPort: 8080 }], selector: { app: 'web' } },
      { creationTimestamp: '2026-01-02T00:00:00Z' },
    );
    const istioMetadata = cluster(scene([twin]), 'web', name).metadata?.filterMetadata?.istio;
    expect(istioMetadata?.services).toHaveLength(2);
  });

  it('list no service of another service port that leads to the same target port', () => {
    const ports = [{ name: 'http-b', port: 81, targetPort: 8080 }];
    const twin = service('web-twin', 'default', { clusterIP: '10.9.9.9', ports, selector: { app: 'web' } });
    const found = cluster(scene([twin]), 'web', name).metadata?.filterMetadata?.istio;
    expect(found?.services).toHaveLength(1);
  });

  it.each<[string, JsonObject, boolean]>([
    ['127.0.0.1:9000', { socketAddress: { address: '127.0.0.1', portValue: 9000 } }, false],
    ['0.0.0.0:9000', { socketAddress: { address: '10.0.0.1', portValue: 9000 } }, true],
    ['unix:///run/app.sock', { pipe: { path: '/run/app.sock' } }, true],
  ])('of a Sidecar connect to %s', (defaultEndpoint, address, bound) => {
    const ingress = [{ port: { number: 8080, protocol: 'HTTP', name: 'http' }, defaultEndpoint }];
    const message = cluster(scene([istio('Sidecar', 'default', 'default', { ingress })]), 'web', name);
    expect(message.loadAssignment?.endpoints?.[0]?.lbEndpoints?.[0]?.endpoint?.address).toEqual(address);
    expect(message.upstreamBindConfig !== undefined).toBe(bound);
  });

  it('bind to IPv6 for an IPv6 workload', () => {
    const made = scene();
    const metadata = { NAMESPACE: 'default', LABELS: { app: 'web' } };
    made.connect('six', { id: 'sidecar~2001:db8::1~web.default~default.svc.cluster.local', metadata });
    expect(cluster(made, 'six', 'InboundPassthroughCluster').upstreamBindConfig?.sourceAddress?.address).toBe('::6');
  });

  it('exist for sidecars only', () => {
    const made = scene();
    made.connect('client', sidecarNode('other'));
    expect([...clustersOf(made, 'client').keys()].filter(one => one.startsWith('inbound|'))).toEqual([]);
  });
});
