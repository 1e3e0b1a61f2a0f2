import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { selects } from '../../../../../src/core/base/labels.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { CONFLICTS_MAX, customConflicts } from '../../../../../src/core/select/policy/custom-conflicts.ts';
import { policyFindings } from '../../../../../src/core/select/policy/policy-findings.ts';
import { world } from '../../../world.ts';

const service: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'authz', namespace: 'auth' },
  spec: { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 8000 }] },
};
const mesh = {
  extensionProviders: ['first', 'second'].map(name => ({
    name,
    envoyExtAuthzHttp: { service: 'authz.auth.svc.cluster.local', port: 8000 },
  })),
};

const custom = (name: string, provider: string, labels?: JsonObject, namespace = 'shop'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name, namespace },
  spec: {
    action: 'CUSTOM',
    provider: { name: provider },
    rules: [{}],
    ...(labels === undefined ? {} : { selector: { matchLabels: labels } }),
  },
});

const pod = (labels: JsonObject): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'shop', labels },
  spec: { serviceAccountName: 'p' },
  status: { podIP: '10.0.0.9', phase: 'Running' },
});

/** Policies that a finding says refuse. */
function refusing(objects: readonly JsonObject[], flag = 'false'): readonly string[] {
  const settings = { ...defaultSettings, env: { PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: flag } };
  const state = world([service, ...objects], { mesh, settings });
  const found = new Tracker().get(state, undefined, policyFindings, '');
  return found.filter(({ effect }) => effect === 'refuses').map(({ key }) => key);
}

describe('CUSTOM policies of several providers', () => {
  const [a, b] = [custom('a', 'first', { app: 'web' }), custom('b', 'second', { app: 'web', v: '1' })];

  it('are findings where one selects what the other selects, unless the flag allows it', () => {
    expect(refusing([a, b])).toEqual(['shop/a', 'shop/b']);
    expect(refusing([a, custom('b', 'second')])).toEqual(['shop/a', 'shop/b']);
    expect(refusing([a, custom('b', 'second', undefined, 'istio-system')])).toEqual(['istio-system/b', 'shop/a']);
    expect(refusing([a, b], 'true')).toEqual([]);
  });

  it('are none of one provider, of other namespaces or of labels that exclude each other', () => {
    expect(refusing([a, custom('b', 'first')])).toEqual([]);
    expect(refusing([a, custom('b', 'second', { app: 'web' }, 'bank')])).toEqual([]);
    expect(refusing([a, custom('b', 'second', { app: 'api' })])).toEqual([]);
    expect(refusing([a, custom('b', 'second', { app: 'api' }), pod({ app: 'api' })])).toEqual([]);
  });

  it('of the root namespace meet each other there', () => {
    const everywhere = ['first', 'second'].map(name => custom(name, name, undefined, 'istio-system'));
    expect(refusing(everywhere)).toEqual(['istio-system/first', 'istio-system/second']);
  });

  it('that refer to a Gateway or Service meet those with the same reference alone', () => {
    const target = (name: string): JsonObject => ({ group: 'gateway.networking.k8s.io', kind: 'Gateway', name });
    const by = (name: string, selection: JsonObject): JsonObject => {
      const object = custom(name, name);
      return { ...object, spec: { ...(object.spec as JsonObject), ...selection } };
    };
    const first = by('first', { targetRefs: [target('gw')] });
    expect(refusing([first, by('second', { targetRefs: [target('gw')] })])).toEqual(['shop/first', 'shop/second']);
    expect(refusing([first, by('second', { targetRefs: [target('other')] })])).toEqual([]);
    expect(refusing([first, by('second', {})])).toEqual([]);
    expect(refusing([by('first', { targetRef: target('gw') }), by('second', {})])).toEqual([]);
  });

  it('are named, sorted, in the findings of each other; policies of other actions are not', () => {
    const allow = { ...custom('allow', 'x'), spec: { action: 'ALLOW', rules: [{}] } };
    const settings = { ...defaultSettings, env: {} };
    const state = world([service, allow, custom('z', 'second'), custom('b', 'second'), a], { mesh, settings });
    const found = new Tracker().get(state, undefined, policyFindings, '');
    const needs = 'selects the same workloads, which needs PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS';
    const refused = 'cannot be enforced, so what its rules match is refused';
    expect(found).toEqual(
      [
        ['a', 'shop/b, shop/z'],
        ['b', 'shop/a'],
        ['z', 'shop/a'],
      ].map(([name, others]) => ({
        kind: 'AuthorizationPolicy',
        key: `shop/${name}`,
        effect: 'refuses',
        path: 'spec.provider.name',
        message: `${refused}: ${others} of another provider ${needs}`,
      })),
    );
  });

  it('are findings where a pod is selected by both', () => {
    const other = custom('b', 'second', { tier: 'front' });
    expect(refusing([a, other, pod({ app: 'web', tier: 'back' })])).toEqual([]);
    expect(refusing([a, other, pod({ app: 'web', tier: 'front' })])).toEqual(['shop/a', 'shop/b']);
  });

  it('are named, of thousands that one meets, ten', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `p${String(i).padStart(4, '0')}`);
    const settings = { ...defaultSettings, env: {} };
    const state = world(
      names.map(name => custom(name, name)),
      { mesh, settings },
    );
    const conflicts = new Tracker().get(state, undefined, customConflicts, '');
    expect([...conflicts.keys()]).toEqual(names.map(name => `shop/${name}`));
    expect(conflicts.get('shop/p0003')).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 10].map(i => `shop/${names[i]}`));
    expect(conflicts.get('shop/p1999')).toHaveLength(CONFLICTS_MAX);
  });

  it('are those that a comparison of all pairs finds', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), {
      maxKeys: 2,
      noNullPrototype: true,
    });
    const policies = fc.array(
      fc.tuple(fc.constantFrom('x', 'y', 'z'), labels, fc.constantFrom('shop', 'bank', 'istio-system')),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(policies, fc.array(labels, { maxLength: 3 }), (made, pods) => {
        const policyObjects = made.map(([provider, of, namespace], i) => custom(`p${i}`, provider, of, namespace));
        const podObjects = pods.map((of, i) => {
          const object = pod(of);
          return { ...object, metadata: { ...(object.metadata as JsonObject), name: `pod-${i}` } };
        });
        const expected = made.flatMap(([provider, of, namespace], i) =>
          made.some(([other, theirs, their]) => {
            if (other === provider) return false;
            if (their !== namespace && ![their, namespace].includes('istio-system')) return false;
            const shared = [namespace, their].find(one => one !== 'istio-system') ?? 'istio-system';
            const selectors = made.filter(([, , where]) => [shared, 'istio-system'].includes(where)).map(one => one[1]);
            const workloads = [...selectors, ...(shared === 'shop' ? pods : [])];
            return workloads.some(one => selects(of, one) && selects(theirs, one));
          })
            ? [`${namespace}/p${i}`]
            : [],
        );
        const flag = { ...defaultSettings, env: {} };
        const state = world([...policyObjects, ...podObjects], { mesh, settings: flag });
        const found = new Tracker().get(state, undefined, customConflicts, '');
        expect([...found.keys()]).toEqual(expected.sort());
      }),
      { numRuns: 300 },
    );
  });
});
