// How a proxy reports spans, for each class of traffic.
// Source: Istio pilot/pkg/networking/core/tracing.go, pilot/pkg/model/telemetry.go.
//
// Telemetry and `defaultProviders.tracing` configure it; without either, `enableTracing` alone gives sampling and tags
// but no provider, so that request ids and trace headers are still handled.

import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { Derivation, ProxyReader, Query } from '../../query/reader.ts';
import { proxyLabels } from '../../registry/workload.ts';
import type { MeshConfig_ExtensionProvider, TelemetryTracing } from '../../schema/istio-types.gen.ts';
import { proxyTracing } from '../proxy/proxy-config.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { atLeast } from '../proxy/proxy-version.ts';
import { defaultProviders, extensionProvider, modeMatches, providerNames, telemetryLevels } from './telemetry.ts';
import { type TracerSpec, tracerSpec } from './tracers.ts';
import { isWaypointTraffic, subjectOf, type TrafficClass } from './traffic-class.ts';

export interface TracingSpec {
  /** Percent, 0 to 100. */
  readonly randomSampling: number;
  readonly maxPathTagLength?: number;
  readonly spawnUpstreamSpan: boolean;
  readonly noContextPropagation: boolean;
  readonly istioTags?: IstioTags;
  /** Tags of both peers, of requests through a waypoint. */
  readonly peerTags: boolean;
  /** As written in Telemetry or ProxyConfig, by tag name. */
  readonly customTags: Readonly<Record<string, JsonObject>>;
  readonly tracer?: TracerSpec;
}

/** Values of the literal tags that Istio adds. */
export type IstioTags = {
  readonly revision: string;
  readonly service: string;
  readonly meshId: string;
  readonly namespace: string;
  readonly clusterId: string;
};

export interface TracingChoice {
  /** Absent: no tracing at all. */
  readonly tracing?: TracingSpec;
  readonly useRequestIdForTraceSampling: boolean;
}

/** A Telemetry's request id settings count only if it leads to a tracer. */
const NO_TRACING: TracingChoice = { useRequestIdForTraceSampling: true };

const FULL_SAMPLING = 100;
const SAMPLING_FALLBACK = 1;

const istioTagValues: Derivation<IstioTags> = {
  name: 'tracing tags',
  run: reader => {
    const labels = reader.derived(proxyLabels);
    return {
      revision: labels['service.istio.io/canonical-revision'] || 'latest',
      service: labels['service.istio.io/canonical-name'] || 'unknown',
      meshId: metadataText(reader, 'MESH_ID') || 'unknown',
      namespace: metadataText(reader, 'NAMESPACE') || 'default',
      clusterId: metadataText(reader, 'CLUSTER_ID') || 'unknown',
    };
  },
};

/** Argument: the class of traffic. */
export const tracing: Query<TrafficClass, TracingChoice> = {
  name: 'select/tracing',
  run: (reader, traffic) => {
    const configured = configuredTracing(reader, traffic);
    if (configured === undefined) {
      if (reader.mesh('enableTracing') !== true) return NO_TRACING;
      const spec = reader.get(withoutProvider, '');
      return { ...NO_TRACING, tracing: isWaypointTraffic(traffic) ? { ...spec, peerTags: true } : spec };
    }
    if (configured.disabled || configured.provider === undefined) return NO_TRACING;
    const tracer = tracerSpec(reader, configured.provider);
    if (tracer === undefined) return NO_TRACING;
    return {
      tracing: withProvider(reader, traffic, configured, tracer),
      useRequestIdForTraceSampling: configured.useRequestIdForTraceSampling ?? true,
    };
  },
};

interface Configured {
  provider?: MeshConfig_ExtensionProvider;
  disabled: boolean;
  customTags: Readonly<Record<string, JsonObject>>;
  randomSampling?: number;
  useRequestIdForTraceSampling?: boolean;
  enableIstioTags?: boolean;
  disableContextPropagation?: boolean;
}

/** Mesh default, then every matching entry of every level: later ones win field by field. */
function configuredTracing(reader: ProxyReader, traffic: TrafficClass): Configured | undefined {
  const entries = reader.get(telemetryLevels, subjectOf(traffic)).flatMap(level => level.tracing ?? []);
  const [first] = defaultProviders(reader, 'tracing');
  if (entries.length === 0 && first === undefined) return undefined;
  const result: Configured = { disabled: false, customTags: {} };
  if (first !== undefined) result.provider = extensionProvider(reader, first);
  for (const entry of entries) if (modeMatches(entry.match?.mode, traffic)) applyEntry(reader, result, entry);
  return result;
}

function applyEntry(reader: ProxyReader, result: Configured, entry: TelemetryTracing): void {
  const [name] = providerNames(entry);
  if (name !== undefined) result.provider = extensionProvider(reader, name);
  if (entry.disableSpanReporting !== undefined) result.disabled = entry.disableSpanReporting;
  // An empty map is a value: it takes the tags of earlier entries away.
  if (entry.customTags !== undefined) {
    result.customTags = entry.customTags as unknown as Readonly<Record<string, JsonObject>>;
  }
  if (entry.randomSamplingPercentage !== undefined) result.randomSampling = entry.randomSamplingPercentage;
  if (entry.useRequestIdForTraceSampling !== undefined) {
    result.useRequestIdForTraceSampling = entry.useRequestIdForTraceSampling;
  }
  if (entry.enableIstioTags !== undefined) result.enableIstioTags = entry.enableIstioTags;
  if (entry.disableContextPropagation !== undefined) {
    result.disableContextPropagation = entry.disableContextPropagation;
  }
}

/** The same for all classes of traffic. */
const withoutProvider: Query<'', TracingSpec> = {
  name: 'select/tracingWithoutProvider',
  run: reader => {
    const config = reader.derived(proxyTracing);
    return {
      randomSampling: proxySampling(reader),
      maxPathTagLength: positive(config.maxPathTagLength),
      spawnUpstreamSpan: false,
      noContextPropagation: false,
      istioTags: config.enableIstioTags === false ? undefined : reader.derived(istioTagValues),
      peerTags: false,
      customTags: usableTags(reader, tagsOf(config.customTags)),
    };
  },
};

function withProvider(
  reader: ProxyReader,
  traffic: TrafficClass,
  configured: Configured,
  tracer: TracerSpec,
): TracingSpec {
  const config = reader.derived(proxyTracing);
  const own = Object.keys(configured.customTags).length > 0;
  const spawn = traffic === 'gateway' && reader.feature('PILOT_SPAWN_UPSTREAM_SPAN_FOR_GATEWAY');
  const sampled = tracer.kind === 'opentelemetry' && tracer.sampler !== undefined;
  return {
    randomSampling: sampled ? FULL_SAMPLING : (configured.randomSampling ?? proxySampling(reader)),
    maxPathTagLength: tracer.maxTagLength ?? positive(config.maxPathTagLength),
    spawnUpstreamSpan: spawn || tracer.kind === 'skywalking',
    noContextPropagation: configured.disableContextPropagation === true && atLeast(reader, 1, 30),
    istioTags: configured.enableIstioTags === false ? undefined : reader.derived(istioTagValues),
    peerTags: isWaypointTraffic(traffic),
    customTags: usableTags(reader, own ? configured.customTags : tagsOf(config.customTags)),
    tracer,
  };
}

/** ProxyConfig's percentage if it is set (one above 100 counts as 1), else the flag's. */
function proxySampling(reader: ProxyReader): number {
  const sampling = reader.derived(proxyTracing).sampling;
  if (typeof sampling === 'number' && sampling !== 0) return sampling > FULL_SAMPLING ? SAMPLING_FALLBACK : sampling;
  const flag = reader.feature('PILOT_TRACE_SAMPLING');
  return flag < 0 || flag > FULL_SAMPLING ? SAMPLING_FALLBACK : flag;
}

function positive(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined;
}

function tagsOf(value: Json | undefined): Readonly<Record<string, JsonObject>> {
  return isObject(value) ? (value as Readonly<Record<string, JsonObject>>) : {};
}

/** Tags made by a formatter came with proxy 1.29: an older proxy would refuse the listener. */
function usableTags(
  reader: ProxyReader,
  tags: Readonly<Record<string, JsonObject>>,
): Readonly<Record<string, JsonObject>> {
  const isFormatted = (tag: JsonObject): boolean => tag.formatter !== undefined;
  if (!Object.values(tags).some(isFormatted) || atLeast(reader, 1, 29)) return tags;
  return Object.fromEntries(Object.entries(tags).filter(([, tag]) => !isFormatted(tag)));
}
