// InferencePools end to end: their real CRD on a real kube-apiserver, `periplus serve` with the rights of deploy/, a
// stock Envoy as the gateway, and a picker that Envoy asks by ext_proc. The Service of the pool and the statuses are
// read back from the API server; requests go where the picker says.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { crdsOf } from '../../scripts/crd/sources.mjs';
import type { JsonObject } from '../../src/core/base/json.ts';
import { type Envoy, findEnvoy, startEnvoy } from '../../src/demo/envoy.ts';
import { freePort } from './free-port.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { type EndpointPicker, startPicker } from './kube/endpoint-picker.ts';
import { namespace, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';
import { canRun } from './suite.ts';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';
const POOLS = '/apis/inference.networking.k8s.io/v1/namespaces/ai/inferencepools/llm';
/** `-ip-` and the start of the SHA-256 of `llm`. */
const SHADOW = 'llm-ip-487b9104';

/** An API server takes no loopback addresses in EndpointSlices. */
const address = Object.values(networkInterfaces())
  .flatMap(list => list ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
const binaries = await kubeOrSkip();
const found = await findEnvoy(line => process.stderr.write(`${line}\n`));
const lacking = 'missing' in found ? found.missing : address === undefined ? 'no address beside loopback' : undefined;
const runs = canRun('test/e2e/kube-inference.test.ts', lacking) && binaries !== undefined;

interface Answer {
  readonly status: number;
  readonly text: string;
}

describe.runIf(runs)('an InferencePool of a cluster', () => {
  const host = address!;
  const replicas: Server[] = [];
  let ports: readonly [number, number];
  let listenerPort: number;
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let plane: Plane;
  let envoy: Envoy;
  let picker: EndpointPicker;

  const at = (apiVersion: string, kind: string, name: string, spec: JsonObject, more: JsonObject = {}): JsonObject => ({
    apiVersion,
    kind,
    metadata: { name, namespace: 'ai', ...more },
    spec,
  });
  const serviceOf = (name: string, portName: string, port: number, target: number): readonly JsonObject[] => [
    at('v1', 'Service', name, {
      selector: { app: name },
      ports: [{ name: portName, port, targetPort: target }],
    }),
    sliceOf(name, [{ name: portName, port: target }]),
  ];
  const sliceOf = (name: string, of: readonly JsonObject[]): JsonObject => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-x`, namespace: 'ai', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [host], conditions: { ready: true } }],
    ports: of,
  });
  const pool = (failureMode: string): JsonObject =>
    at('inference.networking.k8s.io/v1', 'InferencePool', 'llm', {
      selector: { matchLabels: { app: 'llm' } },
      targetPorts: ports.map(number => ({ number })),
      endpointPickerRef: { name: 'picker', port: { number: 9002 }, failureMode },
    });
  const route = at(GATEWAY_API, 'HTTPRoute', 'chat', {
    parentRefs: [{ name: 'gw' }],
    rules: [{ backendRefs: [{ group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'llm' }] }],
  });
  const read = async (path: string): Promise<JsonObject | undefined> => admin.get(path).catch(() => undefined);
  const said = async (path: string): Promise<string> => JSON.stringify((await read(path))?.status ?? {});
  const shadowPath = `/api/v1/namespaces/ai/services/${SHADOW}`;
  const complete = (model: string): Promise<Answer> => ask(listenerPort, JSON.stringify({ model }));
  const replica = async (name: string): Promise<number> => {
    const server = createServer((incoming, response) => {
      incoming.resume();
      incoming.on('end', () => response.end(name));
    });
    const port = await freePort();
    await new Promise<void>(resolve => server.listen(port, '0.0.0.0', resolve));
    replicas.push(server);
    return port;
  };

  beforeAll(async () => {
    if ('missing' in found) return;
    ports = [await replica('small'), await replica('large')];
    [listenerPort, folder] = [await freePort(), await mkdtemp(join(tmpdir(), 'periplus-inference-'))];
    const [other, large] = ports.map(port => `${host}:${port}`) as [string, string];
    picker = await startPicker(folder, await freePort(), { large, other });
    cluster = await Cluster.start(binaries!);
    admin = cluster.client();
    await admin.putAll([...crdsOf('gatewayApi'), ...crdsOf('inference')] as readonly JsonObject[]);
    await admin.putAll([namespace(SYSTEM), namespace('ai')]);
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    await until('the kinds', async () => (await read(POOLS.replace(/\/llm$/, ''))) !== undefined);
    const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
    const addresses = [{ type: 'Hostname', value: 'gw' }];
    // As in istiod, pods of this label alone ask pickers.
    const labels = { app: 'gw', 'gateway.networking.k8s.io/gateway-name': 'gw' };
    await admin.putAll([
      ...serviceOf('gw', 'http', 80, listenerPort),
      ...serviceOf('picker', 'grpc', 9002, picker.port),
      at('v1', 'Pod', 'gw', { containers: [{ name: 'envoy', image: 'envoy' }] }, { labels }),
      at(GATEWAY_API, 'Gateway', 'gw', { gatewayClassName: 'istio', addresses, listeners }),
      pool('FailClose'),
    ]);
    const kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
    const args = ['--kubeconfig', kubeconfig, '--journal', join(folder, 'journal.db')];
    const env = { POD_NAME: 'one', POD_NAMESPACE: SYSTEM, ENABLE_GATEWAY_API_INFERENCE_EXTENSION: 'true' };
    plane = await Plane.serve(args, env);
    await plane.synced();
    const metadata = { NAMESPACE: 'ai', CLUSTER_ID: 'Kubernetes', LABELS: labels, INSTANCE_IPS: host };
    const node = { id: `router~${host}~gw.ai~ai.svc.cluster.local`, cluster: 'gw.ai', metadata };
    const log = join(folder, 'envoy.log');
    const { binary } = found;
    envoy = await startEnvoy({ binary, name: 'gw', node, xdsPort: plane.grpc, protocol: 'delta', log });
  }, 600_000);

  afterAll(async () => {
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(`${plane?.log}\n${await envoy?.output()}\n`);
    await envoy?.stop();
    picker?.stop();
    for (const server of replicas) server.close();
    await plane?.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('has no Service before a route names it, and then one that it owns', async () => {
    expect(await read(shadowPath)).toBeUndefined();
    await admin.put(route);
    await until('the Service of the pool', async () => (await read(shadowPath)) !== undefined);
    const [{ metadata: owner }, shadow] = [(await admin.get(POOLS)) as JsonObject, await admin.get(shadowPath)];
    const { labels, managedFields, ownerReferences } = shadow.metadata as Readonly<Record<string, JsonObject>>;
    expect(labels).toMatchObject({
      'istio.io/inferencepool-name': 'llm',
      'istio.io/inferencepool-extension-service': 'picker',
      'istio.io/inferencepool-extension-port': '9002',
      'istio.io/inferencepool-extension-failure-mode': 'FailClose',
    });
    expect(ownerReferences).toMatchObject([{ kind: 'InferencePool', name: 'llm', uid: (owner as JsonObject).uid }]);
    expect(managedFields).toMatchObject([{ manager: 'istio.io/inference-pool-controller', operation: 'Apply' }]);
    expect(shadow.spec).toMatchObject({
      clusterIP: 'None',
      selector: { app: 'llm' },
      ports: ports.map((targetPort, i) => ({ name: `http-${i}`, port: 54321 + i, targetPort, appProtocol: 'http' })),
    });
  });

  it('gets a status that names the Gateway and the picker, written once', async () => {
    await until('both conditions', async () => /"Accepted".*"ResolvedRefs"/.test(await said(POOLS)));
    const { status, metadata } = (await admin.get(POOLS)) as Readonly<Record<string, JsonObject>>;
    expect(status?.parents).toMatchObject([
      {
        parentRef: { group: 'networking.istio.io', kind: 'Gateway', namespace: 'ai', name: 'gw' },
        conditions: [
          { type: 'Accepted', status: 'True', reason: 'Accepted', observedGeneration: metadata?.generation },
          { type: 'ResolvedRefs', status: 'True', reason: 'ResolvedRefs' },
        ],
      },
    ]);
    const routePath = `/apis/${GATEWAY_API}/namespaces/ai/httproutes/chat`;
    await until('the route to be resolved', async () => (await said(routePath)).includes('All references resolved'));
    expect(((await admin.get(POOLS)).metadata as JsonObject).resourceVersion).toBe(metadata?.resourceVersion);
  });

  it('serves each request where the picker says', async () => {
    await admin.put(
      sliceOf(
        SHADOW,
        ports.map((port, i) => ({ name: `http-${i}`, port })),
      ),
    );
    await until('the first answer', async () => (await complete('small')).status === 200);
    for (const model of ['large', 'small', 'large', 'large', 'small', 'small']) {
      expect(await complete(model)).toEqual({ status: 200, text: model });
    }
    await until('the picker to have heard of the last', () => picker.asked.at(-1) === '{"model":"small"}');
    expect(picker.asked.length).toBeGreaterThanOrEqual(7);
  });

  it('refuses requests without its picker, and its Service follows the failure mode', async () => {
    picker.stop();
    await until('a refusal', async () => (await complete('large')).status >= 500);
    await admin.put(pool('FailOpen'));
    await until('the label of the Service', async () => {
      const { labels } = (await admin.get(shadowPath)).metadata as { readonly labels: Record<string, string> };
      return labels['istio.io/inferencepool-extension-failure-mode'] === 'FailOpen';
    });
  });

  it('loses its parent when no route names it', async () => {
    await admin.remove(route);
    await until('an empty status', async () => !(await said(POOLS)).includes('parentRef'));
  });
});

function ask(port: number, body: string): Promise<Answer> {
  return new Promise(resolve => {
    const options = { host: '127.0.0.1', port, method: 'POST', agent: false, path: '/v1/completions' };
    const sent = request(options, response => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString('utf8');
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', error => resolve({ status: 0, text: String(error) }));
    sent.end(body);
  });
}
