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
