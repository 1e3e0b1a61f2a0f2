// The pages that `istioctl bug-report`, `istioctl x internal-debug` and Kiali read, of a running control plane: each in
// istiod's shape, over HTTP and as a debug type over xDS, and pages about proxies for callers that may see one
// namespace.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestClient } from './client.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const START_MS_MAX = 60_000;
const REVIEWS = 'reviews.a.svc.cluster.local';

/** A workload with an address, in two namespaces' sight. */
const OBJECTS = `
apiVersion: v1
kind: Service
metadata: { name: reviews, namespace: a, labels: { app: reviews } }
spec:
  clusterIP: 10.1.0.1
  selector: { app: reviews }
  ports: [{ name: http, port: 80, targetPort: 8080 }]
---
apiVersion: v1
kind: Service
metadata: { name: idle, namespace: a }
spec:
  clusterIP: 10.1.0.2
  ports: [{ name: http, port: 81 }]
---
apiVersion: v1
kind: Pod
metadata: { name: reviews-1, namespace: a, labels: { app: reviews } }
spec: { serviceAccountName: alice, nodeName: node-1, containers: [{ name: c, ports: [{ containerPort: 8080 }] }] }
status: { podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }], phase: Running, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: reviews-x, namespace: a, labels: { kubernetes.io/service-name: reviews } }
addressType: IPv4
endpoints: [{ addresses: [10.0.0.1], conditions: { ready: true }, targetRef: { kind: Pod, name: reviews-1, namespace: a } }]
ports: [{ name: http, port: 8080 }]
---
apiVersion: v1
kind: Service
metadata: { name: east-west, namespace: istio-system, labels: { topology.istio.io/network: two } }
spec:
  type: LoadBalancer
  clusterIP: 10.1.0.3
  ports: [{ name: tls, port: 15443 }]
status: { loadBalancer: { ingress: [{ ip: 192.0.2.9 }] } }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: deny, namespace: a }
spec: { action: DENY, rules: [{ to: [{ operation: { methods: [PUT] } }] }] }
---
apiVersion: telemetry.istio.io/v1
kind: Telemetry
metadata: { name: logs, namespace: a }
spec: { accessLogging: [{ providers: [{ name: envoy }] }] }
---
apiVersion: v1
kind: Secret
metadata: { name: hidden, namespace: a }
stringData: { password: hunter2 }
`;

let plane: TestPlane;
const clients: TestClient[] = [];

beforeAll(async () => {
  plane = await testPlane({ config: { 'objects.yaml': OBJECTS }, serve: { adminEndpoints: true } });
  await until(() => plane.plane.world.state.objects.Telemetry.size > 0);
  // A stream that is opened before is refused.
  await until(async () => (await fetch(`http://127.0.0.1:${plane.plane.ports.http}/ready`)).status === 200);
  const proxy = client('a/alice').stream();
  const fields = {
    NAMESPACE: { stringValue: 'a' },
    SERVICE_ACCOUNT: { stringValue: 'alice' },
    LABELS: { structValue: { fields: { app: { stringValue: 'reviews' } } } },
    CLUSTER_ID: { stringValue: 'Kubernetes' },
    PROXY_CONFIG: { structValue: { fields: {} } },
    ISTIO_VERSION: { stringValue: '1.30.3' },
  };
  const id = 'sidecar~10.0.0.1~reviews-1.a~a.svc.cluster.local';
  proxy.ask(CLUSTERS, [], { node: { id, metadata: { fields } } });
  await until(() => proxy.responses.length > 0);
}, START_MS_MAX);

afterAll(async () => {
  for (const one of clients) one.close();
  await plane.stop();
});

function client(account: string): TestClient {
  const { ports } = plane.plane;
  const made = new TestClient({ port: ports.secureGrpc!, roots: plane.roots(), token: plane.tokens.token(account) });
  clients.push(made);
  return made;
}

async function page(path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}/debug/${path}`);
  expect(answer.status, path).toBe(200);
  return answer.text();
}

/** As `istioctl x internal-debug` asks: the value of the one answer. */
async function overXds(account: string, path: string): Promise<string> {
  const one = client(account).stream();
  const [namespace = ''] = account.split('/');
  const id = `sidecar~10.0.0.9~istioctl.${namespace}~${namespace}.svc.cluster.local`;
  const fields = {
    GENERATOR: { stringValue: 'event' },
    NAMESPACE: { stringValue: namespace },
    SERVICE_ACCOUNT: { stringValue: account.split('/')[1] ?? '' },
  };
  one.ask('istio.io/debug', [path], { node: { id, metadata: { fields } }, responseNonce: 'now' });
  await until(() => one.responses.length > 0 || one.ended !== undefined);
  const [answer] = one.responses;
  return answer === undefined ? (one.ended ?? '') : Buffer.from(answer.resources[0]?.value ?? []).toString('utf8');
}

const service = { hostname: REVIEWS, ports: [{ name: 'http', port: 80, protocol: 'HTTP' }], Resolution: 0 };
const endpoint = { Addresses: ['10.0.0.1'], EndpointPort: 8080, HealthStatus: 1, WorkloadName: 'reviews-1' };
const listed = (value: object): unknown => expect.arrayContaining([expect.objectContaining(value)]);
const shards = { [REVIEWS]: { a: { Shards: { 'Kubernetes/Kubernetes': [endpoint] } } } };
const policy = { name: 'deny', namespace: 'a', spec: { action: 'DENY' } };
const telemetry = { name: 'logs', spec: { accessLogging: [{ providers: [{ name: 'envoy' }] }] } };

const pages: readonly (readonly [path: string, expected: unknown])[] = [
  ['adsz', { totalClients: 1, clients: [{ labels: { app: 'reviews' }, watches: { [CLUSTERS]: [] } }] }],
  ['adsz?proxyID=reviews-1.a', { totalClients: 1 }],
  ['connections', { totalClients: 1, clients: [{ address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) }] }],
  ['syncz', [{ proxy: 'reviews-1.a', proxy_type: 'sidecar', istio_version: '1.30.3', resources: { [CLUSTERS]: {} } }]],
  ['syncz?namespace=b', []],
  ['ambientz', { workloads: null, services: null, policies: null }],
  [
    'authorizationz',
    { authorization_policies: { namespace_to_policies: { a: [policy] }, root_namespace: 'istio-system' } },
  ],
  ['telemetryz', { telemetries: { namespace_to_telemetries: { a: [telemetry] } } }],
  ['telemetryz?proxyID=reviews-1.a', { Logging: [{ Logging: [{ providers: [{ name: 'envoy' }] }] }] }],
  ['cachez', { [CLUSTERS]: expect.arrayContaining([`outbound|80||${REVIEWS}`]) }],
  ['cachez?sizes=true', { total: expect.stringMatching(/^[0-9.]+k?B$/) }],
  ['clusterz', [{ id: 'Kubernetes', secretName: '', syncStatus: 'synced' }]],
  ['endpointShardz', shards],
  ['endpointz', shards],
  ['instancesz', { 'reviews-1.a': [{ Service: { hostname: REVIEWS }, Port: { port: 80, TargetPort: 8080 } }] }],
  ['mcsz', []],
  ['mesh', { connectTimeout: '10s', rootNamespace: 'istio-system', trustDomain: 'cluster.local' }],
  ['networkz', [{ Network: 'two', Addr: '192.0.2.9', Port: 15443 }]],
  ['pushcontext', { NetworkGateways: [{ Network: 'two' }], UnresolvedGateways: null }],
  ['push_status', { pilot_eds_no_instances: { 'outbound|81||idle.a.svc.cluster.local': {} } }],
  ['registryz', listed(service)],
  ['resourcesz', listed({ group: 'networking.istio.io', version: 'v1', kind: 'VirtualService' })],
  ['configz', listed({ kind: 'AuthorizationPolicy', metadata: { name: 'deny', namespace: 'a' } })],
  ['list', expect.arrayContaining(['adsz', 'syncz'])],
];

describe('debug pages of a running control plane', { timeout: 60_000 }, () => {
  it.each(pages)('answer %s in the shape of istiod, over HTTP and over xDS', async (path, expected) => {
    const body = JSON.parse(await page(path)) as object;
    if (Array.isArray(expected) || (expected as { asymmetricMatch?: unknown }).asymmetricMatch === undefined) {
      expect(body).toMatchObject(expected as object);
    } else expect(body).toEqual(expected);
    const asked = JSON.parse(await overXds('istio-system/default', path)) as object;
    if (path !== 'connections' && path !== 'adsz') expect(asked).toEqual(body);
  });

  it('show what a proxy holds as the admin page of Envoy does', async () => {
    const { configs } = JSON.parse(await page('config_dump?proxyID=reviews-1.a&include_eds')) as {
      readonly configs: readonly Readonly<Record<string, unknown>>[];
    };
    const types = ['Bootstrap', 'Clusters', 'Endpoints', 'Listeners', 'ScopedRoutes', 'Routes', 'Secrets', 'Ecds'];
    expect(configs.map(one => one['@type'])).toEqual(
      types.map(type => `type.googleapis.com/envoy.admin.v3.${type}ConfigDump`),
    );
    expect(configs[1]?.dynamicActiveClusters).toEqual(
      listed({ cluster: expect.objectContaining({ '@type': CLUSTERS }) }),
    );
    const typed = JSON.parse(await page('config_dump?proxyID=reviews-1.a&types=cds')) as typeof configs;
    expect(typed).toMatchObject({ configs: listed({ '@type': CLUSTERS, name: 'BlackHoleCluster' }) });
    expect(JSON.parse(await page('edsz?proxyID=reviews-1.a'))).toEqual({ configs: [] });
  });

  it('push to every proxy when asked to, and clear nothing', async () => {
    expect(await page('adsz?push=true')).toBe('Pushed to 1 servers\n');
    const answer = await fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}/debug/cachez?clear=true`);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('nothing to clear')]);
  });

  it.each(['config_dump', 'edsz', 'ecdsz', 'ndsz', 'holdingsz'])(
    'ask for a proxy that is connected: %s',
    async path => {
      const status = async (query: string): Promise<readonly [number, string]> => {
        const answer = await fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}/debug/${path}${query}`);
        return [answer.status, await answer.text()];
      };
      expect(await status('')).toEqual([400, 'You must provide a proxyID in the query string\n']);
      const gone = 'Proxy not connected to this Pilot instance. It may be connected to another instance.\n';
      expect(await status('?proxyID=absent')).toEqual([404, gone]);
    },
  );

  it('show a caller of another namespace its own proxies and no other page', async () => {
    expect(await overXds('a/alice', 'config_dump?proxyID=reviews-1.a')).toContain('ClustersConfigDump');
    expect(await overXds('b/bob', 'config_dump?proxyID=reviews-1.a')).toContain('Proxy not connected');
    expect(await overXds('b/bob', 'edsz?proxyID=reviews-1.a')).toContain('Proxy not connected');
    for (const [path] of pages) expect(await overXds('a/alice', path)).toMatch(/^7 a may not see the debug page/);
  });

  it('show no content of Secrets', async () => {
    for (const [path] of pages) expect(await page(path)).not.toMatch(/hunter2|aHVudGVyMg/);
  });

  it('show what the Sidecar of a proxy lets it see', async () => {
    const body = JSON.parse(await page('sidecarz?proxyID=reviews-1.a')) as object;
    expect(body).toMatchObject({ name: 'default-sidecar', namespace: 'a', sidecar: null, services: listed(service) });
  });

  // The last: the proxy does not come back.
  it('end the stream of a proxy where that is allowed', async () => {
    expect(await page('force_disconnect?proxyID=reviews-1.a')).toBe('OK');
    await until(() => plane.plane.world.state.proxies.size === 0);
    const again = await fetch(`http://127.0.0.1:${plane.plane.ports.http}/debug/force_disconnect?proxyID=reviews-1.a`);
    expect(again.status).toBe(404);
  });
});
