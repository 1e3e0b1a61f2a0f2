import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { telemetryFindings } from '../../../../../src/core/select/telemetry/telemetry-findings.ts';
import { world } from '../../../world.ts';

const mesh = {
  extensionProviders: [
    { name: 'spans', zipkin: { service: 'zipkin.obs.svc.cluster.local', port: 9411 } },
    { name: 'log', envoyFileAccessLog: {} },
  ],
};
const object = (kind: string, name: string, spec: JsonObject, day = 1): JsonObject => ({
  apiVersion: kind === 'Telemetry' ? 'telemetry.istio.io/v1' : 'extensions.istio.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'shop', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  spec,
});
const found = (...objects: readonly JsonObject[]): readonly string[] =>
  new Tracker()
    .get(world(objects, { mesh }), undefined, telemetryFindings, '')
    .map(({ key, path, message }) => `${key} ${path}: ${message}`);

test('a Telemetry that an older one of its namespace hides is found, and no other', () => {
  const selector = { matchLabels: { app: 'a' } };
  expect(
    found(
      object('Telemetry', 'b', {}, 1),
      object('Telemetry', 'a', { selector: {} }, 2),
      object('Telemetry', 'c', { selector }, 3),
    ),
  ).toEqual(['shop/a spec.selector: has no effect: b is older, and one Telemetry counts for a whole namespace']);
});

test('the oldest for a namespace is found by namespace, and objects for workloads do not hide others', () => {
  const inSpace = (namespace: string, name: string, spec: JsonObject, day: number): JsonObject => {
    const made = object('Telemetry', name, spec, day);
    return { ...made, metadata: { ...(made.metadata as JsonObject), namespace } };
  };
  const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'gw' };
  expect(
    found(
      inSpace('far', 'old', {}, 1),
      inSpace('shop', 'early', { selector: { matchLabels: { app: 'a' } } }, 1),
      inSpace('shop', 'target', { targetRefs: [target] }, 1),
      inSpace('shop', 'all', {}, 2),
      inSpace('shop', 'late', { targetRefs: [target] }, 3),
    ),
  ).toEqual([]);
});

test('providers that fit, entries without any and a filter beside providers are not found', () => {
  const collector = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'zipkin', namespace: 'obs' },
    spec: { clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 9411 }] },
  };
  const spec = {
    tracing: [{ providers: [{ name: 'spans' }] }, {}],
    metrics: [{}],
    accessLogging: [{ filter: { expression: 'true' }, providers: [{ name: 'log' }] }, {}],
  };
  expect(found(collector, object('Telemetry', 'a', spec))).toEqual([]);
});

test('providers of the wrong type, further tracers, lost collectors and filters of no provider are found', () => {
  const spec = {
    metrics: [{ providers: [{ name: 'prometheus' }, { name: 'log' }] }],
    tracing: [{ providers: [{ name: 'SPANS' }, { name: 'log' }] }, { providers: [{ name: 'log' }] }],
    accessLogging: [{ filter: { expression: 'true' } }, { providers: [{ name: 'log' }, { name: 'unknown' }] }],
  };
  expect(found(object('Telemetry', 'a', spec))).toEqual([
    'shop/a spec.metrics[0].providers[1].name: provider log is of no type for metrics',
    'shop/a spec.tracing[0].providers[0].name: the collector of provider SPANS is not found: there is no one service zipkin.obs.svc.cluster.local',
    'shop/a spec.tracing[0].providers[1].name: has no effect: one provider traces, the first of the entry',
    'shop/a spec.tracing[1].providers[0].name: provider log is of no type for tracing',
    'shop/a spec.accessLogging[0].filter: has no effect: a filter is that of the providers which its own entry names',
  ]);
});

test('pull secrets that are of the right type, not known or not given are not found', () => {
  const type = 'kubernetes.io/dockerconfigjson';
  const secret = { apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'reg', namespace: 'shop' } };
  const url = 'oci://r.test/x:1';
  expect(
    found(
      secret,
      object('WasmPlugin', 'a', { url, imagePullSecret: 'reg' }),
      object('WasmPlugin', 'b', { url, imagePullSecret: 'unknown' }),
      object('WasmPlugin', 'c', { url }),
    ),
  ).toEqual([]);
});

test('pull secrets of another namespace or type, and verification keys, are found', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name: 'reg', namespace: 'shop' } };
  const module = { url: 'oci://r.test/x:1', verificationKey: 'k' };
  expect(
    found(
      object('WasmPlugin', 'a', { ...module, imagePullSecret: 'reg' }),
      object('TrafficExtension', 'b', { wasm: { url: 'oci://r.test/x:1', imagePullSecret: 'other/reg' } }),
      secret,
    ),
  ).toEqual([
    'shop/b spec.wasm.imagePullSecret: the Secret is looked for in shop, whatever namespace is written',
    'shop/a spec.verificationKey: has no effect: nothing reads it',
    'shop/a spec.imagePullSecret: Secret reg is of type Opaque, not kubernetes.io/dockerconfigjson: the module is not pulled',
  ]);
});
