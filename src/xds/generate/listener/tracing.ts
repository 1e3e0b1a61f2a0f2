// Tracing of an HTTP connection manager.
// Source: Istio pilot/pkg/networking/core/tracing.go.

import type { JsonObject } from '../../../core/base/json.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type {
  DynatraceSampler,
  HttpCollector,
  ResourceDetector,
  TracerHeader,
  TracerSpec,
} from '../../../core/select/telemetry/tracers.ts';
import type { IstioTags, TracingSpec } from '../../../core/select/telemetry/tracing.ts';
import { any } from '../../proto/any.ts';
import {
  type AnyMessage,
  type CustomTag,
  type GrpcService,
  type HeaderValue,
  type HeaderValueOption,
  HeaderValueOption_HeaderAppendAction,
  type HttpConnectionManager_Tracing,
  type HttpService,
  type TypedExtensionConfig,
  ZipkinConfig_CollectorEndpointVersion,
  ZipkinConfig_TraceContextOption,
} from '../../proto/types.gen.ts';
import { durationOf } from '../common/duration.ts';
import { orNone } from '../common/or-none.ts';

const FULL_SAMPLING = { value: 100 };
const HTTP_COLLECTOR_TIMEOUT = { seconds: 5, nanos: 0 };

export const tracingGenerator: Generator<{ readonly spec: TracingSpec }, HttpConnectionManager_Tracing> = {
  name: 'listener/tracing',
  run: ({ spec }) => ({
    clientSampling: FULL_SAMPLING,
    randomSampling: { value: spec.randomSampling },
    overallSampling: FULL_SAMPLING,
    maxPathTagLength: spec.maxPathTagLength === undefined ? undefined : { value: spec.maxPathTagLength },
    customTags: orNone(customTags(spec)),
    provider:
      spec.tracer === undefined
        ? undefined
        : { name: `envoy.tracers.${spec.tracer.kind}`, typedConfig: tracerConfig(spec.tracer) },
    spawnUpstreamSpan: spec.spawnUpstreamSpan ? { value: true } : undefined,
    noContextPropagation: spec.noContextPropagation ? true : undefined,
  }),
};

/** By name. */
function customTags(spec: TracingSpec): readonly CustomTag[] {
  const tags = spec.istioTags === undefined ? [] : istioTags(spec.istioTags);
  if (spec.peerTags) tags.push(...peerTags);
  if (Object.keys(spec.customTags).length === 0 && !spec.peerTags) return tags;
  for (const [tag, value] of Object.entries(spec.customTags)) {
    const custom = customTag(tag, value);
    if (custom !== undefined) tags.push(custom);
  }
  return tags.sort((a, b) => compareText(a.tag ?? '', b.tag ?? ''));
}

/** Dry-run results of authorization policies, as the RBAC filter leaves them in the request's metadata. */
const dryRunTags: readonly CustomTag[] = [
  dryRunTag('allow_policy.name', 'istio_dry_run_allow_shadow_effective_policy_id'),
  dryRunTag('allow_policy.result', 'istio_dry_run_allow_shadow_engine_result'),
  dryRunTag('deny_policy.name', 'istio_dry_run_deny_shadow_effective_policy_id'),
  dryRunTag('deny_policy.result', 'istio_dry_run_deny_shadow_engine_result'),
];

function dryRunTag(name: string, key: string): CustomTag {
  return {
    tag: `istio.authorization.dry_run.${name}`,
    metadata: { kind: { request: {} }, metadataKey: { key: 'envoy.filters.http.rbac', path: [{ key }] } },
  };
}

const peerFields: Readonly<Record<string, string>> = {
  app: 'app',
  app_version: 'version',
  canonical_revision: 'revision',
  canonical_service: 'service',
  cluster_id: 'cluster',
  instance_name: 'name',
  namespace: 'namespace',
  workload: 'workload',
  workload_type: 'type',
};

/** What a waypoint has learnt of the client and of the server. */
const peerTags: readonly CustomTag[] = Object.entries(peerFields).flatMap(([tag, field]) => [
  { tag: `istio.destination_${tag}`, value: `%FILTER_STATE(upstream_peer_obj:FIELD:${field})%` },
  { tag: `istio.source_${tag}`, value: `%FILTER_STATE(downstream_peer_obj:FIELD:${field})%` },
]);

/** By name. */
function istioTags(values: IstioTags): CustomTag[] {
  const literals: readonly (readonly [string, string])[] = [
    ['istio.canonical_revision', values.revision],
    ['istio.canonical_service', values.service],
    ['istio.cluster_id', values.clusterId],
    ['istio.mesh_id', values.meshId],
    ['istio.namespace', values.namespace],
  ];
  return [...dryRunTags, ...literals.map(([tag, value]) => ({ tag, literal: { value } }))];
}

/** A tag as written in Telemetry (or, without formatters, in ProxyConfig). */
function customTag(tag: string, value: JsonObject): CustomTag | undefined {
  const { literal, environment, header, formatter } = value as {
    readonly [kind: string]: { readonly value?: string; readonly name?: string; readonly defaultValue?: string };
  };
  if (literal !== undefined) return { tag, literal: { value: literal.value } };
  if (environment !== undefined) {
    return { tag, environment: { name: environment.name, defaultValue: environment.defaultValue } };
  }
  if (header !== undefined) return { tag, requestHeader: { name: header.name, defaultValue: header.defaultValue } };
  return formatter === undefined ? undefined : { tag, value: formatter.value };
}

function tracerConfig(tracer: TracerSpec): AnyMessage {
  switch (tracer.kind) {
    case 'zipkin':
      return zipkinConfig(tracer);
    case 'datadog':
      return any('envoy.config.trace.v3.DatadogConfig', {
        collectorCluster: tracer.cluster,
        collectorHostname: tracer.hostname,
        serviceName: tracer.serviceName,
      });
    case 'skywalking':
      return any('envoy.config.trace.v3.SkyWalkingConfig', {
        grpcService: { envoyGrpc: { clusterName: tracer.cluster, authority: tracer.hostname } },
      });
    case 'opentelemetry':
      return openTelemetryConfig(tracer);
  }
}

function zipkinConfig(tracer: TracerSpec & { readonly kind: 'zipkin' }): AnyMessage {
  const common = {
    traceId128bit: tracer.traceId128bit,
    sharedSpanContext: { value: false },
    collectorEndpointVersion: ZipkinConfig_CollectorEndpointVersion.HTTP_JSON,
    traceContextOption: tracer.w3cPropagation ? ZipkinConfig_TraceContextOption.USE_B3_WITH_W3C_PROPAGATION : undefined,
  };
  if (tracer.form === 'cluster') {
    return any('envoy.config.trace.v3.ZipkinConfig', {
      ...common,
      collectorCluster: tracer.cluster,
      collectorEndpoint: tracer.path,
      collectorHostname: tracer.hostname,
    });
  }
  return any('envoy.config.trace.v3.ZipkinConfig', {
    ...common,
    collectorService: {
      httpUri: {
        uri: `http://${tracer.hostname}${tracer.path}`,
        cluster: tracer.cluster,
        timeout: durationOf(tracer.timeout) ?? HTTP_COLLECTOR_TIMEOUT,
      },
      requestHeadersToAdd: headersToAdd(tracer.headers),
    },
  });
}

function headersToAdd(headers: readonly TracerHeader[]): readonly HeaderValueOption[] | undefined {
  return orNone(
    headers.map(header => ({
      appendAction: HeaderValueOption_HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD,
      header: headerValue(header),
    })),
  );
}

function headerValue({ name, value }: TracerHeader): HeaderValue {
  return { key: name, value };
}

function openTelemetryConfig(tracer: TracerSpec & { readonly kind: 'opentelemetry' }): AnyMessage {
  return any('envoy.config.trace.v3.OpenTelemetryConfig', {
    serviceName: tracer.serviceName,
    ...collectorService(tracer),
    resourceDetectors: orNone(tracer.detectors.map(detector => detectorConfigs[detector])),
    sampler: tracer.sampler === undefined ? undefined : samplerConfig(tracer.sampler),
  });
}

function collectorService(tracer: TracerSpec & { readonly kind: 'opentelemetry' }): {
  readonly httpService?: HttpService;
  readonly grpcService?: GrpcService;
} {
  if (tracer.http !== undefined) return { httpService: httpService(tracer.http) };
  return {
    grpcService: {
      envoyGrpc: { clusterName: tracer.cluster, authority: tracer.hostname },
      timeout: durationOf(tracer.grpc.timeout),
      initialMetadata: orNone(tracer.grpc.initialMetadata.map(headerValue)),
    },
  };
}

/** Envoy refuses an address without a timeout. */
function httpService({ cluster, uri, timeout, headers }: HttpCollector): HttpService {
  return {
    httpUri: { cluster, uri, timeout: durationOf(timeout) ?? HTTP_COLLECTOR_TIMEOUT },
    requestHeadersToAdd: headersToAdd(headers),
  };
}

const detectorConfigs: Readonly<Record<ResourceDetector, TypedExtensionConfig>> = {
  environment: {
    name: 'envoy.tracers.opentelemetry.resource_detectors.environment',
    typedConfig: any(
      'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.EnvironmentResourceDetectorConfig',
      {},
    ),
  },
  dynatrace: {
    name: 'envoy.tracers.opentelemetry.resource_detectors.dynatrace',
    typedConfig: any(
      'envoy.extensions.tracers.opentelemetry.resource_detectors.v3.DynatraceResourceDetectorConfig',
      {},
    ),
  },
};

function samplerConfig({ tenant, clusterId, rootSpansPerMinute, http }: DynatraceSampler): TypedExtensionConfig {
  return {
    name: 'envoy.tracers.opentelemetry.samplers.dynatrace',
    typedConfig: any('envoy.extensions.tracers.opentelemetry.samplers.v3.DynatraceSamplerConfig', {
      tenant,
      clusterId,
      rootSpansPerMinute,
      httpService: httpService(http),
    }),
  };
}
