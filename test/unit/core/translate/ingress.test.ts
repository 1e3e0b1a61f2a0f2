// Which Ingresses are served, and whose status is ours.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { processedIngresses } from '../../../../src/core/translate/ingress/ingresses.ts';
import { ingressStatuses } from '../../../../src/core/wishes/ingress-status.ts';
import { ask, world } from '../../world.ts';

function ingress(name: string, annotations: JsonObject, labels: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, namespace: 'default', annotations, labels },
    spec: { rules: [{ host: `${name}.com` }] },
  };
}

const ours = { 'kubernetes.io/ingress.class': 'istio' };

describe('an Ingress', () => {
  it.each([
    ['STRICT', ['annotated', 'classed']],
    ['DEFAULT', ['annotated', 'classed', 'plain']],
    ['OFF', []],
    ['UNSPECIFIED', ['classed']],
  ])('is served in mode %s: %o', (ingressControllerMode, expected) => {
    const ingressClass = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'IngressClass',
      metadata: { name: 'istio' },
      spec: { controller: 'istio.io/ingress-controller' },
    };
    const classed = { ...ingress('classed', {}), spec: { ingressClassName: 'istio' } };
    const all = [ingressClass, ingress('annotated', ours), classed, ingress('plain', {})];
    const state = world(all, { mesh: { ingressControllerMode } });
    expect(ask(state, processedIngresses, '').map(({ name }) => name)).toEqual(expected);
  });

  it('of another revision is served, and its status left to that revision', () => {
    const canary = { 'istio.io/rev': 'canary' };
    const state = world([ingress('a', ours), ingress('b', ours, canary)]);
    expect(ask(state, processedIngresses, '').map(({ name }) => name)).toEqual(['a', 'b']);
    expect(ask(state, ingressStatuses, '').map(({ name }) => name)).toEqual(['a']);
  });
});
