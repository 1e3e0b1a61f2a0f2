import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { tracing } from '../../../../../src/core/select/telemetry/tracing.ts';
import type { TrafficClass } from '../../../../../src/core/select/telemetry/traffic-class.ts';
import { ask, nodeOf, proxyOf, withObjects } from '../../../world.ts';
import { type Levels, proxy, withLevels } from './levels.ts';

const COLLECTOR = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'zipkin', namespace: 'obs' },
  spec: { clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 9411 }] },
};
const MESH: JsonObject = {
  defaultProviders: { tracing: ['zipkin', 'other'] },
  extensionProviders: [
    { name: 'zipkin', zipkin: { service: 'zipkin.obs.svc.cluster.local', port: 9411 } },
    { name: 'step', lightstep: { service: 'zipkin.obs.svc.cluster.local', port: 9411, accessToken: 'x' } },
    { name: 'census', opencensus: { service: 'zipkin.obs.svc.cluster.local', port: 9411 } },
  ],
};

const chosen = (levels: Levels, traffic: TrafficClass = 'outbound', mesh = MESH) =>
  ask(withObjects(withLevels(levels, mesh), COLLECTOR), tracing, traffic, proxy);
const choiceOf = (version: string, levels: Levels) => {
  const older = proxyOf(nodeOf({ namespace: 'prod', labels: { app: 'web' }, metadata: { ISTIO_VERSION: version } }));
  return ask(withObjects(withLevels(levels, MESH), COLLECTOR), tracing, 'outbound', older);
};
const of = (...entries: readonly JsonObject[]): JsonObject => ({ tracing: entries });
const tag = (value: string) => ({ literal: { value } });

describe('tracing', () => {
  it('merges its entries field by field, for their mode', () => {
    const levels = {
      root: of({ randomSamplingPercentage: 10, customTags: { a: tag('1'), b: tag('2') } }),
      namespace: of({ match: { mode: 'SERVER' }, randomSamplingPercentage: 0, enableIstioTags: false }),
      workload: [of({ customTags: { c: tag('3') }, useRequestIdForTraceSampling: false })],
    };
    const client = chosen(levels);
    const server = chosen(levels, 'inbound');
    expect([client.tracing?.randomSampling, server.tracing?.randomSampling]).toEqual([10, 0]);
    expect(Object.keys(client.tracing?.customTags ?? {})).toEqual(['c']);
    expect([client.tracing?.istioTags === undefined, server.tracing?.istioTags === undefined]).toEqual([false, true]);
    expect(client.useRequestIdForTraceSampling).toBe(false);
  });

  it('takes tags away by an empty map, so that those of the proxy’s configuration count', () => {
    const mesh = { ...MESH, defaultConfig: { tracing: { customTags: { m: tag('mesh') } } } };
    const levels = { root: of({ customTags: { a: tag('1') } }), namespace: of({ customTags: {} }) };
    expect(Object.keys(chosen(levels, 'outbound', mesh).tracing?.customTags ?? {})).toEqual(['m']);
  });

  it('is enabled again by a later entry, and the youngest object for the workload decides', () => {
    const off = of({ disableSpanReporting: true });
    expect(chosen({ root: off }).tracing).toBeUndefined();
    expect(chosen({ root: off, namespace: of({ disableSpanReporting: false }) }).tracing).toBeDefined();
    expect(chosen({ workload: [off, of({ disableSpanReporting: false })] }).tracing).toBeDefined();
    expect(chosen({ workload: [of({ disableSpanReporting: false }), off] }).tracing).toBeUndefined();
  });

  it('has no tracer for a provider that is unknown, of another kind, or no longer supported', () => {
    for (const name of ['unknown', 'step', 'census', 'prometheus']) {
      const choice = chosen({ root: of({ providers: [{ name }], useRequestIdForTraceSampling: false }) });
      expect(choice, name).toEqual({ useRequestIdForTraceSampling: true });
    }
  });

  it('uses the first provider that an entry names, and the first of the mesh', () => {
    expect(chosen({}).tracing?.tracer?.kind).toBe('zipkin');
    const two = of({ providers: [{ name: 'unknown' }, { name: 'zipkin' }] });
    expect(chosen({ root: two }).tracing).toBeUndefined();
  });

  it('keeps the fields that a later entry does not have', () => {
    const set = { disableSpanReporting: true, useRequestIdForTraceSampling: false, disableContextPropagation: true };
    const { useRequestIdForTraceSampling, tracing: spec } = chosen({
      root: of({ ...set, disableSpanReporting: false, enableIstioTags: false, randomSamplingPercentage: 7 }),
      namespace: of({}),
    });
    expect([useRequestIdForTraceSampling, spec?.randomSampling, spec?.istioTags]).toEqual([false, 7, undefined]);
    expect(chosen({ root: of(set), namespace: of({}) }).tracing).toBeUndefined();
  });

  it('does not propagate context if that is switched off, from proxy 1.30', () => {
    const levels = { root: of({ disableContextPropagation: true }), namespace: of({}) };
    const off = (version: string) => choiceOf(version, levels).tracing?.noContextPropagation;
    expect([off('1.30.3'), off('1.29.0')]).toEqual([true, false]);
    expect(choiceOf('1.30.3', {}).tracing?.noContextPropagation).toBe(false);
  });

  it('leaves out tags of a formatter before proxy 1.29', () => {
    const levels = { root: of({ customTags: { a: tag('1'), b: { formatter: { value: '%PROTOCOL%' } } } }) };
    const tags = (version: string) => Object.keys(choiceOf(version, levels).tracing?.customTags ?? {});
    expect([tags('1.28.9'), tags('1.29.0')]).toEqual([['a'], ['a', 'b']]);
  });

  it('has a tracer only by an entry where the mesh has no default provider', () => {
    const mesh = { ...MESH, defaultProviders: {}, enableTracing: true };
    expect(chosen({}, 'outbound', mesh).tracing?.tracer).toBeUndefined();
    expect(chosen({}, 'outbound', mesh).tracing).toBeDefined();
    expect(chosen({ root: of({ providers: [{ name: 'zipkin' }] }) }, 'outbound', mesh).tracing?.tracer?.kind).toBe(
      'zipkin',
    );
    expect(chosen({ root: of({ randomSamplingPercentage: 10 }) }, 'outbound', mesh).tracing).toBeUndefined();
  });

  it('has the limit of the configuration of the proxy for tags of paths if it is positive', () => {
    const limit = (maxPathTagLength: number) =>
      chosen({}, 'outbound', { ...MESH, defaultConfig: { tracing: { maxPathTagLength } } }).tracing?.maxPathTagLength;
    expect([limit(0), limit(64)]).toEqual([undefined, 64]);
  });
});
