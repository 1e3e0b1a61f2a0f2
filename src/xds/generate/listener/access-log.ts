// Access logs as Envoy configuration, for the three places that have them: HTTP connection managers, tcp_proxy, and
// listeners (which log only connections that no filter chain takes). Formats are Istio's.
// Source: Istio pilot/pkg/model/telemetry_logging.go, pilot/pkg/networking/core/accesslog.go.

import type { JsonObject } from '../../../core/base/json.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { type AccessLogSpec, allPeerStateNames, type LogFormat } from '../../../core/select/telemetry/access-logs.ts';
import { any } from '../../proto/any.ts';
import {
  type AccessLog,
  type AccessLogFilter,
  type AnyMessage,
  ApiVersion,
  type CommonGrpcAccessLogConfig,
  ComparisonFilter_Op,
  type SubstitutionFormatString,
  type TypedExtensionConfig,
} from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';

/** Access logs by place; each list keeps its identity while the settings are equal. */
export interface AccessLogs {
  readonly http: readonly AccessLog[];
  readonly tcp: readonly AccessLog[];
  readonly listener: readonly AccessLog[];
  /** Where a tunnel is opened: connections that fail. */
  readonly tunnelOpened: readonly AccessLog[];
  /** Where a tunnel ends: requests for tunnels that fail. */
  readonly tunnelTaken: readonly AccessLog[];
}

export const accessLogGenerator: Generator<{ readonly specs: readonly AccessLogSpec[] }, AccessLogs> = {
  name: 'listener/accessLogs',
  run: ({ specs }) => ({
    http: specs.map(spec => accessLog(spec, 'http')),
    tcp: specs.map(spec => accessLog(spec, 'tcp')),
    listener: specs.map(spec => accessLog(spec, 'listener')),
    tunnelOpened: specs.filter(logsTunnels).map(spec => accessLog(spec, 'tunnelOpened')),
    tunnelTaken: specs.filter(logsTunnels).map(spec => accessLog(spec, 'tunnelTaken')),
  }),
};

type Place = keyof AccessLogs;

/** As in Istio, `enableEnvoyAccessLogService` is about traffic alone. */
function logsTunnels({ kind }: AccessLogSpec): boolean {
  return kind !== 'envoy-als';
}

const FAILED_STATUS_MIN = 400;

/** The connections and requests that a place logs; those of the rest log all. */
const ofPlace: Partial<Readonly<Record<Place, AccessLogFilter>>> = {
  // No filter chain takes the connection.
  listener: { responseFlagFilter: { flags: ['NR'] } },
  // The upstream cannot be reached.
  tunnelOpened: { responseFlagFilter: { flags: ['UF'] } },
  // Envoy demands a runtime key; nothing sets this one.
  tunnelTaken: {
    statusCodeFilter: {
      comparison: {
        op: ComparisonFilter_Op.GE,
        value: { defaultValue: FAILED_STATUS_MIN, runtimeKey: 'istio.io/unset' },
      },
    },
  },
};

function accessLog(spec: AccessLogSpec, place: Place): AccessLog {
  const filter = filterOf(spec.filter, place);
  const log = sinkOf(spec, place);
  return filter === undefined ? log : { ...log, filter };
}

function filterOf(expression: string | undefined, place: Place): AccessLogFilter | undefined {
  const cel: AccessLogFilter | undefined =
    expression === undefined
      ? undefined
      : {
          extensionFilter: {
            name: 'envoy.access_loggers.extension_filters.cel',
            typedConfig: any('envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter', { expression }),
          },
        };
  const own = ofPlace[place];
  if (own === undefined || cel === undefined) return own ?? cel;
  return { andFilter: { filters: [own, cel] } };
}

function sinkOf(spec: AccessLogSpec, place: Place): AccessLog {
  switch (spec.kind) {
    case 'file':
      return {
        name: 'envoy.access_loggers.file',
        typedConfig: any('envoy.extensions.access_loggers.file.v3.FileAccessLog', {
          path: spec.path,
          logFormat: spec.format && logFormat(spec.format, spec.omitEmptyValues),
        }),
      };
    case 'http-als': {
      const common = commonConfig(spec);
      return httpAls(common, spec.requestHeaders, spec.responseHeaders, spec.responseTrailers);
    }
    case 'tcp-als':
      return tcpAls(commonConfig(spec));
    case 'otel':
      return otelAls(spec);
    case 'envoy-als':
      return envoyAls(place);
  }
}

function httpAls(
  commonConfig: CommonGrpcAccessLogConfig,
  requestHeaders: readonly string[],
  responseHeaders: readonly string[],
  responseTrailers: readonly string[],
): AccessLog {
  return {
    name: 'envoy.access_loggers.http_grpc',
    typedConfig: any('envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
      commonConfig,
      additionalRequestHeadersToLog: orNone(requestHeaders),
      additionalResponseHeadersToLog: orNone(responseHeaders),
      additionalResponseTrailersToLog: orNone(responseTrailers),
    }),
  };
}

function tcpAls(commonConfig: CommonGrpcAccessLogConfig): AccessLog {
  return {
    name: 'envoy.tcp_grpc_access_log',
    typedConfig: any('envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig', { commonConfig }),
  };
}

function commonConfig(sink: {
  readonly cluster: string;
  readonly authority?: string;
  readonly logName: string;
  readonly filterStateObjects: readonly string[];
}): CommonGrpcAccessLogConfig {
  return {
    logName: sink.logName,
    grpcService: { envoyGrpc: { clusterName: sink.cluster, authority: sink.authority } },
    transportApiVersion: ApiVersion.V3,
    filterStateObjectsToLog: sink.filterStateObjects,
  };
}

/** `enableEnvoyAccessLogService`: one log name a place. */
function envoyAls(place: Place): AccessLog {
  const sink = {
    cluster: 'envoy_accesslog_service',
    logName: `${place}_envoy_accesslog`,
    filterStateObjects: allPeerStateNames,
  };
  const common = commonConfig(sink);
  return place === 'http' ? httpAls(common, [], [], []) : tcpAls(common);
}

function otelAls(spec: AccessLogSpec & { readonly kind: 'otel' }): AccessLog {
  const text = spec.text === '' ? DEFAULT_TEXT_FORMAT : spec.text;
  const values = Object.keys(spec.labels)
    .sort(compareText)
    .map(key => ({ key, value: { stringValue: textOf(spec.labels[key]) } }));
  return {
    name: 'envoy.access_loggers.open_telemetry',
    typedConfig: any('envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig', {
      commonConfig: commonConfig(spec),
      disableBuiltinLabels: true,
      body: { stringValue: text },
      attributes: values.length === 0 ? undefined : { values },
      formatters: formattersOf([text, ...Object.values(spec.labels)]),
    }),
  };
}

/** A label that is no text is sent empty. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function logFormat(format: LogFormat, omitEmptyValues: boolean): SubstitutionFormatString {
  const omit = omitEmptyValues ? true : undefined;
  if (format.kind === 'text') {
    const text = format.text === '' ? DEFAULT_TEXT_FORMAT : format.text;
    return { textFormatSource: { inlineString: text }, omitEmptyValues: omit, formatters: formattersOf([text]) };
  }
  const labels = format.labels ?? DEFAULT_JSON_FORMAT;
  return {
    jsonFormat: labels,
    jsonFormatOptions: {},
    omitEmptyValues: omit,
    formatters: formattersOf(Object.values(labels)),
  };
}

/** `%REQ_WITHOUT_QUERY(…)%` comes from a formatter extension that must be named. */
function formattersOf(texts: readonly unknown[]): readonly TypedExtensionConfig[] | undefined {
  if (!texts.some(text => typeof text === 'string' && text.includes('%REQ_WITHOUT_QUERY'))) return undefined;
  const typedConfig: AnyMessage = any('envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery', {});
  return [{ name: 'envoy.formatter.req_without_query', typedConfig }];
}

const DEFAULT_TEXT_FORMAT = `${[
  '[%START_TIME%]',
  '"%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%"',
  '%RESPONSE_CODE%',
  '%RESPONSE_FLAGS%',
  '%RESPONSE_CODE_DETAILS%',
  '%CONNECTION_TERMINATION_DETAILS%',
  '"%UPSTREAM_TRANSPORT_FAILURE_REASON%"',
  '%BYTES_RECEIVED%',
  '%BYTES_SENT%',
  '%DURATION%',
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
  '"%REQ(X-FORWARDED-FOR)%"',
  '"%REQ(USER-AGENT)%"',
  '"%REQ(X-REQUEST-ID)%"',
  '"%REQ(:AUTHORITY)%"',
  '"%UPSTREAM_HOST%"',
  '%UPSTREAM_CLUSTER_RAW%',
  '%UPSTREAM_LOCAL_ADDRESS%',
  '%DOWNSTREAM_LOCAL_ADDRESS%',
  '%DOWNSTREAM_REMOTE_ADDRESS%',
  '%REQUESTED_SERVER_NAME%',
  '%ROUTE_NAME%',
].join(' ')}\n`;

const DEFAULT_JSON_FORMAT: JsonObject = {
  start_time: '%START_TIME%',
  route_name: '%ROUTE_NAME%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  protocol: '%PROTOCOL%',
  response_code: '%RESPONSE_CODE%',
  response_flags: '%RESPONSE_FLAGS%',
  response_code_details: '%RESPONSE_CODE_DETAILS%',
  connection_termination_details: '%CONNECTION_TERMINATION_DETAILS%',
  bytes_received: '%BYTES_RECEIVED%',
  bytes_sent: '%BYTES_SENT%',
  duration: '%DURATION%',
  upstream_service_time: '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
  x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
  user_agent: '%REQ(USER-AGENT)%',
  request_id: '%REQ(X-REQUEST-ID)%',
  authority: '%REQ(:AUTHORITY)%',
  upstream_host: '%UPSTREAM_HOST%',
  upstream_cluster: '%UPSTREAM_CLUSTER_RAW%',
  upstream_local_address: '%UPSTREAM_LOCAL_ADDRESS%',
  downstream_local_address: '%DOWNSTREAM_LOCAL_ADDRESS%',
  downstream_remote_address: '%DOWNSTREAM_REMOTE_ADDRESS%',
  requested_server_name: '%REQUESTED_SERVER_NAME%',
  upstream_transport_failure_reason: '%UPSTREAM_TRANSPORT_FAILURE_REASON%',
};
