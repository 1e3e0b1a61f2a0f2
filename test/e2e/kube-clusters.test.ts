// Two real API servers and one mesh: each cluster with a control plane of its own (multi-primary), one control plane
// for both (primary-remote), and one that runs in neither (external). In each model one server dies and comes back, and
// one credential is rotated: no endpoint is lost on the way, and proxies are sent nothing.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { CDS, EDS } from '../../src/xds/session/types.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { SYSTEM, service, slice } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { readerToken, remoteSecret, type Side, side } from './kube/side.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const EXPORTED = '/apis/multicluster.x-k8s.io/v1alpha1/namespaces/shop/serviceexports';
/** Beside reading; the lock is a ConfigMap. */
const EXPORTS: readonly JsonObject[] = [
  {
    apiGroups: ['multicluster.x-k8s.io'],
    resources: ['serviceexports'],
    verbs: ['create', 'delete', 'get', 'list', 'watch'],
  },
  { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] },
];
/** The debounce is a tenth of a second. */
const QUIET_MS = 3_000;
const quiet = (): Promise<void> => new Promise(resolve => setTimeout(resolve, QUIET_MS));
const WEB = 'outbound|80||web.shop.svc.cluster.local';
describe.runIf(binaries !== undefined)('a mesh of two clusters', () => {
  let folder: string;
  let east: Side;
  let west: Side;
  let plane: Plane;
  let other: Plane;
  let external: Plane;
  let exporting: Plane;
  let token: string;
  const proxies: SidecarClient[] = [];
  /** One proxy of each model. */
  const models = new Map<'primary-remote' | 'multi-primary' | 'external', SidecarClient>();
  const proxyOf = (of: Plane, cluster: string): SidecarClient => {
    const proxy = new SidecarClient({
      port: of.grpc,
      namespace: 'shop',
      name: `web-${cluster}`,
      routes: ['80'],
      cluster,
    });
    proxies.push(proxy);
    return proxy;
  };
  const serve = async (
    { id, cluster }: Side,
    name: string,
    env: NodeJS.ProcessEnv = {},
    isReadOnly = true,
  ): Promise<Plane> => {
    const kubeconfig = await cluster.kubeconfig(`admin-${name}`);
    const flags = [
      '--kubeconfig',
      kubeconfig,
      '--clusterID',
      id,
      '--journal',
      join(folder, `${name}.db`),
      ...(isReadOnly ? ['--read-only'] : []),
    ];
    return Plane.serve(flags, env);
  };
  const clusterz = async (of: Plane): Promise<unknown> => JSON.parse((await of.page('/debug/clusterz')).text);
  const sees = (proxy: SidecarClient, ...addresses: readonly string[]): Promise<void> =>
    until(addresses.join(), () => addresses.every(address => proxy.has(EDS, address)));

  const responses = (): readonly (readonly [string, number])[] =>
    [...models].map(([model, proxy]) => [model, proxy.responses] as const);
  const responsesInQuiet = async (): Promise<ReturnType<typeof responses>> => {
    await quiet();
    return responses();
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'periplus-clusters-'));
    [east, west] = [await side(binaries!, 'east'), await side(binaries!, 'west', EXPORTS)];
    await east.admin.putAll([service('shop', 'web'), slice('shop', 'web', '172.16.1.1')]);
    await west.admin.putAll([service('shop', 'web'), slice('shop', 'web', '172.16.2.1')]);
    await west.admin.putAll([service('shop', 'only-west'), slice('shop', 'only-west', '172.16.2.9')]);
    token = await readerToken(west);
    await east.admin.put(await remoteSecret(west, token));
    plane = await serve(east, 'east');
    await plane.ready();
  }, 600_000);

  afterAll(async () => {
    for (const proxy of proxies) proxy.close();
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(plane?.log ?? '');
    for (const one of [plane, other, external, exporting]) await one?.end('SIGKILL');
    for (const one of [east, west]) {
      one?.admin.close();
      await one?.cluster.stop();
    }
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('is ready with both clusters, and says so', async () => {
    expect(await clusterz(plane)).toEqual([
      { id: 'east', secretName: '', syncStatus: 'synced' },
      { id: 'west', secretName: `${SYSTEM}/istio-remote-secret-west`, syncStatus: 'synced' },
    ]);
    expect((await plane.page('/metrics')).text).toContain(
      'istiod_remote_cluster_sync_status{cluster="west",cluster_type="remote",status="synced"} 1',
    );
  });

  it('gives proxies of both clusters the endpoints of both (primary-remote)', async () => {
    for (const cluster of ['east', 'west']) {
      const proxy = proxyOf(plane, cluster);
      await sees(proxy, '172.16.1.1', '172.16.2.1', '172.16.2.9');
      expect(proxy.names(CDS)).toContain(WEB);
      models.set('primary-remote', proxy);
    }
  });

  it('gives them the same from a control plane of the other cluster (multi-primary)', async () => {
    await west.admin.put(await remoteSecret(east, await readerToken(east)));
    other = await serve(west, 'west');
    await other.ready();
    const proxy = proxyOf(other, 'west');
    await sees(proxy, '172.16.1.1', '172.16.2.1', '172.16.2.9');
    models.set('multi-primary', proxy);
  });

  it('gives them the same from a control plane outside of both (external)', async () => {
    external = await serve(east, 'external', { EXTERNAL_ISTIOD: 'true' });
    await external.ready();
    const proxy = proxyOf(external, 'west');
    await sees(proxy, '172.16.1.1', '172.16.2.1', '172.16.2.9');
    models.set('external', proxy);
  });

  it('follows changes of endpoints in the remote cluster', async () => {
    await west.admin.put(slice('shop', 'web', '172.16.2.1', '172.16.2.2'));
    for (const proxy of models.values()) await sees(proxy, '172.16.2.2');
  });

  it('takes machines of the remote cluster for endpoints of its services', async () => {
    await installDefinitions(west.admin, ['WorkloadEntry']);
    await west.admin.put(service('shop', 'mill'));
    await west.admin.put({
      apiVersion: 'networking.istio.io/v1',
      kind: 'WorkloadEntry',
      metadata: { name: 'mill', namespace: 'shop' },
      spec: { address: '172.16.2.77', labels: { app: 'mill' } },
    });
    for (const proxy of models.values()) await sees(proxy, '172.16.2.77');
  });

  it('exports the Services of the remote cluster there, and takes an export away with its Service', async () => {
    await installDefinitions(west.admin, ['ServiceExport']);
    const env = { ENABLE_MCS_AUTO_EXPORT: 'true', POD_NAMESPACE: SYSTEM };
    exporting = await serve(east, 'exporting', env, false);
    const exported = (name: string) => async (): Promise<boolean> =>
      (await west.admin.get(`${EXPORTED}/${name}`).catch(() => undefined)) !== undefined;
    await until('exports', async () => (await exported('web')()) && (await exported('only-west')()));
    await west.admin.put(service('shop', 'brief'));
    await until('another export', exported('brief'));
    await west.admin.remove(service('shop', 'brief'));
    await until('an export that is gone', async () => !(await exported('brief')()));
    expect(await exporting.end()).toBe(0);
  });

  it('keeps in every model the last known endpoints of a server that dies, and sends nothing', async () => {
    const before = await responsesInQuiet();
    await west.cluster.killApiserver();
    expect(await responsesInQuiet()).toEqual(before);
    await west.cluster.startApiserver();
    await west.admin.put(slice('shop', 'only-west', '172.16.2.9', '172.16.2.10'));
    for (const proxy of models.values()) await sees(proxy, '172.16.2.10');
    expect(responses()).toEqual(before.map(([model, count]) => [model, count + 1]));
    for (const proxy of models.values()) {
      for (const address of ['172.16.1.1', '172.16.2.1', '172.16.2.2', '172.16.2.77']) {
        expect(proxy.has(EDS, address)).toBe(true);
      }
    }
  });

  it('loses in no model an endpoint, and sends nothing, while a credential is rotated', async () => {
    const before = await responsesInQuiet();
    await east.admin.put(await remoteSecret(west, await readerToken(west)));
    await west.admin.put(await remoteSecret(east, await readerToken(east)));
    await until('the new credentials', () =>
      [plane.log, external.log].every(log => log.split('cluster west: Kubernetes at').length > 2),
    );
    await until('the new credential', () => other.log.split('cluster east: Kubernetes at').length > 2);
    expect(await responsesInQuiet()).toEqual(before);
    await west.admin.put(slice('shop', 'web', '172.16.2.1', '172.16.2.2', '172.16.2.3'));
    await east.admin.put(slice('shop', 'web', '172.16.1.1', '172.16.1.2'));
    for (const proxy of models.values()) await sees(proxy, '172.16.2.3', '172.16.1.2');
    await external.end('SIGKILL');
  });

  it('keeps a cluster whose new credential is refused', async () => {
    await east.admin.put(await remoteSecret(west, 'nonsense'));
    await until('the trouble', async () =>
      (await plane.page('/debug/sourcesz')).text.includes('has not been used yet'),
    );
    await west.admin.put(slice('shop', 'web', '172.16.2.4'));
    await sees(proxies[0]!, '172.16.2.4');
  });

  it('says no credential in its log, its pages or its journal', async () => {
    const pages = await Promise.all(
      ['/debug/sourcesz', '/debug/clusterz', '/debug/configz', '/metrics'].map(
        async page => (await plane.page(page)).text,
      ),
    );
    const journal = await readFile(join(folder, 'east.db'));
    const beside = await readFile(join(folder, 'east.db-wal')).catch(() => Buffer.alloc(0));
    for (const text of [plane.log, ...pages]) expect(text).not.toContain(token);
    for (const bytes of [journal, beside]) expect(bytes.includes(token)).toBe(false);
  });

  it('serves what it knew after a restart without the remote server, and drops a cluster whose Secret went', async () => {
    await plane.end('SIGKILL');
    await west.cluster.killApiserver();
    plane = await serve(east, 'east');
    await plane.ready();
    const proxy = proxyOf(plane, 'east');
    await sees(proxy, '172.16.1.1', '172.16.2.4');
    await east.admin.remove(await remoteSecret(west, 'nonsense'));
    await until('the cluster is gone', () => !proxy.has(EDS, '172.16.2.4'));
    expect(proxy.has(EDS, '172.16.1.1')).toBe(true);
    expect(await clusterz(plane)).toEqual([{ id: 'east', secretName: '', syncStatus: 'synced' }]);
  });
});
