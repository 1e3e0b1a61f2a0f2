// Virtual machines and ServiceEntries against a real kube-apiserver, with the rights of deploy/ and nothing more: a
// machine registers, fails its probe and leaves; another account may not be it; a ServiceEntry without addresses is
// given some.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { JsonObject } from '../../src/core/base/json.ts';
import { CDS, EDS, HEALTH } from '../../src/xds/session/types.ts';
import { TestClient, type TestStream } from '../identity/client.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { namespace, SYSTEM } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { serviceAccountToken } from './kube/tokens.ts';
import { until } from './kube/until.ts';
import { NatsCluster, natsOrSkip } from './nats/cluster.ts';

const binaries = await kubeOrSkip();
const natsServer = binaries && (await natsOrSkip('a machine at one of several replicas'));
const ADDRESS = '10.77.1.9';
const ENTRY = `/apis/networking.istio.io/v1/namespaces/shop/workloadentries/vms-${ADDRESS}`;
const PERMISSION_DENIED = 7;

interface Live {
  readonly metadata: { readonly annotations: Record<string, string>; readonly ownerReferences?: readonly JsonObject[] };
  readonly status?: { readonly conditions?: readonly JsonObject[]; readonly addresses?: readonly JsonObject[] };
}

describe.runIf(binaries !== undefined)('a virtual machine of a cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let plane: Plane;
  let observer: SidecarClient;
  const clients: TestClient[] = [];
  const replicas: Plane[] = [];
  let nats: NatsCluster | undefined;
  let kubeconfig: string;

  const networking = (kind: string, name: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind,
    metadata: { name, namespace: 'shop' },
    spec,
  });
  const read = async (path: string): Promise<Live | undefined> =>
    (await admin.get(path).catch(() => undefined)) as Live | undefined;
  const conditionIs = (status: string) => async (): Promise<boolean> =>
    ((await read(ENTRY))?.status?.conditions ?? []).some(one => one.type === 'Healthy' && one.status === status);

  /** As pilot-agent of a machine whose group has a probe. */
  const connect = async (account: string, of = plane): Promise<TestStream> => {
    const token = await serviceAccountToken(admin, 'shop', account, { audiences: ['istio-ca'] });
    const secret = await admin.get(`/api/v1/namespaces/${SYSTEM}/secrets/istio-ca-secret`);
    const roots = Buffer.from(String((secret.data as JsonObject)['ca-cert.pem']), 'base64').toString('utf8');
    const client = new TestClient({ port: of.secure, roots, token });
    clients.push(client);
    const text = (value: string): JsonObject => ({ stringValue: value });
    const probe = { structValue: { fields: { readinessProbe: { structValue: { fields: {} } } } } };
    const fields = {
      ...{ NAMESPACE: text('shop'), SERVICE_ACCOUNT: text(account), AUTO_REGISTER_GROUP: text('vms') },
      ...{ CLUSTER_ID: text('Kubernetes'), PROXY_CONFIG: probe },
    };
    const stream = client.stream();
    stream.ask(CDS, [], { node: { id: `sidecar~${ADDRESS}~vm-1.shop~shop.svc.cluster.local`, metadata: { fields } } });
    return stream;
  };

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-kube-machines-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop')]);
    for (const file of ['rbac.yaml', 'rbac-write.yaml']) {
      const text = await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8');
      for (const document of parseAllDocuments(text)) await admin.put(document.toJS() as JsonObject);
    }
    for (const name of ['vm', 'other']) {
      await admin.put({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'shop' } });
    }
    const ports = [{ name: 'tcp', number: 5432, protocol: 'TCP' }];
    await admin.putAll([
      networking('WorkloadGroup', 'vms', {
        metadata: { labels: { app: 'db' } },
        template: { serviceAccount: 'vm' },
        probe: { tcpSocket: { port: 5432 } },
      }),
      networking('ServiceEntry', 'db', {
        ...{ hosts: ['db.example.com'], location: 'MESH_INTERNAL', resolution: 'STATIC', ports },
        workloadSelector: { labels: { app: 'db' } },
      }),
    ]);
    kubeconfig = await cluster.kubeconfig('periplus', await serviceAccountToken(admin, SYSTEM, 'periplus'));
    const args = ['--kubeconfig', kubeconfig, '--journal', join(folder, 'one.db')];
    const env = { POD_NAME: 'one', POD_NAMESPACE: SYSTEM, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: '2s' };
    plane = await Plane.serveSecurely(args, env);
    await plane.synced();
    observer = new SidecarClient({ port: plane.grpc, namespace: 'shop', name: 'web', routes: [] });
  }, 600_000);

  afterAll(async () => {
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(`${plane?.log}\n`);
    observer?.close();
    for (const client of clients) client.close();
    for (const one of [plane, ...replicas]) await one?.end('SIGKILL');
    await nats?.close();
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('registers, becomes healthy, fails its probe, and leaves', async () => {
    const stream = await connect('vm');
    await until('the WorkloadEntry', async () => (await read(ENTRY)) !== undefined);
    const { metadata } = (await read(ENTRY))!;
    expect(metadata.annotations).toMatchObject({
      'istio.io/autoRegistrationGroup': 'vms',
      'istio.io/workloadController': 'one',
      'proxy.istio.io/health-checks-enabled': 'true',
    });
    expect(metadata.ownerReferences).toMatchObject([{ kind: 'WorkloadGroup', name: 'vms', controller: true }]);
    await until('the cluster of its service', () => observer.has(CDS, 'db.example.com'));
    expect(observer.has(EDS, ADDRESS)).toBe(false);

    stream.ask(HEALTH, []);
    await until('the condition of a healthy machine', conditionIs('True'));
    await until('its endpoint', () => observer.has(EDS, ADDRESS));

    stream.ask(HEALTH, [], { errorDetail: { code: 13, message: 'connection refused' } });
    await until('the condition of one that is not', conditionIs('False'));
    await until('its endpoint to go', () => !observer.has(EDS, ADDRESS));
    expect((await read(ENTRY))?.status?.conditions?.[0]?.message).toBe('connection refused');

    stream.ask(HEALTH, []);
    await until('its endpoint again', () => observer.has(EDS, ADDRESS));
    stream.cancel();
    await until('the WorkloadEntry to go', async () => (await read(ENTRY)) === undefined);
    await until('its endpoint to go with it', () => !observer.has(EDS, ADDRESS));
  });

  it.runIf(natsServer !== undefined)('registers with a replica that follows, and is known to all', async () => {
    nats = await NatsCluster.begin(natsServer!, { nodes: 1 });
    for (const name of ['left', 'right']) {
      const journal = ['--journal', `nats://${nats.servers}/machines`, '--journal-replicas', '1', '--replica-id', name];
      const files = ['--journal-mirror', join(folder, `${name}.db`), '--journalKey', join(folder, 'mesh.key')];
      const env = { POD_NAME: name, POD_NAMESPACE: SYSTEM, PILOT_WORKLOAD_ENTRY_GRACE_PERIOD: '2s' };
      replicas.push(await Plane.serveSecurely(['--kubeconfig', kubeconfig, ...journal, ...files], env));
      await replicas.at(-1)?.synced();
    }
    // The first one leads: it was alone.
    const [leader, follower] = replicas as [Plane, Plane];
    const far = new SidecarClient({ port: leader.grpc, namespace: 'shop', name: 'far', routes: [] });
    const stream = await connect('vm', follower);
    await until('the WorkloadEntry', async () => (await read(ENTRY)) !== undefined);
    expect((await read(ENTRY))?.metadata.annotations['istio.io/workloadController']).toBe('right');
    stream.ask(HEALTH, []);
    await until('the condition of a healthy machine', conditionIs('True'));
    await until('its endpoint at the leader', () => far.has(EDS, ADDRESS));
    stream.cancel();
    await until('the WorkloadEntry to go', async () => (await read(ENTRY)) === undefined);
    await until('its endpoint at the leader to go', () => !far.has(EDS, ADDRESS));
    far.close();
  });

  it('may not be another account', async () => {
    const stream = await connect('other');
    await until('the end of the stream', () => stream.ended !== undefined);
    const what = 'registration of WorkloadEntry service account mismatch: "other" vs "vm"';
    expect(stream.ended).toBe(`${PERMISSION_DENIED} ${what}`);
    expect(await read(ENTRY)).toBeUndefined();
  });

  it('has neighbours whose addresses are allocated, and cleared when their author gives some', async () => {
    const path = '/apis/networking.istio.io/v1/namespaces/shop/serviceentries/far';
    const ports = [{ name: 'tcp', number: 9000, protocol: 'TCP' }];
    const spec = { hosts: ['far.example.com'], resolution: 'DNS', ports };
    await admin.put(networking('ServiceEntry', 'far', spec));
    const addresses = async (): Promise<readonly JsonObject[]> => (await read(path))?.status?.addresses ?? [];
    await until('addresses', async () => (await addresses()).length === 2);
    for (const { host } of await addresses()) expect(host).toBe('far.example.com');
    expect((await addresses())[0]?.value).toMatch(/^240\.240\.\d+\.\d+$/);
    await admin.patch(networking('ServiceEntry', 'far', {}), { spec: { addresses: ['10.1.2.3'] } });
    await until('no addresses', async () => (await addresses()).length === 0);
  });
});
