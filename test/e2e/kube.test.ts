// Against a real kube-apiserver and etcd: `serve` with the rights of deploy/rbac.yaml and nothing more, what changes in
// the cluster reaches proxies, the same state from files gives the same bytes, and neither death nor forgetfulness of
// the API server loses or invents anything.

import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { builtInKinds, customKinds, pathOf } from '../../src/adapters/kube/resource.ts';
import type { JsonObject } from '../../src/core/base/json.ts';
import { definitions } from '../../src/core/kinds/registry.ts';
import type { SourceReport } from '../../src/runtime/sources.ts';
import { CDS, EDS, RDS } from '../../src/xds/session/types.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { definitionFor, installDefinitions, pluralOf } from './kube/custom-resource-definitions.ts';
import { configMap, namespace, route, SYSTEM, service, slice } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
/** An answer that nothing came is worth as much as this is long: the debounce is a tenth of a second. */
const QUIET_MS = 3_000;
const SECRET_TEXT = 'a-private-key-that-nobody-may-read';

const quiet = (): Promise<void> => new Promise(resolve => setTimeout(resolve, QUIET_MS));

function manifests(file: string): readonly JsonObject[] {
  return [file].flatMap(name => parseAllDocuments(name).map(document => document.toJS() as JsonObject));
}

describe.runIf(binaries !== undefined)('a control plane of a cluster', () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let kubeconfig: string;
  let token: string;
  let plane: Plane;
  let proxy: SidecarClient;

  const serve = (name: string, env: NodeJS.ProcessEnv = {}, ...more: readonly string[]): Promise<Plane> =>
    Plane.serve(['--read-only', '--kubeconfig', kubeconfig, '--journal', join(folder, `${name}.db`), ...more], env);
  const sidecar = (of: Plane): SidecarClient =>
    new SidecarClient({ port: of.grpc, namespace: 'shop', name: 'web', routes: ['80'] });

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    folder = await mkdtemp(join(tmpdir(), 'periplus-kube-test-'));
    admin = cluster.client();
    await installDefinitions(admin);
    await admin.putAll([namespace(SYSTEM), namespace('shop', { team: 'shop' }), namespace('other', { team: 'other' })]);
    for (const file of ['rbac.yaml', 'serve.yaml', 'record.yaml']) {
      for (const object of manifests(await readFile(join(import.meta.dirname, '../../deploy', file), 'utf8'))) {
        await admin.put(object);
      }
    }
    const account = `/api/v1/namespaces/${SYSTEM}/serviceaccounts/periplus/token`;
    const asked = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } };
    token = (((await admin.post(account, asked)).status as JsonObject).token ?? '') as string;
    kubeconfig = await cluster.kubeconfig('periplus', token);
    const tls = { 'tls.crt': 'a certificate', 'tls.key': SECRET_TEXT };
    await admin.putAll([
      service('shop', 'web'),
      slice('shop', 'web', '172.16.0.1'),
      route('shop', 'web', 'first'),
      service('other', 'api'),
      slice('other', 'api', '172.16.0.2'),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'cert', namespace: SYSTEM },
        type: 'Opaque',
        stringData: tls,
      },
    ]);
    plane = await serve('main');
    await plane.ready();
    proxy = sidecar(plane);
    await until(
      'clusters',
      () => proxy.has(EDS, '172.16.0.1') && proxy.has(RDS, 'first') && proxy.has(EDS, '172.16.0.2'),
    );
  }, 600_000);

  afterAll(async () => {
    proxy?.close();
    if (process.env.PERIPLUS_SHOW_LOG !== undefined) process.stderr.write(plane?.log ?? '');
    await plane?.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('is judged by analyze with the same rights, and named where a kind may not be read', async () => {
    const astray: JsonObject = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: 'astray', namespace: 'other' },
      spec: { hosts: ['astray.example'], http: [{ route: [{ destination: { host: 'no-such-host.other' } }] }] },
    };
    await admin.put(astray);
    const cli = join(import.meta.dirname, '../../dist/cli/main.js');
    const analyze = (...flags: readonly string[]) =>
      new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>(done => {
        execFile(process.execPath, [cli, 'analyze', '-o', 'json', ...flags], (error, stdout, stderr) =>
          done({ code: error === null ? 0 : 1, stdout, stderr }),
        );
      });
    const whole = await analyze('--kubeconfig', kubeconfig);
    expect(whole.stdout).toContain('IST0101');
    expect(whole.stdout).toContain('no-such-host.other');
    expect(whole.stderr).toMatch(/^\d+ objects in https:/m);
    expect(whole.stderr).not.toContain('not looked at');
    const stranger = await analyze('--kubeconfig', await cluster.kubeconfig('stranger', 'no-such-token'));
    expect(stranger.code).not.toBe(0);
    expect(stranger.stderr).toMatch(/could not be listed: .*401/);
    await admin.remove(astray);
  });

  it('has an account that may neither write nor read unwatched kinds', async () => {
    const account = cluster.client(token);
    await expect(account.put(service('shop', 'mine'))).rejects.toThrow(/403/);
    await expect(account.get('/apis/coordination.k8s.io/v1/leases')).rejects.toThrow(/403/);
    await expect(account.get(`/api/v1/namespaces/${SYSTEM}/secrets/cert`)).rejects.toThrow(/403/);
    account.close();
    expect(JSON.parse((await plane.page('/debug/sourcesz')).text)).toMatchObject([
      { source: 'file/Kubernetes', synced: true },
      { source: 'kube/Kubernetes', synced: true, waiting: [], troubles: [], unreadable: [] },
      { source: 'dns/Kubernetes', synced: true, waiting: [], troubles: [], unreadable: [] },
      { source: 'jwks/Kubernetes', synced: true, waiting: [], troubles: [], unreadable: [] },
      { source: 'registration/Kubernetes', synced: true, waiting: [], troubles: [], unreadable: [] },
    ]);
  });

  it('sends changed routes, endpoints and services to a proxy', async () => {
    await admin.put(route('shop', 'web', 'second'));
    await until('the route', () => proxy.has(RDS, 'second') && !proxy.has(RDS, 'first'));
    await admin.put(slice('shop', 'web', '172.16.0.7', '172.16.0.8'));
    await until('the endpoints', () => proxy.has(EDS, '172.16.0.8') && !proxy.has(EDS, '172.16.0.1'));
    await admin.put(service('shop', 'extra'));
    await until('the cluster', () => proxy.names(CDS).includes('outbound|80||extra.shop.svc.cluster.local'));
    await admin.remove(service('shop', 'extra'));
    await until('no cluster', () => !proxy.names(CDS).includes('outbound|80||extra.shop.svc.cluster.local'));
  });

  it('applies the mesh configuration of a ConfigMap, and namespace labels by it', async () => {
    const selectors =
      'discoverySelectors: [{ matchLabels: { team: shop } }]\noutboundTrafficPolicy: { mode: REGISTRY_ONLY }\n';
    await admin.put(configMap('istio', { mesh: selectors }));
    const other = 'outbound|80||api.other.svc.cluster.local';
    await until('the other namespace is hidden', () => !proxy.names(CDS).includes(other));
    await admin.patch(namespace('other'), { metadata: { labels: { team: 'shop' } } });
    await until('the other namespace is seen', () => proxy.names(CDS).includes(other));
    await admin.remove(configMap('istio', {}));
    await until('the default policy', async () => !(await plane.page('/debug/mesh')).text.includes('REGISTRY_ONLY'));
  });

  it('sends nothing for changes that affect no proxy', async () => {
    await quiet();
    const { responses } = proxy;
    await admin.patch(service('shop', 'web'), { metadata: { annotations: { 'example.com/touched': '1' } } });
    await admin.put(configMap('unrelated', { key: 'value' }));
    await quiet();
    expect(proxy.responses).toBe(responses);
  });

  it('generates the same bytes from files with the same state', async () => {
    await quiet();
    const files = join(folder, 'files');
    await mkdir(files);
    let count = 0;
    for (const definition of [...builtInKinds, ...customKinds]) {
      const { kind, objectKind = kind, group, versions } = definition;
      const list = await admin.get(`${pathOf(group, versions[0]!)}/${pluralOf(objectKind)}`).catch(() => undefined);
      for (const item of (list?.items ?? []) as readonly JsonObject[]) {
        const object = {
          ...item,
          apiVersion: group === '' ? versions[0]! : `${group}/${versions[0]!}`,
          kind: objectKind,
        };
        await writeFile(join(files, `${count++}.yaml`), JSON.stringify(object));
      }
    }
    expect(count).toBeGreaterThan(10);
    const ofFiles = await Plane.serve([
      '--configDir',
      files,
      '--registries',
      '',
      '--journal',
      join(folder, 'files.db'),
    ]);
    try {
      await ofFiles.ready();
      const twin = sidecar(ofFiles);
      await until('as many resources', () => twin.all().length >= proxy.all().length);
      await quiet();
      expect(twin.all()).toEqual(proxy.all());
      twin.close();
    } finally {
      await ofFiles.end('SIGKILL');
    }
  });

  it('serves files and a cluster together, and the file wins where both have an object', async () => {
    const files = join(folder, 'beside');
    await mkdir(files);
    await writeFile(join(files, 'route.yaml'), JSON.stringify(route('shop', 'web', 'from-a-file')));
    const both = await serve('both', {}, '--configDir', files);
    try {
      await both.synced();
      const twin = sidecar(both);
      await until('the route of the file', () => twin.has(RDS, 'from-a-file') && twin.has(EDS, '172.16.0.8'));
      expect(twin.has(RDS, 'second')).toBe(false);
      await rm(join(files, 'route.yaml'));
      await until('the route of the cluster', () => twin.has(RDS, 'second') && !twin.has(RDS, 'from-a-file'));
      twin.close();
    } finally {
      await both.end('SIGKILL');
    }
  });

  it('seals secrets in the journal', async () => {
    const needles = [SECRET_TEXT, Buffer.from(SECRET_TEXT).toString('base64')];
    for (const name of (await readdir(folder)).filter(one => one.startsWith('main.db'))) {
      const bytes = await readFile(join(folder, name));
      for (const needle of needles) expect(bytes.includes(needle), `${name} holds a secret`).toBe(false);
    }
  });

  it('watches a kind once it is defined, and deletes its objects once it is removed', async () => {
    const definition = definitions.VirtualService;
    await admin.remove(definitionFor(definition));
    await until('no routes of ours', () => !proxy.has(RDS, 'second'));
    await admin.put(definitionFor(definition, ['v1beta1']));
    await until('the kind is served', async () => {
      const again = { ...route('shop', 'web', 'third'), apiVersion: 'networking.istio.io/v1beta1' };
      return admin.put(again).then(
        () => true,
        () => false,
      );
    });
    await until('the route of the new kind', () => proxy.has(RDS, 'third'));
    await admin.put(definitionFor(definition, ['v1', 'v1beta1', 'v1alpha3'])).catch(() => undefined);
  });

  /** Problems of any source. */
  const troubles = async (): Promise<readonly string[]> => {
    const sources = JSON.parse((await plane.page('/debug/sourcesz')).text) as readonly SourceReport[];
    return sources.flatMap(source => source.troubles);
  };

  it('keeps serving while the API server is down, and catches up afterwards', async () => {
    await quiet();
    const { responses } = proxy;
    await cluster.killApiserver();
    await until('trouble', async () => (await troubles()).length > 0);
    expect((await plane.page('/ready')).status).toBe(200);
    await cluster.startApiserver();
    await until('no trouble', async () => (await troubles()).length === 0, 90_000);
    await quiet();
    expect(proxy.responses).toBe(responses);
    await admin.put(slice('shop', 'web', '172.16.0.9'));
    await until('the endpoint', () => proxy.has(EDS, '172.16.0.9'));
  });

  it('finds changes and deletions made while it was stopped, and survives a compacted history', async () => {
    await plane.end();
    await admin.put(slice('shop', 'web', '172.16.0.10'));
    await admin.remove(service('other', 'api'));
    await cluster.compact();
    await cluster.killApiserver();
    plane = await serve('main');
    await plane.ready();
    const { text } = await plane.page('/ready');
    expect(text).toMatch(/^ready, with what the journal says, \d+[smh].* old\n.*kube\/Kubernetes: not listed/s);
    proxy.close();
    proxy = sidecar(plane);
    await until('the past is served', () => proxy.has(EDS, '172.16.0.9'));
    await cluster.startApiserver();
    await plane.synced();
    await until('the present', () => proxy.has(EDS, '172.16.0.10') && !proxy.has(EDS, '172.16.0.2'));
  });

  it('with record: journals the cluster with the same rights and serves no proxy', async () => {
    const journal = join(folder, 'record.db');
    const recorder = Plane.record('--kubeconfig', kubeconfig, '--journal', journal);
    await until('listed', () => recorder.log.includes('kube/Kubernetes: everything has been listed'));
    await admin.put(slice('shop', 'web', '172.16.0.11'));
    await quiet();
    expect(await recorder.end()).toBe(0);
    const { openJournal } = await import('../../src/journal/open.ts');
    const reader = await openJournal(journal, { clock: Date.now, readonly: true });
    const said: string[] = [];
    for await (const page of reader.records({ from: 1 }))
      for (const record of page) said.push(`${record.kind} ${record.body}`);
    await reader.close();
    expect(said.some(text => text.includes('172.16.0.11'))).toBe(true);
    expect(said.filter(text => text.startsWith('Proxy'))).toEqual([]);
    // Who wrote it, and when, but not which fields.
    expect(said.at(-1)).toMatch(/"managedFields":\[\{"manager":"[^"]+","operation":"Update","time":"[^"]+"\}\]/);
    expect(said.at(-1)).toContain('172.16.0.11');
  });

  it('ignores objects of another revision, and uses the ConfigMap of its own', async () => {
    const other = { ...route('shop', 'web', 'of-another-revision') };
    const labelled = {
      ...other,
      metadata: { name: 'labelled', namespace: 'shop', labels: { 'istio.io/rev': 'canary' } },
    };
    await admin.put(labelled);
    await admin.put(configMap('istio-canary', { mesh: 'outboundTrafficPolicy: { mode: REGISTRY_ONLY }\n' }));
    await admin.remove(route('shop', 'web', ''));
    const canary = await serve('canary', { REVISION: 'canary' });
    const stable = await serve('stable', { REVISION: 'stable' });
    try {
      await Promise.all([canary.synced(), stable.synced()]);
      const [ours, theirs] = [sidecar(canary), sidecar(stable)];
      await until('both', () => ours.has(RDS, 'of-another-revision') && theirs.has(EDS, '172.16.0.11'));
      expect(theirs.has(RDS, 'of-another-revision')).toBe(false);
      expect((await canary.page('/debug/mesh')).text).toContain('REGISTRY_ONLY');
      expect((await stable.page('/debug/mesh')).text).not.toContain('REGISTRY_ONLY');
      ours.close();
      theirs.close();
    } finally {
      await Promise.all([canary.end('SIGKILL'), stable.end('SIGKILL')]);
    }
  });

  it('replays its whole journal to the bytes that were sent', async () => {
    expect(await plane.end()).toBe(0);
    const { code, said } = await Plane.run('replay', '--verify', '--journal', join(folder, 'main.db'));
    expect(said).toContain('reproduced byte for byte');
    expect(code).toBe(0);
  });
});
