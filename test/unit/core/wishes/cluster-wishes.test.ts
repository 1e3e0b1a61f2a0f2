// Wishes for objects of a cluster that are off by default: taints of nodes that go, exports of Services.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import { wishFeatures, wishTable } from '../../../../src/core/wishes/table.ts';
import { showTarget, type Wish } from '../../../../src/core/wishes/wish.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

function wishes(objects: readonly JsonObject[], env: Record<string, string>, cluster = 'Kubernetes'): readonly Wish[] {
  const settings = settingsToJson({ ...defaultSettings, env });
  const facts: Unrecorded[] = [{ source: 'runtime', kind: 'Engine', settings }];
  for (const object of objects) facts.push({ source: `kube/${cluster}`, kind: 'Add', object });
  const { wishes: all } = new Tracker().get(foldFacts(facts).state, undefined, wishTable, '');
  return all.filter(({ kind }) => kind === 'Node' || kind === 'ServiceExport');
}

const named = (kind: string, name: string, namespace?: string): JsonObject => ({
  apiVersion: kind === 'ServiceExport' ? 'multicluster.x-k8s.io/v1alpha1' : 'v1',
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});
const service = (name: string, namespace: string): JsonObject => ({
  ...named('Service', name, namespace),
  spec: { clusterIP: '10.96.0.1', ports: [{ name: 'http', port: 80 }] },
});

function plugin(node: string, ready: string, namespace = 'istio-system'): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `cni-${node}`, namespace, labels: { 'k8s-app': 'istio-cni-node' } },
    spec: { nodeName: node },
    status: { phase: 'Running', podIP: '10.0.0.1', conditions: [{ type: 'Ready', status: ready }] },
  };
}

const live = (metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
  metadata: { uid: 'u', resourceVersion: '7', ...metadata },
  ...more,
});

describe('the taint of a node', () => {
  const on = { PILOT_ENABLE_NODE_UNTAINT_CONTROLLERS: 'true' };
  const objects = [named('Node', 'one'), named('Node', 'two'), plugin('one', 'True'), plugin('two', 'False')];
  const taints = (...keys: readonly string[]): JsonObject =>
    live({ name: 'one' }, { spec: { taints: keys.map(key => ({ key, effect: 'NoSchedule' })) } });

  it('goes where the plugin is ready, and others stay', () => {
    const [wish, ...more] = wishes(objects, on);
    expect(more).toEqual([]);
    expect(showTarget(wish!)).toBe('Node one');
    expect(planOf(wish!, taints('a', 'cni.istio.io/not-ready', 'b'), 'v1', 'Node')).toEqual({
      kind: 'merge',
      patch: {
        spec: {
          taints: [
            { key: 'a', effect: 'NoSchedule' },
            { key: 'b', effect: 'NoSchedule' },
          ],
        },
        metadata: { resourceVersion: '7' },
      },
    });
    expect(planOf(wish!, taints('a'), 'v1', 'Node').kind).toBe('none');
    expect(planOf(wish!, live({ name: 'one' }), 'v1', 'Node').kind).toBe('none');
    expect(planOf(wish!, undefined, 'v1', 'Node').kind).toBe('none');
  });

  it('is found by the name and where the operator says', () => {
    const env = { ...on, PERIPLUS_CNI_NAMESPACE: 'cni', PILOT_NODE_UNTAINT_CONTROLLERS_TAINT_NAME: 'mine' };
    const [wish] = wishes([named('Node', 'one'), plugin('one', 'True', 'cni')], env);
    expect(planOf(wish!, taints('mine'), 'v1', 'Node').kind).toBe('merge');
    expect(wishes(objects, env)).toEqual([]);
  });

  it('stays with the feature off', () => {
    expect(wishes(objects, {})).toEqual([]);
  });
});

describe('the export of a Service', () => {
  const on = { ENABLE_MCS_AUTO_EXPORT: 'true' };
  const plan = (wish: Wish | undefined, object: JsonObject | undefined) =>
    planOf(wish!, object, 'multicluster.x-k8s.io/v1alpha1', 'ServiceExport').kind;
  const managedFields = [{ manager: 'pilot-discovery', operation: 'Update', fieldsV1: {} }];

  it('is made unless the Service is local to its cluster, and left alone where there is one', () => {
    const found = wishes([service('web', 'shop'), service('dns', 'kube-system')], on);
    expect(found.map(showTarget)).toEqual(['ServiceExport shop/web']);
    // An API server records no manager of an object that has no field.
    expect(planOf(found[0]!, undefined, 'multicluster.x-k8s.io/v1alpha1', 'ServiceExport')).toMatchObject({
      object: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'periplus' } } },
    });
    expect(plan(found[0], live({ name: 'web' }))).toBe('none');
  });

  it('is made in the cluster of the Service', () => {
    const found = wishes([service('web', 'shop'), named('ServiceExport', 'old', 'shop')], on, 'east');
    const [old, web] = found;
    expect(found.map(({ cluster }) => cluster)).toEqual(['east', 'east']);
    expect([plan(old, live({ name: 'old', managedFields })), plan(web, undefined)]).toEqual(['delete', 'create']);
  });

  it('goes with its Service if it was made here', () => {
    const [wish] = wishes([named('ServiceExport', 'web', 'shop')], on);
    expect(plan(wish, live({ name: 'web', managedFields }))).toBe('delete');
    expect(plan(wish, live({ name: 'web' }))).toBe('none');
  });

  it('is not made with the feature off', () => {
    expect(wishes([service('web', 'shop')], {})).toEqual([]);
  });
});

describe('objects that only a feature writes', () => {
  it('are not observed while it is off', () => {
    const env = { ENABLE_MCS_AUTO_EXPORT: 'true' };
    const optional = wishFeatures.flatMap(({ observes }) => observes).filter(({ isOptional }) => isOptional === true);
    const namesIn = (settings: Parameters<NonNullable<(typeof optional)[0]['names']>>[0]) =>
      optional.map(({ kind, names }) => [kind, names?.(settings)]);
    expect(namesIn({ ...defaultSettings, env })).toEqual([
      ['Node', []],
      ['ServiceExport', undefined],
    ]);
  });
});
