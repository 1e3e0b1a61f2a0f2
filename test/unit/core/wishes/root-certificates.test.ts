// Roots of the mesh in every namespace: which namespaces, which objects, and that nothing is wished without roots.

import { describe, expect, it } from 'vitest';
import type { RawObject, Unrecorded } from '../../../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { tableOf, wishFeatures } from '../../../../src/core/wishes/table.ts';
import { showTarget, type Wish } from '../../../../src/core/wishes/wish.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

const namespace = (name: string, labels: RawObject = {}): RawObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});
const anchors = (spec: RawObject, name = 'istio-ca'): RawObject => ({
  apiVersion: 'periplus.internal/v1',
  kind: 'TrustAnchors',
  metadata: { name },
  spec,
});

function wishes(objects: readonly RawObject[], env: Record<string, string> = {}, mesh?: RawObject): readonly Wish[] {
  const settings = settingsToJson({ ...defaultSettings, env });
  const facts: Unrecorded[] = [{ source: 'runtime', kind: 'Engine', settings }];
  if (mesh !== undefined) facts.push({ source: 'kube/Kubernetes', kind: 'MeshConfig', value: mesh });
  for (const object of objects) facts.push({ source: 'kube/Kubernetes', kind: 'Add', object });
  return new Tracker().get(foldFacts(facts).state, undefined, table, '').wishes;
}

/** Of this feature alone. */
const table = tableOf('root-certificates-alone', wishFeatures.slice(0, 1));

const targets = (found: readonly Wish[]): readonly string[] => found.map(showTarget);
const ROOTS = anchors({ roots: 'ROOTS' });

describe('the roots of the mesh', () => {
  it('are wished in every namespace that has workloads, with the revocation list', () => {
    const skipped = ['kube-public', 'kube-node-lease', 'local-path-storage'].map(name => namespace(name));
    const found = wishes([ROOTS, namespace('default'), namespace('kube-system'), ...skipped]);
    expect(targets(found)).toEqual([
      'ConfigMap default/istio-ca-crl',
      'ConfigMap default/istio-ca-root-cert',
      'ConfigMap kube-system/istio-ca-crl',
      'ConfigMap kube-system/istio-ca-root-cert',
    ]);
    expect(found[1]).toMatchObject({ fields: { data: { 'root-cert.pem': 'ROOTS' } }, manager: 'pilot-discovery' });
    expect(found[0]).toMatchObject({ fields: { data: { 'ca-crl.pem': '' } } });
  });

  it('are wished nowhere until they are known', () => {
    expect(wishes([namespace('default')])).toEqual([]);
    expect(wishes([namespace('default'), anchors({ roots: '' })])).toEqual([]);
  });

  it('are those of the certificate files where these serve, and are left to an authority elsewhere', () => {
    const files = anchors({ roots: 'FILES' }, 'istiod-serving');
    const env = { PILOT_ENABLE_CA_CRL: 'false' };
    expect(wishes([ROOTS, files, namespace('a')], env)[0]?.fields).toEqual({ data: { 'root-cert.pem': 'FILES' } });
    expect(wishes([files, namespace('a')], env)).toEqual([]);
    expect(wishes([files, namespace('a')], { ENABLE_CLUSTER_TRUST_BUNDLE_API: 'true' })).toEqual([]);
  });

  it('follow discovery selectors and the only watched namespace', () => {
    const objects = [ROOTS, namespace('in', { mesh: 'yes' }), namespace('out')];
    const selected = wishes(
      objects,
      { PILOT_ENABLE_CA_CRL: 'false' },
      {
        discoverySelectors: [{ matchLabels: { mesh: 'yes' } }],
      },
    );
    expect(targets(selected)).toEqual(['ConfigMap in/istio-ca-root-cert']);
    const watched = wishes(objects, { PILOT_ENABLE_CA_CRL: 'false', ISTIO_WATCH_NAMESPACE: 'out' });
    expect(targets(watched)).toEqual(['ConfigMap out/istio-ca-root-cert']);
  });

  it('take the names that the environment gives', () => {
    const env = { PILOT_CA_CERT_CONFIGMAP: 'roots', PILOT_CRL_CONFIGMAP: 'revoked' };
    expect(targets(wishes([ROOTS, namespace('a')], env))).toEqual(['ConfigMap a/revoked', 'ConfigMap a/roots']);
  });

  it('are one ClusterTrustBundle where that is asked for', () => {
    const found = wishes([ROOTS, namespace('a')], { ENABLE_CLUSTER_TRUST_BUNDLE_API: 'true' });
    expect(targets(found)).toEqual(['ClusterTrustBundle istio.io:istiod-ca:root-cert']);
  });

  it('reach the remote clusters that name this one as their control plane, and no others', () => {
    const system = (named: string): RawObject => ({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'istio-system', annotations: { 'topology.istio.io/controlPlaneClusters': named } },
    });
    const remote = { led: 'other,Kubernetes', any: '*', others: 'other' };
    const objects = (from: string): readonly RawObject[] => [system(remote[from as keyof typeof remote])];
    const clustersOf = (env: Record<string, string>): readonly string[] => {
      const facts: Unrecorded[] = [
        { source: 'runtime', kind: 'Engine', settings: settingsToJson({ ...defaultSettings, env }) },
        { source: 'kube/Kubernetes', kind: 'Add', object: ROOTS },
        { source: 'kube/Kubernetes', kind: 'Add', object: namespace('istio-system') },
        ...Object.keys(remote).flatMap(from =>
          objects(from).map((object): Unrecorded => ({ source: `kube/${from}`, kind: 'Add', object })),
        ),
      ];
      const { wishes: all } = new Tracker().get(foldFacts(facts).state, undefined, table, '');
      return [...new Set(all.map(({ cluster }) => cluster))];
    };
    expect(clustersOf({})).toEqual(['Kubernetes']);
    expect(clustersOf({ EXTERNAL_ISTIOD: 'true' })).toEqual(['Kubernetes', 'any', 'led']);
  });
});
