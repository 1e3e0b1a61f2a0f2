// The settings of a tracer of each provider, and tracing without one.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { type TracingChoice, tracing } from '../../../../../src/core/select/telemetry/tracing.ts';
import type { TrafficClass } from '../../../../../src/core/select/telemetry/traffic-class.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const HOST = 'trace.obs.svc.cluster.local';
const services = ['trace', 'sampler'].map(name => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'obs' },
  spec: { clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 9411 }] },
}));

interface Asked {
  readonly traffic?: TrafficClass;
  readonly metadata?: JsonObject;
  readonly labels?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly id?: string;
}

function choice(mesh: JsonObject, { traffic = 'outbound', metadata = {}, labels = {}, env = {}, id }: Asked = {}) {
  const node = nodeOf({ namespace: 'prod', name: 'web-1', labels, metadata: { ISTIO_VERSION: '1.30.3', ...metadata } });
  const state = world(services, { mesh, settings: { env } });
  return ask(state, tracing, traffic, proxyOf({ ...node, ...(id === undefined ? {} : { id }) }));
}

function traced(kind: string, settings: JsonObject, asked: Asked = {}): TracingChoice {
  const provider = { name: 'p', [kind]: { service: HOST, port: 9411, ...settings } };
  return choice({ defaultProviders: { tracing: ['p'] }, extensionProviders: [provider] }, asked);
}
const tracer = (kind: string, settings: JsonObject, asked?: Asked) => traced(kind, settings, asked).tracing?.tracer;
const COLLECTOR = { cluster: `outbound|9411||${HOST}`, hostname: HOST, maxTagLength: undefined };

describe('a Zipkin tracer', () => {
  it('has the usual path and long ids, unless its provider says otherwise', () => {
    expect(tracer('zipkin', {})).toEqual({
      ...COLLECTOR,
      kind: 'zipkin',
      traceId128bit: true,
      path: '/api/v2/spans',
      w3cPropagation: false,
      form: 'service',
      timeout: undefined,
      headers: [],
    });
    const headers = [{ name: 'a', value: 'b' }];
    const own = { enable64bitTraceId: true, path: '/own', maxTagLength: 9, headers };
    expect(tracer('zipkin', own)).toMatchObject({ traceId128bit: false, path: '/own', maxTagLength: 9, headers });
    expect(tracer('zipkin', { maxTagLength: 0 })).toMatchObject({ maxTagLength: undefined });
  });

  it('propagates W3C contexts and names a service only for proxies that know it', () => {
    const w3c = { traceContextOption: 'USE_B3_WITH_W3C_PROPAGATION' };
    const at = (ISTIO_VERSION: string) => tracer('zipkin', w3c, { metadata: { ISTIO_VERSION } });
    expect(at('1.29.0')).toMatchObject({ w3cPropagation: true, form: 'service' });
    expect(at('1.28.0')).toMatchObject({ w3cPropagation: true, form: 'cluster' });
    expect(at('1.27.0')).toMatchObject({ w3cPropagation: false, form: 'cluster' });
    expect(tracer('zipkin', { traceContextOption: 'USE_B3' })).toMatchObject({ w3cPropagation: false });
  });

  it('takes values of headers from the settings of the control plane alone', () => {
    const headers = [
      { name: 'a', envName: 'KNOWN' },
      { name: 'b', envName: 'toString' },
    ];
    expect(tracer('zipkin', { headers }, { env: { KNOWN: 'value' } })).toMatchObject({
      headers: [
        { name: 'a', value: 'value' },
        { name: 'b', value: '' },
      ],
    });
  });
});

it('tracers of Datadog are named after the proxy, those of SkyWalking begin spans', () => {
  expect(tracer('datadog', {})).toEqual({ ...COLLECTOR, kind: 'datadog', serviceName: 'web-1.prod' });
  expect(traced('skywalking', {}).tracing).toMatchObject({ spawnUpstreamSpan: true, tracer: { kind: 'skywalking' } });
  expect(traced('datadog', {}).tracing?.spawnUpstreamSpan).toBe(false);
});

describe('an OpenTelemetry tracer', () => {
  const semantic = { serviceAttributeEnrichment: 'OTEL_SEMANTIC_CONVENTIONS' };

  it.each<[JsonObject, readonly string[]]>([
    [{}, []],
    [{ resourceDetectors: { environment: {} } }, ['environment']],
    [{ resourceDetectors: { dynatrace: {} } }, ['dynatrace']],
    [semantic, ['environment']],
    [{ ...semantic, resourceDetectors: { dynatrace: {} } }, ['dynatrace', 'environment']],
    [{ ...semantic, resourceDetectors: { environment: {}, dynatrace: {} } }, ['environment', 'dynatrace']],
  ])('with %j has the detectors %j', (settings, detectors) => {
    expect(tracer('opentelemetry', settings)).toMatchObject({ detectors });
  });

  it.each([
    ['a//b/../c/./d', `${HOST}/a/c/d`],
    ['/v1/traces', `${HOST}/v1/traces`],
    ['v1/', `${HOST}/v1/`],
    ['', HOST],
  ])('sends to the path %j at %s', (path, uri) => {
    const found = tracer('opentelemetry', { http: { path, timeout: '3s' } });
    expect(found).toMatchObject({ http: { cluster: COLLECTOR.cluster, uri, timeout: { seconds: 3 } } });
  });

  const OTEL = 'resource.opentelemetry.io/service.name';
  const INSTANCE = 'app.kubernetes.io/instance';
  const NAME = 'app.kubernetes.io/name';
  const bare = 'sidecar~10.0.0.9~~prod.svc.cluster.local';
  it.each<[string, Asked]>([
    ['annotated', { metadata: { ANNOTATIONS: { [OTEL]: 'annotated' } }, labels: { [INSTANCE]: 'i' } }],
    ['i', { metadata: { ANNOTATIONS: { [OTEL]: '' } }, labels: { [INSTANCE]: 'i', [NAME]: 'n' } }],
    ['n', { metadata: { WORKLOAD_NAME: 'w' }, labels: { [NAME]: 'n' } }],
    ['w', { metadata: { WORKLOAD_NAME: 'w' } }],
    ['web-1', { metadata: { APP_CONTAINERS: 'app' } }],
    ['app', { metadata: { APP_CONTAINERS: 'app' }, id: bare }],
    ['unknown_service', { metadata: { APP_CONTAINERS: 'app,more' }, id: bare }],
  ])('that follows the conventions is called %s', (serviceName, asked) => {
    expect(tracer('opentelemetry', semantic, asked)).toMatchObject({ serviceName });
    expect(tracer('opentelemetry', {}, asked)).toMatchObject({ serviceName: 'web-1.prod' });
  });

  describe('with the sampler of Dynatrace', () => {
    const sampler = (settings: JsonObject, more: JsonObject = {}) => {
      const dynatraceSampler = { tenant: 't', clusterId: 7, ...settings };
      return traced('opentelemetry', { dynatraceSampler, ...more });
    };
    const sampled = { tenant: 't', clusterId: 7, rootSpansPerMinute: undefined };

    it('asks the exporter at the usual path, or a service of its own, and samples everything', () => {
      const found = sampler({}, { http: { path: '/x' } }).tracing;
      expect(found).toMatchObject({
        randomSampling: 100,
        tracer: { sampler: { ...sampled, http: { uri: `${HOST}/api/v2/samplingConfiguration` } } },
      });
      const httpService = { service: 'sampler.obs.svc.cluster.local', port: 9411, http: { path: '/own' } };
      expect(sampler({ httpService }).tracing?.tracer).toMatchObject({
        sampler: {
          http: { cluster: 'outbound|9411||sampler.obs.svc.cluster.local', uri: 'sampler.obs.svc.cluster.local/own' },
        },
      });
    });

    it('does not trace if the sampler cannot be asked', () => {
      const httpService = { service: 'none.obs.svc.cluster.local', port: 9411, http: { path: '/own' } };
      expect(sampler({ httpService }).tracing).toBeUndefined();
      expect(sampler({}).tracing).toBeUndefined();
    });
  });
});

describe('tracing without a provider', () => {
  const enabled = (tracingSettings: JsonObject, asked: Asked = {}) =>
    choice({ enableTracing: true, defaultConfig: { tracing: tracingSettings } }, asked).tracing;

  it('is on if the mesh says so, with the tags of Istio', () => {
    expect(choice({ enableTracing: false }).tracing).toBeUndefined();
    const labels = { 'service.istio.io/canonical-name': 'web', 'service.istio.io/canonical-revision': 'v1' };
    expect(enabled({}, { labels, metadata: { MESH_ID: 'm' } })).toMatchObject({
      spawnUpstreamSpan: false,
      noContextPropagation: false,
      peerTags: false,
      istioTags: { revision: 'v1', service: 'web', meshId: 'm', namespace: 'prod', clusterId: 'Kubernetes' },
    });
    expect(enabled({}, { metadata: { CLUSTER_ID: '' } })?.istioTags).toEqual({
      revision: 'latest',
      service: 'unknown',
      meshId: 'unknown',
      namespace: 'prod',
      clusterId: 'unknown',
    });
    expect(enabled({ enableIstioTags: false })?.istioTags).toBeUndefined();
  });

  it.each<[JsonObject, Readonly<Record<string, string>>, number]>([
    [{}, {}, 1],
    [{ sampling: 42.5 }, {}, 42.5],
    [{ sampling: 100 }, {}, 100],
    [{ sampling: 101 }, {}, 1],
    [{ sampling: 0 }, { PILOT_TRACE_SAMPLING: '7' }, 7],
    [{}, { PILOT_TRACE_SAMPLING: '0' }, 0],
    [{}, { PILOT_TRACE_SAMPLING: '100' }, 100],
    [{}, { PILOT_TRACE_SAMPLING: '101' }, 1],
    [{}, { PILOT_TRACE_SAMPLING: '-1' }, 1],
  ])('with the configuration %j and the flags %j samples %d percent', (settings, env, expected) => {
    expect(enabled(settings, { env })?.randomSampling).toBe(expected);
  });

  it('has the tags of the configuration, and the length of paths if it is above 0', () => {
    const customTags = { own: { literal: { value: 'v' } } };
    expect(enabled({ customTags })?.customTags).toEqual(customTags);
    expect(enabled({})?.customTags).toEqual({});
    expect(enabled({ maxPathTagLength: 9 })?.maxPathTagLength).toBe(9);
    expect(enabled({ maxPathTagLength: 0 })?.maxPathTagLength).toBeUndefined();
    expect(enabled({})?.maxPathTagLength).toBeUndefined();
  });

  it('has tags of peers where traffic is for a service behind a waypoint', () => {
    expect(enabled({}, { traffic: 'waypoint Service prod/web' })?.peerTags).toBe(true);
  });
});
