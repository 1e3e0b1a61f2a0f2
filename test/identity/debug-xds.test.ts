// Debug types over xDS as istioctl asks for them, against a running control plane: who gets which answer, that an ACK
// gets none, and that nothing of it is recorded.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { typeOf } from '../../src/xds/wire/registry.ts';
import { type ClientOptions, TestClient, type TestResponse, type TestStream } from './client.ts';
import { type TestPlane, testPlane, until } from './plane.ts';

const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const START_MS_MAX = 60_000;

let plane: TestPlane;
const clients: TestClient[] = [];

beforeAll(async () => {
  plane = await testPlane();
}, START_MS_MAX);

afterAll(async () => {
  for (const client of clients) client.close();
  await plane.stop();
});

function stream(options: Partial<ClientOptions> = {}): TestStream {
  const made = new TestClient({ port: plane.plane.ports.secureGrpc!, roots: plane.roots(), ...options });
  clients.push(made);
  return made.stream();
}

const node = (namespace: string, account: string, more: Readonly<Record<string, object>> = {}) => ({
  id: `sidecar~10.0.0.1~test-1.${namespace}~${namespace}.svc.cluster.local`,
  metadata: {
    fields: { NAMESPACE: { stringValue: namespace }, SERVICE_ACCOUNT: { stringValue: account }, ...more },
  },
});

/** As istioctl: the node, one request, and a nonce of its own in it. */
async function asked(account: string, typeUrl: string, names: readonly string[]): Promise<TestResponse | string> {
  const [namespace = '', name = ''] = account.split('/');
  const one = stream({ token: plane.tokens.token(account) });
  one.ask(typeUrl, names, { node: node(namespace, name), responseNonce: '2026-01-01 00:00:00' });
  await until(() => one.responses.length > 0 || one.ended !== undefined);
  return one.responses[0] ?? one.ended ?? '';
}

function clientConfigs(answer: TestResponse | string): readonly object[] {
  if (typeof answer === 'string') throw new Error(answer);
  const type = typeOf('envoy.service.status.v3.ClientConfig');
  return answer.resources.map(({ value }) => type.toObject(type.decode(value), { enums: String }));
}

const bodyOf = (answer: TestResponse | string): string =>
  typeof answer === 'string' ? answer : Buffer.from(answer.resources[0]?.value ?? []).toString('utf8');

describe('debug types over xDS', { timeout: 60_000 }, () => {
  it('answer with the body of a page to the namespace of the control plane', async () => {
    const answer = await asked('istio-system/default', 'istio.io/debug', ['mesh']);
    expect(bodyOf(answer)).toContain('"rootNamespace": "istio-system"');
    expect(bodyOf(await asked('istio-system/default', 'istio.io/debug', ['nothing']))).toBe('404 page not found\n');
  });

  it.each([
    ['of another namespace', 'a/alice', ['mesh'], '7 a may not see the debug page mesh'],
    ['for several pages', 'istio-system/default', ['mesh', 'configz'], '3 exactly one debug request is required'],
  ])('refuse a question %s', async (_, account, names, ended) => {
    expect(await asked(account, 'istio.io/debug', names)).toBe(ended);
  });

  it('refuse a caller in the clear', async () => {
    const one = stream({ roots: undefined, port: plane.plane.ports.grpc });
    one.ask('istio.io/debug', ['mesh'], { node: node('istio-system', 'default') });
    await until(() => one.ended !== undefined);
    expect(one.ended).toBe('16 authentication required');
  });

  it('tell the state of each proxy that says its ProxyConfig, to those that may see it', async () => {
    const proxy = stream({ token: plane.tokens.token('a/alice') });
    const config = { PROXY_CONFIG: { structValue: { fields: {} } }, ISTIO_VERSION: { stringValue: '1.30.3' } };
    proxy.ask(CLUSTERS, [], { node: node('a', 'alice', config) });
    await until(() => proxy.responses.length > 0);
    const expected = { node: { id: 'test-1.a' }, genericXdsConfigs: [{ typeUrl: CLUSTERS, configStatus: 'SYNCED' }] };
    let found: readonly object[] = [];
    await until(async () => {
      found = clientConfigs(await asked('istio-system/default', 'istio.io/debug/syncz', []));
      return JSON.stringify(found).includes('SYNCED');
    });
    expect(found).toMatchObject([expected]);
    const ofOthers = await asked('b/bob', 'istio.io/debug/syncz', []);
    expect(typeof ofOthers === 'string' ? ofOthers : ofOthers.resources).toEqual([]);
  });

  it('show what a proxy holds as Envoy shows it', async () => {
    const answer = await asked('istio-system/default', 'istio.io/debug/config_dump', ['test-1.a']);
    if (typeof answer === 'string') throw new Error(answer);
    const types = ['ClustersConfigDump', 'ListenersConfigDump', 'RoutesConfigDump'];
    expect(answer.resources.map(one => one.typeUrl)).toEqual(
      types.map(one => `type.googleapis.com/envoy.admin.v3.${one}`),
    );
    const clusters = typeOf('envoy.admin.v3.ClustersConfigDump').decode(answer.resources[0]!.value);
    const { dynamicActiveClusters } = clusters as unknown as {
      dynamicActiveClusters: { cluster: { value: Uint8Array } }[];
    };
    const names = dynamicActiveClusters.map(
      ({ cluster }) =>
        (typeOf('envoy.config.cluster.v3.Cluster').decode(cluster.value) as unknown as { name: string }).name,
    );
    expect(names).toContain('BlackHoleCluster');
  });

  it('get one answer for a question and its ACK, and leave no trace', async () => {
    const one = stream({ token: plane.tokens.token('istio-system/default') });
    one.ask('istio.io/debug', ['mesh'], { node: node('istio-system', 'default') });
    await until(() => one.responses.length > 0);
    one.ask('istio.io/debug', ['sourcesz']);
    await until(() => one.responses.length > 1);
    expect(one.responses).toHaveLength(2);
    expect(one.ended).toBeUndefined();
    const page = await fetch(`http://127.0.0.1:${plane.plane.ports.monitoring}/debug/connections`);
    expect(await page.text()).not.toContain('istio-system');
  });
});
