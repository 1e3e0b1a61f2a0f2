// Access logs and traces, each field from the one setting that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/accesslog.go, pilot/pkg/networking/core/tracing.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { AccessLogSpec } from '../../../../../src/core/select/telemetry/access-logs.ts';
import type { TracerSpec } from '../../../../../src/core/select/telemetry/tracers.ts';
import type { TracingSpec } from '../../../../../src/core/select/telemetry/tracing.ts';
import { accessLogGenerator } from '../../../../../src/xds/generate/listener/access-log.ts';
import { tracingGenerator } from '../../../../../src/xds/generate/listener/tracing.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';

describe('access logs', () => {
  const logs = (...specs: readonly AccessLogSpec[]) => accessLogGenerator.run({ specs });
  const file = { kind: 'file', path: '/log', format: undefined, omitEmptyValues: false } as const;
  const unreachable = { responseFlagFilter: { flags: ['UF'] } };
  const unmatched = { responseFlagFilter: { flags: ['NR'] } };
  const failed = {
    statusCodeFilter: {
      comparison: { op: 1, value: { defaultValue: 400, runtimeKey: 'istio.io/unset' } },
    },
  };
  const cel = {
    extensionFilter: {
      name: 'envoy.access_loggers.extension_filters.cel',
      typedConfig: {
        '@type': typeUrl('envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter'),
        expression: 'x',
      },
    },
  };

  it('say all of requests and connections, and of listeners and tunnels what fails', () => {
    const { http, tcp, listener, tunnelOpened, tunnelTaken } = logs(file);
    expect([http, tcp].map(([log]) => log?.filter)).toEqual([undefined, undefined]);
    expect([listener, tunnelOpened, tunnelTaken].map(([log]) => log?.filter)).toEqual([unmatched, unreachable, failed]);
  });

  it('are narrowed by an expression besides', () => {
    const { http, listener } = logs({ ...file, filter: 'x' });
    expect(http[0]?.filter).toEqual(cel);
    expect(listener[0]?.filter).toEqual({ andFilter: { filters: [unmatched, cel] } });
  });

  it('of Envoy’s service have a name for each place, and leave tunnels out', () => {
    const made = logs({ kind: 'envoy-als' });
    expect([made.tunnelOpened, made.tunnelTaken]).toEqual([[], []]);
    const service = (logName: string) => ({
      commonConfig: {
        logName,
        grpcService: { envoyGrpc: { clusterName: 'envoy_accesslog_service' } },
        transportApiVersion: 2,
      },
    });
    expect(made.http).toMatchObject([
      { name: 'envoy.access_loggers.http_grpc', typedConfig: service('http_envoy_accesslog') },
    ]);
    expect(made.tcp).toMatchObject([
      { name: 'envoy.tcp_grpc_access_log', typedConfig: service('tcp_envoy_accesslog') },
    ]);
    expect(made.listener[0]?.typedConfig).toMatchObject(service('listener_envoy_accesslog'));
  });

  const sink = { cluster: 'c', authority: 'a', logName: 'n', filterStateObjects: ['f'] };
  const common = {
    logName: 'n',
    grpcService: { envoyGrpc: { clusterName: 'c', authority: 'a' } },
    transportApiVersion: 2,
    filterStateObjectsToLog: ['f'],
  };

  it('by OpenTelemetry have the default text, and no attributes, unless the provider gives others', () => {
    const made = (text: string, labels: JsonObject) =>
      logs({ kind: 'otel', text, labels, ...sink }).http[0]?.typedConfig as unknown as {
        readonly body: { readonly stringValue: string };
        readonly attributes?: object;
        readonly formatters?: readonly object[];
      };
    expect(made('', {})).toMatchObject({ commonConfig: common, disableBuiltinLabels: true });
    expect(made('', {}).body.stringValue).toMatch(/^\[%START_TIME%\] "%REQ\(:METHOD\)% .*%ROUTE_NAME%\n$/);
    expect(made('', {}).attributes).toBeUndefined();
    const own = made('t', { b: '%REQ_WITHOUT_QUERY(X)%', a: 5 });
    expect(own.body).toEqual({ stringValue: 't' });
    expect(own.attributes).toEqual({
      values: [
        { key: 'a', value: { stringValue: '' } },
        { key: 'b', value: { stringValue: '%REQ_WITHOUT_QUERY(X)%' } },
      ],
    });
    expect(own.formatters).toEqual([
      {
        name: 'envoy.formatter.req_without_query',
        typedConfig: { '@type': typeUrl('envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery') },
      },
    ]);
  });

  it('to files have the format that is given, with the formatter that it needs', () => {
    const format = (of: NonNullable<(AccessLogSpec & { kind: 'file' })['format']>, omitEmptyValues = false) =>
      (logs({ ...file, format: of, omitEmptyValues }).http[0]!.typedConfig as unknown as { readonly logFormat: object })
        .logFormat;
    expect(format({ kind: 'text', text: 't' }, true)).toEqual({
      textFormatSource: { inlineString: 't' },
      omitEmptyValues: true,
    });
    expect(format({ kind: 'text', text: '' })).toMatchObject({
      textFormatSource: { inlineString: expect.stringMatching(/^\[%START_TIME%\]/) as string },
    });
    expect(format({ kind: 'text', text: '%REQ_WITHOUT_QUERY(X)%' })).toHaveProperty('formatters');
    expect(format({ kind: 'json', labels: { a: 'b', c: { d: 'e' } } })).toEqual({
      jsonFormat: { a: 'b', c: { d: 'e' } },
      jsonFormatOptions: {},
    });
    expect(format({ kind: 'json', labels: {} })).toHaveProperty('jsonFormat', {});
    expect(format({ kind: 'json', labels: undefined })).toMatchObject({ jsonFormat: { start_time: '%START_TIME%' } });
  });
});

describe('tracing', () => {
  const spec: TracingSpec = {
    randomSampling: 5,
    spawnUpstreamSpan: false,
    noContextPropagation: false,
    peerTags: false,
    customTags: {},
  };
  const traced = (more: Partial<TracingSpec>) => tracingGenerator.run({ spec: { ...spec, ...more } });
  const plainTracing = {
    clientSampling: { value: 100 },
    randomSampling: { value: 5 },
    overallSampling: { value: 100 },
  };

  it.each<[Partial<TracingSpec>, object]>([
    [{}, {}],
    [{ maxPathTagLength: 9 }, { maxPathTagLength: { value: 9 } }],
    [{ spawnUpstreamSpan: true }, { spawnUpstreamSpan: { value: true } }],
    [{ noContextPropagation: true }, { noContextPropagation: true }],
  ])('with %j adds %j', (more, expected) => {
    expect(traced(more)).toEqual({ ...plainTracing, ...expected });
  });

  it('has tags of all kinds by name, and none that it does not know', () => {
    const customTags = {
      d: { formatter: { value: 'f' } },
      c: { header: { name: 'h', defaultValue: 'x' } },
      b: { environment: { name: 'e' } },
      a: { literal: { value: 'l' } },
      e: {},
    };
    expect(traced({ customTags }).customTags).toEqual([
      { tag: 'a', literal: { value: 'l' } },
      { tag: 'b', environment: { name: 'e' } },
      { tag: 'c', requestHeader: { name: 'h', defaultValue: 'x' } },
      { tag: 'd', value: 'f' },
    ]);
    const istioTags = { revision: 'r', service: 's', clusterId: 'c', meshId: 'm', namespace: 'n' };
    const tagged = traced({ istioTags, customTags: { 'istio.b': { literal: { value: 'l' } } } }).customTags ?? [];
    expect(tagged.map(({ tag, literal }) => [tag, literal?.value])).toEqual([
      ['istio.authorization.dry_run.allow_policy.name', undefined],
      ['istio.authorization.dry_run.allow_policy.result', undefined],
      ['istio.authorization.dry_run.deny_policy.name', undefined],
      ['istio.authorization.dry_run.deny_policy.result', undefined],
      ['istio.b', 'l'],
      ['istio.canonical_revision', 'r'],
      ['istio.canonical_service', 's'],
      ['istio.cluster_id', 'c'],
      ['istio.mesh_id', 'm'],
      ['istio.namespace', 'n'],
    ]);
    expect(traced({ istioTags }).customTags).toHaveLength(9);
    const peers = traced({ peerTags: true }).customTags ?? [];
    expect(peers).toHaveLength(18);
    expect(peers[0]).toEqual({ tag: 'istio.destination_app', value: '%FILTER_STATE(upstream_peer_obj:FIELD:app)%' });
    expect(peers[9]?.tag).toBe('istio.source_app');
  });

  it('by OpenTelemetry over HTTP has a timeout, headers and the sampler of Dynatrace', () => {
    const http = { cluster: 'c', uri: 'http://c/v1', timeout: '', headers: [{ name: 'h', value: 'v' }] };
    const sampler = { tenant: 't', clusterId: 1, rootSpansPerMinute: 2, http: { ...http, timeout: '3s', headers: [] } };
    const tracer = {
      kind: 'opentelemetry',
      cluster: 'c',
      hostname: 'host',
      serviceName: 's',
      grpc: { timeout: '', initialMetadata: [] },
      http,
      detectors: ['dynatrace'],
      sampler,
    } as unknown as TracerSpec;
    expect(traced({ tracer }).provider).toEqual({
      name: 'envoy.tracers.opentelemetry',
      typedConfig: {
        '@type': typeUrl('envoy.config.trace.v3.OpenTelemetryConfig'),
        serviceName: 's',
        httpService: {
          httpUri: { cluster: 'c', uri: 'http://c/v1', timeout: { seconds: 5, nanos: 0 } },
          requestHeadersToAdd: [{ appendAction: 2, header: { key: 'h', value: 'v' } }],
        },
        resourceDetectors: [
          {
            name: 'envoy.tracers.opentelemetry.resource_detectors.dynatrace',
            typedConfig: {
              '@type': typeUrl(
                'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.DynatraceResourceDetectorConfig',
              ),
            },
          },
        ],
        sampler: {
          name: 'envoy.tracers.opentelemetry.samplers.dynatrace',
          typedConfig: {
            '@type': typeUrl('envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig'),
            tenant: 't',
            clusterId: 1,
            rootSpansPerMinute: 2,
            httpService: { httpUri: { cluster: 'c', uri: 'http://c/v1', timeout: { seconds: 3, nanos: 0 } } },
          },
        },
      },
    });
  });
});
