// Which remote clusters are wanted: a function of the Secrets, whatever their order.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64OfText } from '../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { clusterSources, remoteClusters } from '../../../../src/core/clusters/remote-clusters.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';
import { parameters } from '../../../property/seed.ts';
import { kubeconfigText, remoteSecret } from './secrets.ts';

const SOURCE = 'kube/Kubernetes';
const add = (object: JsonObject, source = SOURCE): Unrecorded => ({ source, kind: 'Add', object });

function wanted(facts: readonly Unrecorded[], env: Readonly<Record<string, string>> = {}) {
  const engine: Unrecorded = { source: 'runtime', kind: 'Engine', settings: { env } };
  return remoteClusters(clusterSources(foldFacts([engine, ...facts]).state));
}
const secretsOf = (facts: readonly Unrecorded[]): readonly string[] =>
  wanted(facts).clusters.map(({ id, secret, refused }) => `${id} ${secret}${refused === undefined ? '' : ' refused'}`);

describe('the wanted clusters', () => {
  it('are those of labelled Secrets of the system namespace, a cluster for each key', () => {
    const two = remoteSecret('two', { east: kubeconfigText('east'), west: kubeconfigText('west') });
    const unlabelled = remoteSecret('plain', { north: kubeconfigText('north') }, { labels: {} });
    const elsewhere = remoteSecret('far', { south: kubeconfigText('south') }, { namespace: 'default' });
    expect(secretsOf([add(two), add(unlabelled), add(elsewhere)])).toEqual([
      'east istio-system/two',
      'west istio-system/two',
    ]);
  });

  it('do not include the own cluster', () => {
    const { clusters, findings } = wanted([add(remoteSecret('own', { Kubernetes: kubeconfigText('own') }))]);
    expect([clusters, findings]).toEqual([
      [],
      ['Secret istio-system/own: Kubernetes is this cluster itself; the key is ignored'],
    ]);
  });

  it('are those of the oldest usable Secret, and of the next when it goes', () => {
    const old = remoteSecret('b-old', { east: kubeconfigText('old') }, { creationTimestamp: '2026-01-01T00:00:00Z' });
    const young = remoteSecret(
      'a-young',
      { east: kubeconfigText('new') },
      { creationTimestamp: '2026-01-02T00:00:00Z' },
    );
    expect(secretsOf([add(young), add(old)])).toEqual(['east istio-system/b-old']);
    const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'istio-system', name: 'b-old' };
    expect(secretsOf([add(young), add(old), { source: SOURCE, kind: 'Delete', ref }])).toEqual([
      'east istio-system/a-young',
    ]);
  });

  it('stay wanted with a refused kubeconfig, unless another Secret has a usable one', () => {
    const bad = remoteSecret('bad', { east: 'nonsense' }, { creationTimestamp: '2026-01-01T00:00:00Z' });
    expect(secretsOf([add(bad)])).toEqual(['east istio-system/bad refused']);
    expect(secretsOf([add(bad), add(remoteSecret('good', { east: kubeconfigText('e') }))])).toEqual([
      'east istio-system/good',
    ]);
  });

  it('are those of the folder of kubeconfigs alone, if there is one', () => {
    const facts = [
      add(remoteSecret('api', { east: kubeconfigText('east') })),
      add(remoteSecret('file', { west: kubeconfigText('west') }), 'kubeconfigs/Kubernetes'),
    ];
    expect(wanted(facts).clusters.map(({ id }) => id)).toEqual(['east']);
    const env = { PILOT_MULTICLUSTER_KUBECONFIG_PATH: '/clusters' };
    expect(wanted(facts, env).clusters.map(({ id }) => id)).toEqual(['west']);
  });

  it('stay what they are if discovery selectors hide the system namespace', () => {
    const mesh = { discoverySelectors: [{ matchLabels: { team: 'shop' } }] };
    const facts: Unrecorded[] = [
      { source: SOURCE, kind: 'MeshConfig', value: mesh },
      add(remoteSecret('one', { east: kubeconfigText('east') })),
    ];
    expect(secretsOf(facts)).toEqual(['east istio-system/one']);
  });

  it.each<[string, JsonObject]>([
    ['the label', { metadata: { labels: { 'istio/multiCluster': 'true' } }, data: { east: 'x' } }],
    ['descriptions of clusters', { metadata: {}, data: { east: 'apiVersion: clusterregistry.k8s.io/v1alpha1' } }],
  ])('are not those of a ConfigMap with %s, which a finding says', (_, { metadata, data }) => {
    const named = { ...(metadata as JsonObject), name: 'clusters', namespace: 'istio-system' };
    const { clusters, findings } = wanted([
      add({ apiVersion: 'v1', kind: 'ConfigMap', metadata: named, data } as JsonObject),
    ]);
    expect(clusters).toEqual([]);
    expect(findings).toEqual([expect.stringContaining('label istio/multiCluster=true')]);
  });

  it('do not depend on the order in which Secrets come', () => {
    const secret = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      id: fc.constantFrom('east', 'west', 'bad id!'),
      year: fc.constantFrom(2024, 2025),
      good: fc.boolean(),
    });
    const distinct = fc.uniqueArray(secret, { selector: ({ name }) => name, maxLength: 4 });
    fc.assert(
      fc.property(distinct, fc.array(fc.nat(), { minLength: 4, maxLength: 4 }), (secrets, order) => {
        const facts = secrets.map(({ name, id, year, good }) =>
          add(
            remoteSecret(
              name,
              { [id]: good ? kubeconfigText(name) : '' },
              { creationTimestamp: `${year}-01-01T00:00:00Z` },
            ),
          ),
        );
        const shuffled = facts.map((fact, i) => ({ fact, at: order[i] ?? 0 })).sort((a, b) => a.at - b.at);
        expect(wanted(shuffled.map(({ fact }) => fact)).clusters).toEqual(wanted(facts).clusters);
      }),
      parameters(100),
    );
  });

  it('are read from UTF-8', () => {
    const raw = remoteSecret('utf', {});
    const data = { east: base64OfText(`# ünïcode\n${kubeconfigText('east')}`), west: '//8=' };
    expect(secretsOf([add({ ...raw, data })])).toEqual(['east istio-system/utf', 'west istio-system/utf refused']);
  });
});
