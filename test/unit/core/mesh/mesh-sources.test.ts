// The mesh configuration comes from a file, a ConfigMap and a shared ConfigMap: what is in force depends on what they
// say now, not on who spoke first, and each keeps its own last good word.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { Fact, MeshLayer } from '../../../../src/core/event.ts';
import { newsOf } from '../../../../src/core/fold/novelty.ts';
import { restore } from '../../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../../src/core/fold/snapshot.ts';
import { proxyConfigOfProxy } from '../../../../src/core/select/proxy/effective-proxy-config.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { stateHash } from '../../../../src/offline/load-state.ts';
import { withMeshFacts, withMeshFactsOfList } from '../../../../src/offline/mesh-config-map.ts';
import { parameters } from '../../../property/seed.ts';
import { ask, nodeOf, proxyOf, step, withObjects, world } from '../../world.ts';
import { pod } from '../registry/fixtures.ts';

const SOURCE = 'kube/Kubernetes';
type Said = readonly [layer: MeshLayer | undefined, value: Json];

function say(state: State, [layer, value]: Said, kind: 'MeshConfig' | 'MeshNetworks' = 'MeshConfig'): State {
  return step(state, { source: SOURCE, kind, value, ...(layer === undefined ? {} : { layer }) }).state;
}
function meshAfter(...said: readonly Said[]): State {
  return said.reduce((state, one) => say(state, one), emptyState);
}
const log = (state: State): string => state.mesh.effective.accessLogFile;

describe('precedence of mesh sources', () => {
  test.each<[string, readonly Said[]]>([
    ['', []],
    ['/shared', [['shared', { accessLogFile: '/shared' }]]],
    [
      '/map',
      [
        ['configMap', { accessLogFile: '/map' }],
        ['shared', { accessLogFile: '/shared' }],
      ],
    ],
    [
      '/file',
      [
        [undefined, { accessLogFile: '/file' }],
        ['configMap', { accessLogFile: '/map' }],
      ],
    ],
    [
      '/shared',
      [
        ['shared', { accessLogFile: '/shared' }],
        [undefined, { trustDomain: 'x' }],
        ['configMap', { accessLogFile: '/map' }],
      ],
    ],
    [
      '/map',
      [
        ['configMap', { accessLogFile: '/map' }],
        [undefined, { accessLogFile: '/file' }],
        [undefined, null],
      ],
    ],
  ])('sends the access log to %j', (expected, said) => {
    expect(log(meshAfter(...said))).toBe(expected);
    expect(log(meshAfter(...[...said].sort((a, b) => Number(b[1] !== null) - Number(a[1] !== null))))).toBe(expected);
  });

  test('uses the networks of the first source that has any, and never merges them', () => {
    const networks = (state: State): readonly string[] => Object.keys(state.networks.effective.networks);
    const map = say(emptyState, ['configMap', { networks: { map: {} } }], 'MeshNetworks');
    const file = say(map, [undefined, { networks: { file: {} } }], 'MeshNetworks');
    const shared = say(file, ['shared', { networks: { shared: {} } }], 'MeshNetworks');
    expect([map, file, shared].map(networks)).toEqual([['map'], ['file'], ['shared']]);
    expect(networks(say(shared, ['shared', null], 'MeshNetworks'))).toEqual(['file']);
  });
});

describe('a mesh source with an error', () => {
  const good = meshAfter(['configMap', { accessLogFile: '/good' }]);
  test('keeps its last good value and reports why the new one is refused', () => {
    const bad = step(good, { source: SOURCE, kind: 'MeshConfig', layer: 'configMap', value: { accessLogFile: 7 } });
    expect(log(bad.state)).toBe('/good');
    expect(bad.effects).toMatchObject([{ kind: 'Verdict', accepted: false, problems: [{ path: 'accessLogFile' }] }]);
    expect(log(say(bad.state, ['configMap', { accessLogFile: '/better' }]))).toBe('/better');
  });
});

const value = fc.constantFrom<Json>(
  null,
  {},
  { accessLogFile: '/a' },
  { trustDomain: 'td', trustDomainAliases: ['one'] },
  { trustDomainAliases: ['two'], extensionProviders: [{ name: 'x', envoyOtelAls: { service: 's', port: 1 } }] },
  { defaultConfig: { proxyMetadata: { A: '1' } } },
  { accessLogFile: 7 },
  'not a mesh configuration',
);
const said = fc.tuple(fc.constantFrom<MeshLayer | undefined>(undefined, 'configMap', 'shared'), value);

test('law 3: the order between mesh sources does not matter', () => {
  const interleaved = fc.tuple(fc.array(said, { maxLength: 10 }), fc.infiniteStream(fc.nat(2)));
  fc.assert(
    fc.property(interleaved, ([all, choices]) => {
      const queues = [undefined, 'configMap', 'shared'].map(layer => all.filter(one => one[0] === layer));
      const shuffled: Said[] = [];
      for (const choice of choices) {
        if (shuffled.length === all.length) break;
        const next = [...queues.slice(choice), ...queues].find(queue => queue.length > 0)?.shift();
        if (next !== undefined) shuffled.push(next);
      }
      expect(meshAfter(...shuffled).mesh.effective).toEqual(meshAfter(...all).mesh.effective);
    }),
    parameters(200),
  );
});

test('law 6: a snapshot holds every mesh source and its error', () => {
  fc.assert(
    fc.property(fc.array(said, { maxLength: 8 }), fc.array(said, { maxLength: 4 }), (before, then) => {
      const state = meshAfter(...before);
      const restored = restore(JSON.parse(JSON.stringify([...snapshotOf(state)])));
      expect(restored.mesh.effective).toEqual(state.mesh.effective);
      const tail = (from: State): string => stateHash(then.reduce((at, one) => say(at, one), from));
      expect(tail(restored)).toBe(tail(state));
    }),
    parameters(200),
  );
});

describe('mesh configuration in ConfigMaps', () => {
  const configMap = (name: string, data: JsonObject, namespace = 'istio-system'): Fact => ({
    kind: 'Add',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace }, data },
  });
  const mesh = (facts: readonly Fact[]): readonly Fact[] => facts.filter(({ kind }) => kind.startsWith('Mesh'));
  const saying = (state: State, source = SOURCE) => ({ state, source, shared: 'common' });
  const yaml = { mesh: 'accessLogFile: /dev/stdout\nenableTracing: no\n', meshNetworks: 'networks: {}' };

  test('is read under our name in the system namespace of the config cluster', () => {
    const facts = mesh(withMeshFacts(saying(emptyState), [configMap('istio', yaml)]));
    expect(facts).toMatchObject([
      { kind: 'MeshConfig', layer: 'configMap', value: { accessLogFile: '/dev/stdout', enableTracing: false } },
      { kind: 'MeshNetworks', layer: 'configMap', value: { networks: {} } },
    ]);
    expect(mesh(withMeshFacts(saying(emptyState), [configMap('common', {})]))).toMatchObject([
      { layer: 'shared', value: null },
      { layer: 'shared', value: null },
    ]);
    expect(mesh(withMeshFacts(saying(emptyState), [configMap('istio', yaml, 'prod')]))).toEqual([]);
    expect(mesh(withMeshFacts(saying(emptyState, 'kube/remote'), [configMap('istio', yaml)]))).toEqual([]);
  });

  test('has the revision in its name', () => {
    const canary = step(emptyState, { kind: 'Engine', source: 'runtime', settings: { revision: 'canary' } }).state;
    const named = (name: string): number => mesh(withMeshFacts(saying(canary), [configMap(name, yaml)])).length;
    expect([named('istio'), named('istio-canary')]).toEqual([0, 2]);
  });

  test('ends when the ConfigMap is deleted, if it existed', () => {
    const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'istio-system', name: 'istio' };
    const gone: Fact = { kind: 'Delete', ref };
    const there = step(emptyState, { source: SOURCE, ...configMap('istio', yaml) }).state;
    expect(mesh(withMeshFacts(saying(emptyState), [gone]))).toEqual([]);
    expect(mesh(withMeshFacts(saying(there), [gone]))).toMatchObject([{ value: null }, { value: null }]);
    expect(mesh(withMeshFactsOfList(saying(there), [], []))).toMatchObject([{ value: null }, { value: null }]);
    expect(mesh(withMeshFactsOfList(saying(there, 'file/Kubernetes'), [], []))).toEqual([]);
    expect(mesh(withMeshFactsOfList(saying(there), [configMap('istio', yaml)], []))).toHaveLength(2);
  });

  test('is refused by the core if it is not YAML, and ignored if it repeats the same', () => {
    const bad = mesh(withMeshFacts(saying(emptyState), [configMap('istio', { mesh: 'a: [' })]));
    const state = bad.reduce((at, fact) => step(at, { source: SOURCE, ...fact }).state, emptyState);
    expect(state.mesh.others?.configMap?.refused?.raw).toBe('a: [');
    expect(newsOf(state, SOURCE, bad)).toEqual([]);
  });
});

describe('the ProxyConfig of a workload', () => {
  const config = (name: string, namespace: string, day: string, spec: JsonObject): JsonObject => ({
    apiVersion: 'networking.istio.io/v1beta1',
    kind: 'ProxyConfig',
    metadata: { name, namespace, creationTimestamp: `2026-01-${day}T00:00:00Z` },
    spec,
  });
  const selector = { matchLabels: { app: 'web' } };
  const state = world(
    [
      config('root', 'istio-system', '01', { concurrency: 1, environmentVariables: { A: 'root', B: 'root' } }),
      config('space', 'default', '01', { concurrency: 2, environmentVariables: { B: 'space' } }),
      config('late', 'default', '02', { concurrency: 9, image: { imageType: 'debug' } }),
      config('web', 'default', '01', { selector, environmentVariables: { C: 'web' } }),
      config('other', 'default', '01', { selector: { matchLabels: { app: 'db' } }, concurrency: 7 }),
      config('none', 'default', '01', { selector: {}, concurrency: 8 }),
    ],
    { mesh: { defaultConfig: { concurrency: 5, proxyMetadata: { M: 'mesh' } } } },
  );
  const labels = { app: 'web' };
  const of = (at: State, metadata: JsonObject = {}, namespace = 'default') =>
    ask(at, proxyConfigOfProxy, '', proxyOf(nodeOf({ name: 'web-1', ip: '10.0.0.1', namespace, labels, metadata })));
  const annotated = (text: string): State =>
    withObjects(state, pod('web-1', '10.0.0.1', { labels, annotations: { 'proxy.istio.io/config': text } }));

  test('merges mesh < root namespace < namespace < workload, the oldest of each level', () => {
    const found = of(state);
    expect(found).toMatchObject({ concurrency: 2, proxyMetadata: { M: 'mesh', A: 'root', B: 'space', C: 'web' } });
    expect(found.image).toBeUndefined();
  });
  test('in the root namespace, is that of the mesh', () => {
    expect(of(state, {}, 'istio-system')).toMatchObject({
      concurrency: 1,
      proxyMetadata: { M: 'mesh', A: 'root', B: 'root' },
    });
  });
  test('ranks the annotation of the pod between namespace and workload', () => {
    const text = 'concurrency: 3\nholdApplicationUntilProxyStarts: yes\nproxyMetadata: { B: pod, C: pod }\nfuture: 1';
    expect(of(annotated(text))).toMatchObject({
      concurrency: 3,
      holdApplicationUntilProxyStarts: true,
      proxyMetadata: { M: 'mesh', A: 'root', B: 'pod', C: 'web' },
    });
  });
  test('takes annotations from the agent if the pod is unknown', () => {
    expect(of(state, { ANNOTATIONS: { 'proxy.istio.io/config': 'concurrency: 4' } }).concurrency).toBe(4);
  });
  test.each(['{', 'concurrency: many', 'a: &a [*a]', '7', 'a: 1\na: 2'])('ignores the annotation %j', text => {
    expect(of(annotated(text))).toEqual(of(withObjects(state, pod('web-1', '10.0.0.1', { labels }))));
  });
});
