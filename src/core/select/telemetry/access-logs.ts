// Which access logs a proxy writes, for each class of traffic.
// Source: Istio pilot/pkg/networking/core/accesslog.go, pilot/pkg/model/telemetry_logging.go.
//
// Telemetry decides, and where it leaves no provider the mesh's own settings (`accessLogFile`,
// `enableEnvoyAccessLogService`) do. A provider that is switched off still counts as a decision if it could log now. As
// soon as any entry exists, the mesh's default providers count only where an entry refers to them, by name or by naming
// none: an entry for one mode alone leaves them out for the other mode too.

import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { compareText } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import type {
  AccessLogging,
  MeshConfig_ExtensionProvider,
  MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider_LogFormat,
} from '../../schema/istio-types.gen.ts';
import { providerCluster } from './provider-cluster.ts';
import {
  defaultProviders,
  definedProviders,
  extensionProvider,
  modeMatches,
  providerNames,
  telemetryLevels,
} from './telemetry.ts';
import { subjectOf, type TrafficClass } from './traffic-class.ts';

/** What to write. An empty text, and undefined labels, stand for Istio's default, which the generator makes. */
export type LogFormat =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'json'; readonly labels: JsonObject | undefined };

interface GrpcSink {
  readonly cluster: string;
  readonly authority?: string;
  readonly logName: string;
  /** Results of metadata exchange, sent with every entry. */
  readonly filterStateObjects: readonly string[];
}

export type AccessLogSpec = { readonly filter?: string } & (
  | {
      readonly kind: 'file';
      readonly path: string;
      /** undefined: that of Envoy. */
      readonly format: LogFormat | undefined;
      readonly omitEmptyValues: boolean;
    }
  | ({
      readonly kind: 'http-als' | 'tcp-als';
      readonly requestHeaders: readonly string[];
      readonly responseHeaders: readonly string[];
      readonly responseTrailers: readonly string[];
    } & GrpcSink)
  | ({ readonly kind: 'otel'; readonly text: string; readonly labels: JsonObject } & GrpcSink)
  /** `enableEnvoyAccessLogService`: the static cluster of the bootstrap. */
  | { readonly kind: 'envoy-als' }
);

const DEFAULT_LOG_PATH = '/dev/stdout';
/** MeshConfig's built-in provider: it writes the log that the mesh settings describe. */
const BUILT_IN_PROVIDER = 'envoy';

/** Argument: the class of traffic. */
export const accessLogs: Query<TrafficClass, readonly AccessLogSpec[]> = {
  name: 'select/accessLogs',
  run: (reader, traffic) => {
    const specs = fromTelemetry(reader, traffic);
    return specs ?? fromMesh(reader);
  },
};

/** False if the mesh has switched off the logs of connections that no filter chain takes. */
export function listenersLog(reader: ProxyReader): boolean {
  return reader.mesh('disableEnvoyListenerLog') !== true;
}

function fromMesh(reader: ProxyReader): readonly AccessLogSpec[] {
  const logs: AccessLogSpec[] = [];
  const path = reader.mesh('accessLogFile');
  if (path !== '') logs.push({ kind: 'file', path, format: meshFormat(reader), omitEmptyValues: false });
  if (reader.mesh('enableEnvoyAccessLogService') === true) logs.push({ kind: 'envoy-als' });
  return logs;
}

/** `accessLogEncoding` and `accessLogFormat`; a JSON format that is no object gives the default one. */
function meshFormat(reader: ProxyReader): LogFormat {
  const text = reader.mesh('accessLogFormat');
  if (reader.mesh('accessLogEncoding') !== 'JSON') return { kind: 'text', text: withNewline(text) };
  return { kind: 'json', labels: parseObject(text) };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Choice {
  enabled: boolean;
  filter?: string;
}

/** The logs of the providers that Telemetry leaves in force; undefined if the mesh's settings decide. */
function fromTelemetry(reader: ProxyReader, traffic: TrafficClass): readonly AccessLogSpec[] | undefined {
  const levels = reader.get(telemetryLevels, subjectOf(traffic)).flatMap(({ accessLogging = [] }) => {
    return accessLogging.length === 0 ? [] : [accessLogging];
  });
  const defaults = defaultProviders(reader, 'accessLogging');
  const found: (readonly [name: string, choice: Choice, log: AccessLogSpec])[] = [];
  for (const [name, choice] of chooseProviders(reader, defaults, levels, traffic)) {
    const definition = extensionProvider(reader, name);
    const log = definition === undefined ? undefined : ofProvider(reader, definition);
    if (log !== undefined) found.push([definition!.name!, choice, log]);
  }
  if (found.length === 0) return undefined;
  return found
    .filter(([, { enabled }]) => enabled)
    .sort((a, b) => compareText(a[0], b[0]))
    .map(([, { filter }, log]) => (filter === undefined ? log : { ...log, filter }));
}

/** By the names that refer to them. Without any entry these are the defaults; with entries they count by reference. */
function chooseProviders(
  reader: ProxyReader,
  defaults: readonly string[],
  levels: readonly (readonly AccessLogging[])[],
  traffic: TrafficClass,
): ReadonlyMap<string, Choice> {
  const chosen = new Map<string, Choice>();
  if (levels.length === 0) for (const name of defaults) chosen.set(name, { enabled: true });
  const { scope, filters } = inScope(reader, defaults, levels, traffic);
  let names: readonly string[] = defaults;
  for (const entry of levels.flat()) {
    const own = providerNames(entry);
    if (own.length > 0) names = definedProviders(reader, own);
    if (!modeMatches(entry.match?.mode, traffic)) continue;
    for (const name of names) {
      if (!scope.has(name)) continue;
      chosen.set(name, entry.disabled === true ? { enabled: false } : { enabled: true, filter: filters.get(name) });
    }
  }
  return chosen;
}

/**
 * The providers that count: the defaults, replaced level by level by those that the fitting entries of a level name.
 * And the filter of each: that of the last fitting entry that names it, or none. An entry that names no provider has no
 * filter.
 */
function inScope(
  reader: ProxyReader,
  defaults: readonly string[],
  levels: readonly (readonly AccessLogging[])[],
  traffic: TrafficClass,
): { readonly scope: ReadonlySet<string>; readonly filters: ReadonlyMap<string, string | undefined> } {
  let scope: ReadonlySet<string> = new Set(defaults);
  const filters = new Map<string, string | undefined>();
  for (const level of levels) {
    const named = new Set<string>();
    let namesAny = false;
    for (const entry of level) {
      if (!modeMatches(entry.match?.mode, traffic)) continue;
      const own = providerNames(entry);
      namesAny ||= own.length > 0;
      for (const name of definedProviders(reader, own)) {
        named.add(name);
        filters.set(name, entry.filter === undefined ? undefined : (entry.filter.expression ?? ''));
      }
    }
    if (namesAny) scope = named;
  }
  return { scope, filters };
}

function ofProvider(reader: ProxyReader, definition: MeshConfig_ExtensionProvider): AccessLogSpec | undefined {
  if (definition.envoyFileAccessLog !== undefined) return fileLog(reader, definition);
  const als = definition.envoyHttpAls ?? definition.envoyTcpAls;
  if (als !== undefined) {
    const sink = sinkOf(reader, als, definition.envoyHttpAls ? 'http_envoy_accesslog' : 'tcp_envoy_accesslog');
    if (sink === undefined) return undefined;
    return {
      kind: definition.envoyHttpAls ? 'http-als' : 'tcp-als',
      ...sink,
      requestHeaders: definition.envoyHttpAls?.additionalRequestHeadersToLog ?? [],
      responseHeaders: definition.envoyHttpAls?.additionalResponseHeadersToLog ?? [],
      responseTrailers: definition.envoyHttpAls?.additionalResponseTrailersToLog ?? [],
    };
  }
  const otel = definition.envoyOtelAls;
  if (otel === undefined) return undefined;
  const sink = sinkOf(reader, otel, 'otel_envoy_accesslog');
  if (sink === undefined) return undefined;
  const { text = '', labels = {} } = otel.logFormat ?? {};
  return { kind: 'otel', ...sink, filterStateObjects: allPeerStateNames, text, labels };
}

function fileLog(reader: ProxyReader, definition: MeshConfig_ExtensionProvider): AccessLogSpec {
  const provider = definition.envoyFileAccessLog ?? {};
  const path = provider.path === undefined || provider.path === '' ? DEFAULT_LOG_PATH : provider.path;
  const omitEmptyValues = provider.omitEmptyValues === true;
  const format = provider.logFormat;
  if (definition.name === BUILT_IN_PROVIDER && format === undefined && !omitEmptyValues) {
    return { kind: 'file', path, format: meshFormat(reader), omitEmptyValues };
  }
  return { kind: 'file', path, format: ownFormat(format), omitEmptyValues };
}

/**
 * Without one Istio's text; one that says neither text nor labels is none, and Envoy's own format is written. Empty
 * labels are those of Istio, unlike the empty object as the format of the mesh.
 */
function ownFormat(
  given: MeshConfig_ExtensionProvider_EnvoyFileAccessLogProvider_LogFormat | undefined,
): LogFormat | undefined {
  if (given === undefined) return { kind: 'text', text: '' };
  const { labels, text } = given;
  if (labels !== undefined) return { kind: 'json', labels: Object.keys(labels).length === 0 ? undefined : labels };
  return text === undefined ? undefined : { kind: 'text', text: withNewline(text) };
}

function withNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

const peerStateNames: readonly string[] = ['upstream_peer', 'downstream_peer'];
/** Both the names that metadata exchange has used since proxy 1.24 and those before. */
export const allPeerStateNames: readonly string[] = [
  ...peerStateNames,
  'wasm.upstream_peer',
  'wasm.upstream_peer_id',
  'wasm.downstream_peer',
  'wasm.downstream_peer_id',
];

function sinkOf(
  reader: ProxyReader,
  provider: {
    readonly service?: string;
    readonly port?: number;
    readonly logName?: string;
    readonly filterStateObjectsToLog?: readonly string[];
  },
  logName: string,
): GrpcSink | undefined {
  const found = providerCluster(reader, provider.service ?? '', provider.port ?? 0);
  if (found === undefined) return undefined;
  const name = provider.logName === undefined || provider.logName === '' ? logName : provider.logName;
  const own = provider.filterStateObjectsToLog ?? [];
  return {
    cluster: found.cluster,
    authority: found.hostname,
    logName: name,
    filterStateObjects: own.length > 0 ? own : peerStateNames,
  };
}
