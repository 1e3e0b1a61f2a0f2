// Clusters where several rules meet: subsets of names, ports that a Sidecar declares, Redis, wildcard names.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Cluster_DiscoveryType, Cluster_LbPolicy } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, routerNode, Scene, type SceneOptions, service, sidecarNode } from '../route/scene.ts';
import { cluster, clustersOf, rule } from './cluster-scene.ts';

function scene(objects: readonly JsonObject[], options: SceneOptions = {}, node = sidecarNode('default')): Scene {
  const made = new Scene(objects, options);
  made.connect('p', node);
  return made;
}

describe('failover by labels in a cluster that resolves names', () => {
  const zone = 'topology.kubernetes.io/zone';
  const entry = istio('ServiceEntry', 'default', 'ext', {
    hosts: ['ext.example.com'],
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
    endpoints: ['a', 'b'].map(name => ({ address: `${name}.example.com`, labels: { app: 'x', [zone]: name } })),
  });
  const priorities = (made: Scene, subset: string) =>
    cluster(made, 'p', `outbound|80|${subset}|ext.example.com`).loadAssignment?.endpoints?.map(
      ({ priority = 0, lbEndpoints = [] }) => [priority, lbEndpoints.length],
    );
  const trafficPolicy = {
    outlierDetection: { consecutive5xxErrors: 1 },
    loadBalancer: { localityLbSetting: { failoverPriority: [`${zone}=b`] } },
  };
  const made = scene([
    entry,
    rule('ext.example.com', { trafficPolicy, subsets: [{ name: 'x', labels: { app: 'x' } }] }),
  ]);

  it('splits the endpoints of the default cluster, and not those of a subset', () => {
    expect(priorities(made, '')).toEqual([
      [0, 1],
      [1, 1],
    ]);
    expect(priorities(made, 'x')).toEqual([[0, 2]]);
  });
});

it('failover by labels needs a proxy with labels', () => {
  const entry = istio('ServiceEntry', 'default', 'ext', {
    hosts: ['ext.example.com'],
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
    endpoints: ['a', 'b'].map(app => ({ address: `${app}.example.com`, labels: { app } })),
  });
  const trafficPolicy = {
    outlierDetection: { consecutive5xxErrors: 1 },
    loadBalancer: { localityLbSetting: { failoverPriority: ['app=b'] } },
  };
  const bare = { ...sidecarNode('default'), metadata: { NAMESPACE: 'default' } };
  const made = scene([entry, rule('ext.example.com', { trafficPolicy })], {}, bare);
  expect(cluster(made, 'p', 'outbound|80||ext.example.com').loadAssignment?.endpoints).toHaveLength(1);
});

describe('the inbound cluster of a port', () => {
  const node = {
    id: 'sidecar~10.0.0.1~web.default~default.svc.cluster.local',
    metadata: { NAMESPACE: 'default', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'web' } },
  };

  it('that a Sidecar declares without a service has the name of the Sidecar in its statistics', () => {
    const ingress = [{ port: { number: 9000, protocol: 'HTTP', name: 'http' }, defaultEndpoint: '127.0.0.1:9000' }];
    const pattern = '%SERVICE%_%SERVICE_NAME%_%SERVICE_PORT_NAME%_%TARGET_PORT%';
    const sidecar = istio('Sidecar', 'istio-system', 'shared', { ingress });
    const made = scene([sidecar], { mesh: { inboundClusterStatName: pattern } }, node);
    expect(cluster(made, 'p', 'inbound|9000||').altStatName).toBe('shared.default_shared.default_http_9000;');
  });

  it('of a ServiceEntry without resolution connects to the target port', () => {
    const labels = { app: 'web' };
    const made = scene(
      [
        istio('ServiceEntry', 'default', 'ext', {
          hosts: ['ext.example.com'],
          ports: [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }],
          resolution: 'NONE',
          workloadSelector: { labels },
        }),
        istio('WorkloadEntry', 'default', 'web', { address: '10.0.0.1', labels }),
      ],
      {},
      node,
    );
    expect(cluster(made, 'p', 'inbound|8080||')).toMatchObject({
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      originalDstLbConfig: { upstreamPortOverride: { value: 8080 } },
    });
  });
});

it('a Redis port with the filter hashes keys also where the rule passes connections through', () => {
  const redis = service('db', 'default', { clusterIP: '10.9.0.1', ports: [{ name: 'redis', port: 6379 }] });
  const passes = { loadBalancer: { simple: 'PASSTHROUGH' } };
  const subsets = [{ name: 'own', trafficPolicy: passes }, { name: 'inherits' }];
  const objects = [redis, rule('db.default.svc.cluster.local', { trafficPolicy: passes, subsets })];
  const made = scene(objects, { env: { PILOT_ENABLE_REDIS_FILTER: 'true' } });
  const named = (subset: string) => cluster(made, 'p', `outbound|6379|${subset}|db.default.svc.cluster.local`);
  const hashed = { type: Cluster_DiscoveryType.EDS, lbPolicy: Cluster_LbPolicy.MAGLEV };
  expect(named('')).toMatchObject(hashed);
  expect(named('inherits')).toMatchObject(hashed);
  expect(named('own')).toMatchObject({ type: Cluster_DiscoveryType.ORIGINAL_DST });
});

it('a wildcard has subsets, unless its names are resolved on demand', () => {
  const names = (resolution: string, more: JsonObject = {}): readonly string[] => {
    const ports = [{ number: 80, name: 'http', protocol: 'HTTP' }];
    const entry = istio('ServiceEntry', 'default', 'ext', { hosts: ['*.example.com'], ports, resolution, ...more });
    const subsets = [{ name: 'v1', labels: { version: 'v1' } }];
    const found = clustersOf(scene([entry, rule('*.example.com', { subsets })]), 'p').keys();
    return [...found].filter(name => name.startsWith('outbound'));
  };
  const both = ['outbound|80|v1|*.example.com', 'outbound|80||*.example.com'];
  expect(names('NONE')).toEqual(both);
  expect(names('STATIC', { endpoints: [{ address: '10.0.0.1' }] })).toEqual(both);
  expect(names('DYNAMIC_DNS')).toEqual(['outbound|80||*.example.com']);
});

it('a gateway that routes by SNI reaches wildcard names by EDS', () => {
  const entry = istio('ServiceEntry', 'default', 'ext', {
    hosts: ['*.example.com'],
    ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
    resolution: 'DYNAMIC_DNS',
    location: 'MESH_INTERNAL',
  });
  const gateway = istio('Gateway', 'default', 'gw', {
    selector: { istio: 'ingressgateway' },
    servers: [
      { port: { number: 15_443, name: 'tls', protocol: 'TLS' }, tls: { mode: 'AUTO_PASSTHROUGH' }, hosts: ['*'] },
    ],
  });
  const made = scene([entry, gateway], {}, routerNode('default'));
  expect(cluster(made, 'p', 'outbound_.443_._.*.example.com').type).toBe(Cluster_DiscoveryType.EDS);
  expect(cluster(made, 'p', 'outbound|443||*.example.com').clusterType).toBeDefined();
});
