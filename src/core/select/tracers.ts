// The tracer that an extension provider of MeshConfig defines, with its collector's cluster found (spec-listeners §8.2; Istio core/tracing.go).

import { isObject } from '../json.ts';
import type { Derivation, ProxyReader } from '../reader.ts';
import { proxyLabels } from '../registry/workload.ts';
import type {
  MeshConfig_ExtensionProvider,
  MeshConfig_ExtensionProvider_HttpService,
  MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
} from '../schema/istio-types.gen.ts';
import { providerCluster } from './provider-cluster.ts';
import { metadataText } from './proxy-config.ts';
import { atLeast } from './proxy-version.ts';

interface Collector {
  readonly cluster: string;
  readonly hostname: string;
  /** Longest value of a tag, in bytes; absent: the proxy's own limit. */
  readonly maxTagLength?: number;
}

export type TracerSpec = Collector &
  (
    | {
        readonly kind: 'zipkin';
        readonly traceId128bit: boolean;
        readonly path: string;
        /** Absent for proxies that do not know the field. */
        readonly w3cPropagation: boolean;
        /** `service`: proxies from 1.29 on; `cluster`: the older form. */
        readonly form: 'service' | 'cluster';
        readonly timeout: unknown;
        readonly headers: readonly TracerHeader[];
      }
    | { readonly kind: 'datadog'; readonly serviceName: string }
    | { readonly kind: 'skywalking' }
    | {
        readonly kind: 'opentelemetry';
        readonly serviceName: string;
        readonly http?: MeshConfig_ExtensionProvider_HttpService;
        readonly grpc?: { readonly timeout?: unknown; readonly initialMetadata?: readonly TracerHeader[] };
        readonly environmentDetector: boolean;
        readonly dynatraceDetector: boolean;
        readonly sampler?: NonNullable<MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider['dynatraceSampler']>;
        readonly samplerCluster?: string;
      }
  );

export interface TracerHeader {
  readonly name?: string;
  readonly value?: string;
  readonly envName?: string;
}

const NO_HEADERS: readonly TracerHeader[] = [];
const ZIPKIN_PATH = '/api/v2/spans';

/** Undefined: the provider does not trace, or its collector is no service of the mesh. */
export function tracerSpec(reader: ProxyReader, provider: MeshConfig_ExtensionProvider): TracerSpec | undefined {
  const settings = provider.zipkin ?? provider.datadog ?? provider.skywalking ?? provider.opentelemetry;
  if (settings === undefined) return undefined;
  const found = providerCluster(reader, settings.service ?? '', settings.port ?? 0);
  if (found === undefined) return undefined;
  const limit = 'maxTagLength' in settings ? settings.maxTagLength : undefined;
  const collector: Collector = { ...found, maxTagLength: limit === 0 ? undefined : limit };
  if (provider.zipkin !== undefined) return zipkin(reader, provider.zipkin, collector);
  if (provider.datadog !== undefined)
    return { ...collector, kind: 'datadog', serviceName: reader.facet('nodeCluster') };
  if (provider.opentelemetry !== undefined) return openTelemetry(reader, provider.opentelemetry, collector);
  return { ...collector, kind: 'skywalking' };
}

function zipkin(
  reader: ProxyReader,
  settings: NonNullable<MeshConfig_ExtensionProvider['zipkin']>,
  collector: Collector,
): TracerSpec {
  const w3c = settings.traceContextOption === 'USE_B3_WITH_W3C_PROPAGATION';
  return {
    ...collector,
    kind: 'zipkin',
    traceId128bit: settings.enable64bitTraceId !== true,
    path: settings.path || ZIPKIN_PATH,
    w3cPropagation: w3c && atLeast(reader, 1, 28),
    form: atLeast(reader, 1, 29) ? 'service' : 'cluster',
    timeout: settings.timeout,
    headers: settings.headers ?? NO_HEADERS,
  };
}

function openTelemetry(
  reader: ProxyReader,
  settings: MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
  collector: Collector,
): TracerSpec {
  const conventions = settings.serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS';
  const sampler = settings.dynatraceSampler;
  const api = sampler?.httpService;
  const samplerCluster =
    api === undefined ? collector.cluster : providerCluster(reader, api.service ?? '', api.port ?? 0)?.cluster;
  return {
    ...collector,
    kind: 'opentelemetry',
    serviceName: conventions ? reader.derived(semanticServiceName) : reader.facet('nodeCluster'),
    http: settings.http,
    grpc: settings.grpc,
    environmentDetector: settings.resourceDetectors?.environment !== undefined,
    dynatraceDetector: settings.resourceDetectors?.dynatrace !== undefined,
    sampler: samplerCluster === undefined ? undefined : sampler,
    samplerCluster,
  };
}

/** OpenTelemetry's order of places that name a service of Kubernetes. */
const semanticServiceName: Derivation<string> = {
  name: 'OpenTelemetry service name',
  run: reader => {
    const annotations = reader.metadata('ANNOTATIONS');
    const annotated = isObject(annotations) ? annotations['resource.opentelemetry.io/service.name'] : undefined;
    if (typeof annotated === 'string' && annotated !== '') return annotated;
    const labels = reader.derived(proxyLabels);
    const containers = metadataText(reader, 'APP_CONTAINERS').split(',');
    return (
      labels['app.kubernetes.io/instance'] ||
      labels['app.kubernetes.io/name'] ||
      metadataText(reader, 'WORKLOAD_NAME') ||
      metadataText(reader, 'NAME') ||
      (containers.length === 1 ? containers[0]! : '') ||
      'unknown_service'
    );
  },
};
