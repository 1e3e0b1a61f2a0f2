// Kinds that are known and accepted but not acted on: their schema, and what their authors are told.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { definitionOf, definitions } from '../../../../src/core/kinds/registry.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';
import { decodedOf, problemsOf, withSpec } from './verdict.ts';

const source = 'file/Kubernetes';
const route = (spec: JsonObject): JsonObject =>
  withSpec('UDPRoute', { rules: [{ backendRefs: [{ name: 'a', port: 53 }] }], ...spec });

describe('a kind that nothing acts on yet warns once for each change', () => {
  const warning = `accepted, but Periplus does not act on UDPRoute yet: ${definitions.UDPRoute.notYet}`;
  const add = (object: JsonObject): { readonly source: string; readonly kind: 'Add'; readonly object: JsonObject } => ({
    source,
    kind: 'Add',
    object,
  });
  test('when it is added, again when it changes, not when it stays the same', () => {
    const { effects } = foldFacts([
      add(route({})),
      add(route({})),
      add(route({ rules: [{ backendRefs: [{ name: 'b', port: 53 }] }] })),
    ]);
    const verdicts = effects.filter(effect => effect.kind === 'Verdict');
    expect(verdicts).toEqual(
      [1, 2].map(() => ({
        kind: 'Verdict',
        object: 'UDPRoute/prod/a',
        origin: undefined,
        accepted: true,
        problems: [{ path: '', message: warning }],
      })),
    );
  });
  test('a refused version and the accepted one after it are two verdicts', () => {
    const { effects } = foldFacts([add(route({ rules: 'x' })), add(route({}))]);
    expect(effects.flatMap(effect => (effect.kind === 'Verdict' ? [effect.accepted] : []))).toEqual([false, true]);
  });
  test.each(['AuthorizationPolicy', 'PeerAuthentication', 'RequestAuthentication'] as const)(
    '%s, which is acted on, does not warn',
    kind => {
      const { effects } = foldFacts([add(withSpec(kind, {}))]);
      expect(effects.filter(effect => effect.kind === 'Verdict')).toEqual([]);
    },
  );
});

describe('an object of the Gateway API', () => {
  test('is a kind of its own: its Gateway is not that of Istio', () => {
    expect(definitionOf('gateway.networking.k8s.io/v1', 'Gateway')?.kind).toBe('KubernetesGateway');
    expect(definitionOf('networking.istio.io/v1', 'Gateway')?.kind).toBe('Gateway');
  });
  test('decodes alike in every served version', () => {
    const route = withSpec('HTTPRoute', { hostnames: ['a.com'], rules: [{ backendRefs: [{ name: 'a', port: 80 }] }] });
    const beta = { ...route, apiVersion: 'gateway.networking.k8s.io/v1beta1' };
    expect(problemsOf(beta)).toEqual([]);
    expect(decodedOf('HTTPRoute', beta)).toEqual(decodedOf('HTTPRoute', route));
  });
  test('keeps fields that are not read', () => {
    const gateway = withSpec('KubernetesGateway', {
      gatewayClassName: 'istio',
      listeners: [{ name: 'http', port: 80, protocol: 'HTTP', future: {} }],
      more: 1,
    });
    expect(problemsOf(gateway)).toEqual([]);
    expect(definitionOf(gateway.apiVersion, gateway.kind)?.project(gateway)).toEqual(gateway);
  });
  test.each<[Parameters<typeof withSpec>, string]>([
    [
      ['KubernetesGateway', { gatewayClassName: 'a', listeners: [{ name: 'a', protocol: 'HTTP', port: 'x' }] }],
      'spec.listeners[0].port: expected an integer, found the string "x"',
    ],
    [
      ['GRPCRoute', { rules: [{ matches: [{ method: [] }] }] }],
      'spec.rules[0].matches[0].method: expected an object, found a list',
    ],
    [
      ['TLSRoute', { hostnames: 'a', rules: [{ backendRefs: [{ name: 'a', port: 1 }] }] }],
      'spec.hostnames: expected a list, found the string "a"',
    ],
    [
      [
        'BackendTLSPolicy',
        {
          targetRefs: [{ group: '', kind: 'Service', name: 'a' }],
          validation: { hostname: 1, wellKnownCACertificates: 'System' },
        },
      ],
      'spec.validation.hostname: expected a string, found 1',
    ],
    [
      ['ReferenceGrant', { from: {}, to: [{ group: '', kind: 'Secret' }] }],
      'spec.from: expected a list, found an object',
    ],
    [
      ['Ingress', { rules: [{ http: { paths: [{ path: 1 }] } }] }],
      'spec.rules[0].http.paths[0].path: expected a string, found 1',
    ],
  ])('such as %j is refused: %s', ([kind, spec], problem) => {
    expect(problemsOf(withSpec(kind, spec))).toEqual([problem]);
  });
});
