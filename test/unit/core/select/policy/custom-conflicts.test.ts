import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
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
  });

  it('are findings where a pod is selected by both', () => {
    const other = custom('b', 'second', { tier: 'front' });
    expect(refusing([a, other, pod({ app: 'web', tier: 'back' })])).toEqual([]);
    expect(refusing([a, other, pod({ app: 'web', tier: 'front' })])).toEqual(['shop/a', 'shop/b']);
  });
});
