// The tracer that an extension provider of MeshConfig defines, with its collector's cluster found.
// Source: Istio pilot/pkg/networking/core/tracing.go.

import { isObject } from '../../base/json.ts';
import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { proxyLabels } from '../../registry/workload.ts';
import type {
  MeshConfig_ExtensionProvider,
  MeshConfig_ExtensionProvider_HttpHeader,
  MeshConfig_ExtensionProvider_HttpService,
  MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
} from '../../schema/istio-types.gen.ts';
import { metadataText } from '../proxy/proxy-config.ts';
import { atLeast } from '../proxy/proxy-version.ts';
import { type ProviderCluster, providerCluster } from './provider-cluster.ts';

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
        /** Absent: spans go by gRPC. */
        readonly http?: HttpCollector;
        readonly grpc: { readonly timeout: unknown; readonly initialMetadata: readonly TracerHeader[] };
        readonly detectors: readonly ResourceDetector[];
        readonly sampler?: DynatraceSampler;
      }
  );

export type ResourceDetector = 'environment' | 'dynatrace';

export interface TracerHeader {
  readonly name: string | undefined;
  readonly value: string;
}

/** An API by HTTP; the address is a host name and a path, without a scheme. */
export interface HttpCollector {
  readonly cluster: string;
  readonly uri: string;
  readonly timeout: unknown;
  readonly headers: readonly TracerHeader[];
}

export interface DynatraceSampler {
  readonly tenant: string | undefined;
  readonly clusterId: number | undefined;
  readonly rootSpansPerMinute: number | undefined;
  readonly http: HttpCollector;
}

const DYNATRACE_SAMPLING_PATH = 'api/v2/samplingConfiguration';
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
    headers: headersOf(reader, settings.headers),
  };
}

/** Undefined: the sampler is unreachable, and the proxy does not trace. */
function openTelemetry(
  reader: ProxyReader,
  settings: MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
  collector: Collector,
): TracerSpec | undefined {
  const { http, grpc } = settings;
  const sampler = settings.dynatraceSampler === undefined ? undefined : dynatraceSampler(reader, settings, collector);
  if (settings.dynatraceSampler !== undefined && sampler === undefined) return undefined;
  return {
    ...collector,
    kind: 'opentelemetry',
    serviceName: isSemantic(settings) ? reader.derived(semanticServiceName) : reader.facet('nodeCluster'),
    http: http === undefined ? undefined : httpCollector(reader, collector, http.path ?? '', http),
    grpc: { timeout: grpc?.timeout, initialMetadata: headersOf(reader, grpc?.initialMetadata) },
    detectors: resourceDetectors(settings),
    sampler,
  };
}

function isSemantic(settings: MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider): boolean {
  return settings.serviceAttributeEnrichment === 'OTEL_SEMANTIC_CONVENTIONS';
}

/** The semantic conventions require the environment detector; it is appended unless configured. */
function resourceDetectors(
  settings: MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
): readonly ResourceDetector[] {
  const { environment, dynatrace } = settings.resourceDetectors ?? {};
  const detectors: ResourceDetector[] = [];
  if (environment !== undefined) detectors.push('environment');
  if (dynatrace !== undefined) detectors.push('dynatrace');
  if (isSemantic(settings) && environment === undefined) detectors.push('environment');
  return detectors;
}

/** By its own HTTP service, else by that of the exporter; undefined if there is none. */
function dynatraceSampler(
  reader: ProxyReader,
  settings: MeshConfig_ExtensionProvider_OpenTelemetryTracingProvider,
  collector: Collector,
): DynatraceSampler | undefined {
  const { tenant, clusterId, rootSpansPerMinute, httpService } = settings.dynatraceSampler ?? {};
  const http = httpService === undefined ? settings.http : (httpService.http ?? {});
  const found =
    httpService === undefined ? collector : providerCluster(reader, httpService.service ?? '', httpService.port ?? 0);
  if (http === undefined || found === undefined) return undefined;
  const path = httpService === undefined ? DYNATRACE_SAMPLING_PATH : (http.path ?? '');
  return { tenant, clusterId, rootSpansPerMinute, http: httpCollector(reader, found, path, http) };
}

function httpCollector(
  reader: ProxyReader,
  { cluster, hostname }: ProviderCluster,
  path: string,
  { timeout, headers }: MeshConfig_ExtensionProvider_HttpService,
): HttpCollector {
  return { cluster, uri: joinUrl(hostname, path), timeout, headers: headersOf(reader, headers) };
}

/** Go's url.JoinPath of a host name: one slash between parts, no dots, the last slash as it was. */
function joinUrl(hostname: string, path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return [hostname, ...parts].join('/') + (path.endsWith('/') ? '/' : '');
}

/** `envName` is a variable of the control plane; of those only the recorded settings are known, any other is empty. */
function headersOf(
  reader: ProxyReader,
  headers: readonly MeshConfig_ExtensionProvider_HttpHeader[] | undefined,
): readonly TracerHeader[] {
  return (headers ?? []).map(({ name, value = '', envName }) => {
    if (envName === undefined) return { name, value };
    const environment = reader.setting('env');
    return { name, value: Object.hasOwn(environment, envName) ? (environment[envName] ?? '') : '' };
  });
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
      podName(reader.facet('id')) ||
      (containers.length === 1 ? containers[0]! : '') ||
      'unknown_service'
    );
  },
};

/** What precedes the namespace in a node's id. */
function podName(id: string): string {
  return id.slice(0, Math.max(id.indexOf('.'), 0));
}
