// Histories of a set of clusters: the same few services come and go in several clusters, are exported, imported, moved
// between networks whose gateways are known by name, and DNS answers. Dense, so that exports meet imports, services and
// endpoints in every order.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Fact, Unrecorded } from '../../src/core/event.ts';

const CLUSTERS = ['Kubernetes', 'remote', 'third'] as const;
const GATEWAY = 'gate.example.com';

const settings = fc
  .subarray(['ENABLE_MCS_HOST', 'ENABLE_MCS_CLUSTER_LOCAL', 'ENABLE_MCS_AUTO_EXPORT', 'ISTIO_DUAL_STACK'])
  .map((flags): Unrecorded => {
    const env = Object.fromEntries(['ENABLE_MCS_SERVICE_DISCOVERY', ...flags].map(flag => [flag, 'true']));
    return { source: 'runtime', kind: 'Engine', settings: { env } };
  });

const named = (apiVersion: string, kind: string, name: string, more: JsonObject): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: 'prod', ...(more.metadata as JsonObject | undefined) },
  ...Object.fromEntries(Object.entries(more).filter(([member]) => member !== 'metadata')),
});

const name = fc.constantFrom('alpha', 'beta');
const ports: Json = [{ name: 'http', port: 80, targetPort: 8080 }];

const service = fc
  .tuple(name, fc.constantFrom<Json>('10.9.0.1', '10.9.0.2', 'None'))
  .map(([app, clusterIP]) => named('v1', 'Service', app, { spec: { clusterIP, selector: { app }, ports } }));
const alias = name.map(app =>
  named('v1', 'Service', app, {
    spec: { type: 'ExternalName', externalName: 'beta.prod.svc.clusterset.local', ports },
  }),
);
const slice = fc.tuple(name, fc.subarray(['10.8.0.1', '10.8.0.2']), fc.boolean()).map(([app, ips, ready]) =>
  named('discovery.k8s.io/v1', 'EndpointSlice', `${app}-1`, {
    metadata: { labels: { 'kubernetes.io/service-name': app } },
    addressType: 'IPv4',
    endpoints: ips.map(ip => ({ addresses: [ip], conditions: { ready } })),
    ports: [{ name: 'http', port: 8080 }],
  }),
);
const exported = name.map(app => named('multicluster.x-k8s.io/v1alpha1', 'ServiceExport', app, {}));
const imported = fc
  .tuple(name, fc.subarray(['10.7.0.1', '10.7.0.2']))
  .map(([app, ips]) => named('multicluster.x-k8s.io/v1alpha1', 'ServiceImport', app, { spec: { ips } }));
const gateway = fc.constantFrom<Json>([{ hostname: GATEWAY }], [{ ip: '192.0.2.9' }]).map(ingress =>
  named('v1', 'Service', 'gate', {
    metadata: { labels: { 'topology.istio.io/network': 'n2' } },
    spec: { type: 'LoadBalancer', clusterIP: '10.9.0.9', ports: [{ name: 'tls', port: 15443 }] },
    status: { loadBalancer: { ingress } },
  }),
);
const answer = fc.subarray(['192.0.2.1', '192.0.2.2']).map(
  (addresses): JsonObject => ({
    apiVersion: 'periplus.internal/v1',
    kind: 'ResolvedName',
    metadata: { name: GATEWAY },
    spec: { addresses },
  }),
);
const NETWORKS: Json = {
  networks: { n1: { endpoints: [{ fromRegistry: 'remote' }] }, n2: { endpoints: [{ fromRegistry: 'third' }] } },
};

const object = fc.oneof(service, alias, slice, slice, exported, imported, imported, gateway, answer);
const change: fc.Arbitrary<Fact> = fc.oneof(
  { weight: 8, arbitrary: object.map((added): Fact => ({ kind: 'Add', object: added })) },
  {
    weight: 3,
    arbitrary: object.map((gone): Fact => {
      const { name: called, namespace = '' } = gone.metadata as { readonly name: string; readonly namespace?: string };
      const ref = { apiVersion: String(gone.apiVersion), kind: String(gone.kind), name: called, namespace };
      return { kind: 'Delete', ref };
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Json>(null, NETWORKS).map((value): Fact => ({ kind: 'MeshNetworks', value })),
  },
);

/** From the flags on; `length`: the most facts. */
export function clusterSetHistory(length: number): fc.Arbitrary<readonly Unrecorded[]> {
  const said = fc
    .tuple(fc.constantFrom(...CLUSTERS), change)
    .map(([cluster, fact]): Unrecorded => ({ source: `file/${cluster}`, ...fact }));
  return fc
    .tuple(settings, fc.array(said, { maxLength: length, size: 'max' }))
    .map(([first, rest]) => [first, ...rest]);
}
