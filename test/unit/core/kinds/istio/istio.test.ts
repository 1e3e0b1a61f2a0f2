// What all of Istio's kinds have in common, seen on some of them.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { definitionOf, definitions, kindNames } from '../../../../../src/core/kinds/registry.ts';
import { decodedOf, problemsOf, withSpec } from '../verdict.ts';

describe('kinds of Istio', () => {
  test('are found by apiVersion and kind, in every served version', () => {
    for (const apiVersion of [
      'networking.istio.io/v1',
      'networking.istio.io/v1beta1',
      'networking.istio.io/v1alpha3',
    ]) {
      expect(definitionOf(apiVersion, 'Gateway')?.kind).toBe('Gateway');
    }
    expect(definitionOf('v1', 'Service')?.store).toBe('kubernetes');
    expect(definitionOf('discovery.k8s.io/v1', 'EndpointSlice')?.kind).toBe('EndpointSlice');
    expect(definitionOf('networking.istio.io/v7', 'Gateway')).toBeUndefined();
    expect(definitionOf('gateway.networking.k8s.io/v9', 'Gateway')).toBeUndefined();
    expect(definitionOf(null, 7)).toBeUndefined();
  });
  test('have their own name', () => {
    for (const name of kindNames) expect(definitions[name].kind).toBe(name);
  });
});

describe('an Istio object', () => {
  test.each<[string, JsonObject, string]>([
    ['an unknown field in the spec', withSpec('Telemetry', { trasing: [] }), 'spec.trasing: unknown field'],
    [
      'an unknown member beside the spec',
      { ...withSpec('Telemetry', {}), specc: {} },
      'specc: unknown field; expected one of apiVersion, kind, metadata, spec, status',
    ],
    ['null', withSpec('Telemetry', { tracing: null }), 'spec.tracing: null is not allowed here'],
    ['a wrong type', withSpec('Telemetry', { tracing: 'on' }), 'spec.tracing: expected a list, found the string "on"'],
  ])('with %s is refused', (_what, object, problem) => {
    expect(problemsOf(object)).toEqual([problem]);
  });
  test('without a spec has an empty one', () => {
    const { spec: _, ...object } = withSpec('Telemetry', {});
    expect(problemsOf(object)).toEqual([]);
    expect(decodedOf('Telemetry', object)).toEqual({});
  });
  test('reports all of its problems', () => {
    const spec = { host: 'bad host', subsets: [{ name: '' }], trafficPolicy: {} };
    expect(problemsOf(withSpec('DestinationRule', spec))).toHaveLength(3);
  });
});

describe('the status of an Istio object', () => {
  const entry = withSpec('ServiceEntry', { hosts: ['a.com'], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }] });
  const addresses = [{ value: '240.0.0.1', host: 'a.com' }];

  test('gives a ServiceEntry its allocated addresses', () => {
    expect(decodedOf('ServiceEntry', { ...entry, status: { addresses, conditions: [{ type: 'X' }] } }).status).toEqual({
      addresses,
    });
    expect(decodedOf('ServiceEntry', { ...entry, status: { conditions: [] } }).status).toBeUndefined();
  });
  test('gives a WorkloadEntry its health as a boolean, and no other condition', () => {
    const healthy = { type: 'Healthy', status: 'True', lastProbeTime: '2026-01-01T00:00:00Z', message: 'fine' };
    const object = {
      ...withSpec('WorkloadEntry', { address: '10.0.0.1' }),
      status: { conditions: [{ type: 'X' }, healthy] },
    };
    expect(decodedOf('WorkloadEntry', object).status).toEqual({ conditions: [{ type: 'Healthy', status: 'True' }] });
    const later = { ...object, status: { conditions: [{ ...healthy, lastProbeTime: '2026-01-02T00:00:00Z' }] } };
    expect(definitions.WorkloadEntry.project(later)).toEqual(definitions.WorkloadEntry.project(object));
    const ill = { ...object, status: { conditions: [{ ...healthy, status: 'False' }] } };
    expect(definitions.WorkloadEntry.project(ill)).not.toEqual(definitions.WorkloadEntry.project(object));
  });
  test('of a wrong type is refused', () => {
    expect(problemsOf({ ...entry, status: { addresses: 'none' } })).toEqual([
      'status.addresses: expected a list, found the string "none"',
    ]);
  });
});

describe('the projection of an Istio object', () => {
  test('leaves out what does not affect proxies', () => {
    const object = {
      ...withSpec('Gateway', { servers: [] }),
      metadata: {
        name: 'a',
        namespace: 'prod',
        labels: { x: 'y' },
        uid: 'u',
        resourceVersion: '7',
        generation: 3,
        managedFields: [{ manager: 'kubectl' }],
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{}', 'istio.io/rev': 'r' },
      },
      status: { conditions: [] },
    };
    expect(definitions.Gateway.project(object)).toEqual({
      apiVersion: 'networking.istio.io/v1',
      kind: 'Gateway',
      metadata: { name: 'a', namespace: 'prod', labels: { x: 'y' }, annotations: { 'istio.io/rev': 'r' } },
      spec: { servers: [] },
    });
  });
});

test('a ServiceEntry is indexed by each of its hosts', () => {
  const spec = decodedOf('ServiceEntry', withSpec('ServiceEntry', { hosts: ['a.com', '*.b.com'] }));
  const obj = {
    kind: 'ServiceEntry',
    cluster: 'k',
    namespace: 'prod',
    name: 'a',
    labels: {},
    annotations: {},
  } as const;
  const entries = definitions.ServiceEntry.indexes({ ...obj, creationTime: 0, resourceVersion: '', uid: '', spec });
  expect(entries).toEqual({
    serviceEntriesByHost: ['a.com', '*.b.com'],
    serviceEntriesByAddress: [],
    serviceEntriesBySelector: [],
  });
});
