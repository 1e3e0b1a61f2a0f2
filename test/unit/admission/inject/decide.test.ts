// Which pods are injected, and which are refused.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { configMap, injection, podWith } from './world.ts';

const config = (policy: string, more = ''): string =>
  `policy: ${policy}\ntemplates:\n  sidecar: "metadata: {}"\n${more}`;
const selectors = `
neverInjectSelector:
- matchLabels: {}
- matchExpressions: [{key: job, operator: Exists}]
- matchExpressions: [{key: job, operator: Nonsense}]
alwaysInjectSelector:
- matchLabels: {tier: web}
`;
const labelled = (labels: JsonObject): JsonObject => podWith({ labels });

describe('A pod', () => {
  it.each([
    ['without labels follows the policy enabled', 'enabled', podWith(), 'injected'],
    ['without labels follows the policy disabled', 'disabled', podWith(), 'skipped'],
    ['labelled true is injected', 'disabled', labelled({ 'sidecar.istio.io/inject': 'true' }), 'injected'],
    ['labelled false is not', 'enabled', labelled({ 'sidecar.istio.io/inject': 'false' }), 'skipped'],
    [
      'labelled with nonsense follows the policy',
      'enabled',
      labelled({ 'sidecar.istio.io/inject': 'yes' }),
      'injected',
    ],
    [
      'whose label and annotation differ follows the label',
      'enabled',
      podWith({ labels: { 'sidecar.istio.io/inject': 'true' }, annotations: { 'sidecar.istio.io/inject': 'false' } }),
      'injected',
    ],
    ['on the host network is not injected', 'enabled', podWith({}, { hostNetwork: true }), 'skipped'],
    ['of a system namespace is not injected', 'enabled', podWith({ namespace: 'kube-system' }), 'skipped'],
    [
      'under an unknown policy is not, whatever its label',
      'on',
      labelled({ 'sidecar.istio.io/inject': 'true' }),
      'skipped',
    ],
    [
      'that a never-selector matches is not injected',
      `enabled${selectors}`,
      labelled({ job: 'x', tier: 'web' }),
      'skipped',
    ],
    ['that an always-selector matches is injected', `disabled${selectors}`, labelled({ tier: 'web' }), 'injected'],
  ])('%s', (_, policy, pod, expected) => {
    const [name = '', ...more] = policy.split('\n');
    expect(injection(pod, { objects: [configMap(config(name, more.join('\n')))] }).kind).toBe(expected);
  });

  it.each([
    [
      'a bad annotation',
      podWith({ annotations: { 'status.sidecar.istio.io/port': 'x' } }),
      `invalid value 'x' for annotation 'status.sidecar.istio.io/port': found "x"; expected one port`,
    ],
    [
      'a bad range',
      podWith({ annotations: { 'traffic.sidecar.istio.io/includeOutboundIPRanges': '10.0.0.0/8,x' } }),
      'found "x"; expected a comma-separated list of CIDR blocks',
    ],
    [
      'an unknown template',
      podWith({ annotations: { 'inject.istio.io/templates': 'sidecar, none' } }),
      'requested template "none" not found; have sidecar',
    ],
  ])('with %s is refused', (_, pod, why) => {
    const result = injection(pod, { objects: [configMap(config('enabled'))] });
    expect(result).toMatchObject({ kind: 'refused', message: expect.stringContaining(why) });
  });

  it('is refused while the configuration cannot be read, with its place', () => {
    const broken = configMap('policy: enabled\ntemplates:\n  sidecar: "a\\n{{ if }}"');
    expect(injection(podWith(), { objects: [broken] })).toMatchObject({
      kind: 'refused',
      message:
        'ConfigMap istio-system/istio-sidecar-injector: config: template sidecar: line 2: missing value for command',
    });
  });

  it('is injected with the templates of its revision', () => {
    const own = configMap(
      'policy: enabled\ntemplates:\n  sidecar: "metadata: {labels: {from: canary}}"',
      '{}',
      'istio-sidecar-injector-canary',
    );
    const result = injection(podWith(), { objects: [own, configMap('policy: disabled')], revision: 'canary' });
    expect(result).toMatchObject({ kind: 'injected', pod: { metadata: { labels: { from: 'canary' } } } });
  });
});
