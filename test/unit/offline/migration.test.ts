// What would change with a Periplus in istiod's place: each rule on an object that breaks it, silence on a mesh that
// breaks none, and the tables of fields and variables against the sources that they are about.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { defaultMeshConfig } from '../../../src/core/mesh/mesh-defaults.ts';
import { istioSchema } from '../../../src/core/schema/istio-schema.gen.ts';
import { objectsOfState } from '../../../src/offline/analysis-input.ts';
import { UNREAD } from '../../../src/offline/migration/mesh.ts';
import { migrationOf } from '../../../src/offline/migration/migration.ts';
import { type WorldOptions, world } from '../world.ts';

const flags = ['--monitoringAddr', '--domain'];

function istiodPod(env: Readonly<Record<string, string>>, args: readonly string[] = []): JsonObject {
  const entries = Object.entries(env).map(([name, value]) => ({ name, value }));
  const containers = [{ name: 'discovery', image: 'pilot', args, env: entries }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'istio-system', name: 'istiod-1', labels: { app: 'istiod' } },
    spec: { containers },
    status: { phase: 'Running', podIP: '10.0.0.9' },
  };
}

const quiet = istiodPod(
  {
    REVISION: 'default',
    PILOT_ENABLE_IP_AUTOALLOCATE: 'true',
    ENABLE_MCS_AUTO_EXPORT: 'true',
    GOMAXPROCS: '2',
    PILOT_ENABLE_XDS_IDENTITY_CHECK: 'true',
  },
  ['discovery', '--monitoringAddr=:15014', '--domain', 'cluster.local'],
);

/** `level code Kind namespace/name path: text`, of a mesh with a process that breaks no rule. */
function said(objects: readonly JsonObject[], options: WorldOptions = {}): readonly string[] {
  const hasPod = objects.some(({ kind, metadata }) => kind === 'Pod' && (metadata as JsonObject).name === 'istiod-1');
  const state = world(hasPod ? objects : [quiet, ...objects], options);
  const { messages, unseen } = migrationOf(state, objectsOfState(state), { flags, now: 0 });
  expect(unseen).toEqual([]);
  return messages.map(({ level, code, item, path = '', text }) => {
    return `${level} ${code} ${item?.kind} ${item?.namespace}/${item?.name} ${path}: ${text}`;
  });
}

const labelled = (kind: string, name: string, labels: Readonly<Record<string, string>>): JsonObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, labels },
});

describe('a migration', () => {
  it('of a mesh that uses what Periplus has is without a message', () => {
    expect(said([labelled('Namespace', 'shop', { 'istio-injection': 'enabled' })])).toEqual([]);
  });

  it('names what the input does not show', () => {
    const state = world([]);
    const { unseen } = migrationOf(state, [], { flags, now: 0 });
    expect(unseen).toEqual([expect.stringMatching(/environment and the flags of istiod/)]);
  });

  it.each([
    [
      'PILOT_ENABLE_AGENTGATEWAY',
      'true',
      /^Error PER0017 Pod istio-system\/istiod-1 spec.containers\[0\].env\[0\]: .*agentgateway/,
    ],
    ['MCS_API_VERSION', 'v1beta1', /^Error PER0017 .*v1alpha1 is read always/],
    ['PILOT_ENABLE_XDS_IDENTITY_CHECK', 'false', /^Error PER0017 .*refused always/],
    ['PILOT_OF_TOMORROW', '1', /^Warning PER0018 .*PILOT_OF_TOMORROW is not read/],
  ])('names the variable %s=%s of the istiod', (name, value, expected) => {
    expect(said([istiodPod({ [name]: value })])).toEqual([expect.stringMatching(expected)]);
  });

  it('names flags of the istiod that have no effect', () => {
    expect(said([istiodPod({}, ['discovery', '--domain=cluster.local', '--cniNamespace=kube-system'])])).toEqual([
      'Warning PER0018 Pod istio-system/istiod-1 spec.containers[0].args[2]: the flag --cniNamespace has no effect',
    ]);
  });

  it('names ambient workloads and waypoints', () => {
    const lines = said([
      labelled('Namespace', 'shop', { 'istio.io/dataplane-mode': 'ambient', 'istio.io/use-waypoint': 'way' }),
      labelled('Namespace', 'bank', { 'istio.io/use-waypoint': 'none' }),
    ]);
    expect(lines).toEqual([
      expect.stringMatching(
        /^Warning PER0018 Namespace \/shop metadata.labels\[istio.io\/use-waypoint\]: .*waypoint way/,
      ),
      expect.stringMatching(/^Warning PER0018 Namespace \/shop metadata.labels\[istio.io\/dataplane-mode\]: .*ambient/),
    ]);
  });

  it('names kinds without effect, and no route to an InferencePool', () => {
    const api = 'gateway.networking.k8s.io';
    const route = {
      apiVersion: `${api}/v1`,
      kind: 'HTTPRoute',
      metadata: { namespace: 'shop', name: 'r' },
      spec: { rules: [{ backendRefs: [{ group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'p' }] }] },
    };
    const udp = {
      apiVersion: `${api}/v1alpha2`,
      kind: 'UDPRoute',
      metadata: { namespace: 'shop', name: 'u' },
      spec: { rules: [{ backendRefs: [{ name: 'dns', port: 53 }] }] },
    };
    const lines = said([route, udp]);
    expect(lines.filter(line => line.includes('PER0017'))).toEqual([]);
    expect(lines).toContainEqual(expect.stringMatching(/^Warning PER0004 UDPRoute shop\/u/));
  });

  it('names settings of the mesh without effect, at the ConfigMap that has them', () => {
    const configMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'istio-system', name: 'istio' },
      data: { mesh: '' },
    };
    const mesh = {
      verifyCertificateAtClient: true,
      configSources: [{ address: 'fs:///etc/mesh' }, { address: 'xds://other:15010' }],
      extensionProviders: [
        { name: 'l', lightstep: { service: 'l.shop', port: 80, accessToken: 't' } },
        {
          name: 'o',
          opentelemetry: { service: 'o.shop', port: 80, http: { path: '/', headers: [{ name: 'a', envName: 'KEY' }] } },
        },
      ],
    };
    expect(said([configMap], { mesh })).toEqual([
      expect.stringMatching(/^Error PER0017 ConfigMap istio-system\/istio configSources\[0\].address: fs:/),
      expect.stringMatching(/^Warning PER0018 .* extensionProviders\[0\].lightstep: /),
      expect.stringMatching(/^Warning PER0018 .* extensionProviders\[1\].opentelemetry.http.headers\[0\].envName: /),
      expect.stringMatching(/^Warning PER0018 .* verifyCertificateAtClient: /),
    ]);
  });

  it('renders the templates of the cluster, and names one that cannot be used', () => {
    const injector = (sidecar: string): JsonObject => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'istio-system', name: 'istio-sidecar-injector' },
      data: { config: JSON.stringify({ policy: 'enabled', templates: { sidecar } }), values: '{"global":{}}' },
    });
    expect(said([injector('spec: {containers: [{name: istio-proxy, image: proxy}]}')])).toEqual([]);
    expect(said([injector('spec: {{ genPrivateKey "rsa" }}')])).toEqual([
      expect.stringMatching(/^Error PER0017 ConfigMap istio-system\/istio-sidecar-injector : .*genPrivateKey/),
    ]);
    expect(said([injector('{{ range }}')])).toEqual([expect.stringMatching(/every pod would be refused/)]);
  });

  it('leaves out what a suppression names', () => {
    const state = world([istiodPod({ PILOT_ENABLE_AGENTGATEWAY: 'true' })]);
    const suppressions = [{ code: 'PER0017', resource: 'Pod *' }];
    const found = migrationOf(state, objectsOfState(state), { flags, now: 0, suppressions });
    expect([found.messages, found.suppressed]).toEqual([[], 1]);
  });
});

/** Every text of the program but the rules of migration. */
function sources(folder = join(import.meta.dirname, '../../../src')): string {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'migration' && !name.endsWith('.gen.ts'))
    .map(entry => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? sources(path) : readFileSync(path, 'utf8');
    })
    .join('\n');
}

describe('the tables of a migration', () => {
  const text = sources();

  it('list exactly the fields of MeshConfig that no part reads', () => {
    const fields = istioSchema.messages['istio.mesh.v1alpha1.MeshConfig']?.map(({ name }) => name) ?? [];
    expect(fields.length).toBeGreaterThan(30);
    const isRead = (field: string): boolean =>
      new RegExp(
        `(mesh|meshPort)\\((reader, )?'${field}'|effective\\.${field}\\b|\\b${field}\\b[^;]*= (state\\.)?mesh\\.effective`,
      ).test(text);
    const unread = fields.filter(field => !(field in defaultMeshConfig) && !isRead(field));
    expect(unread.sort()).toEqual(Object.keys(UNREAD).sort());
  });
});
