// HTTP connection managers (spec-listeners §7.2; Istio core/listener_builder.go, core/gateway.go, pilot/pkg/networking/util/proxy_headers.go).
//
// What all chains of one class of traffic have in common is one query (`hcmBase`), made once and shared; a chain adds its routes, its
// statistics prefix and its filters.

import { isObject, type JsonObject } from '../../../core/base/json.ts';
import { compareText } from '../../../core/model/object.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { gatewayTopology, metadataText, proxyHeaders } from '../../../core/select/proxy/proxy-config.ts';
import { tracing } from '../../../core/select/telemetry/tracing.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { any, typeUrl } from '../../proto/any.ts';
import {
  ApiVersion,
  HttpConnectionManager_PathWithEscapedSlashesAction as EscapedSlashes,
  type Filter,
  HttpConnectionManager_ForwardClientCertDetails as ForwardDetails,
  type Http1ProtocolOptions,
  type HttpConnectionManager,
  HttpConnectionManager_CodecType,
  type HttpFilter,
  type RouteConfiguration,
  HttpConnectionManager_ServerHeaderTransformation as ServerHeader,
} from '../../proto/types.gen.ts';
import { durationOf, ZERO_DURATION } from '../common/duration.ts';
import { lastOf } from '../common/last.ts';
import { accessLogsOf, orNone } from './access-log.ts';
import { cidrRange } from './cidr.ts';
import { type HttpChainTraits, httpFilters } from './http-filters.ts';
import { tracingGenerator } from './tracing.ts';

const SERVER_NAME = 'istio-envoy';

export interface HttpChain extends HttpChainTraits {
  readonly statPrefix: string;
  /** Name of the route configuration asked for over RDS, or the route configuration itself. */
  readonly routes: string | RouteConfiguration;
  /** The port speaks HTTP/2 (inbound only). */
  readonly http2: boolean;
  /** HTTP/3 and nothing else; undefined: no. */
  readonly http3?: boolean;
}

/** The network filter of an HTTP chain. */
export function httpConnectionManager(reader: ProxyReader, chain: HttpChain): Filter {
  return reader.make(hcmFilter, {
    base: reader.get(hcmBase, chain.traffic),
    filters: httpFilters(reader, chain),
    statPrefix: chain.statPrefix,
    routes: chain.routes,
    http2: chain.http2,
    http3: chain.http3 === true,
    httpProxy: chain.httpProxy,
  });
}

const hcmFilter: Generator<
  {
    readonly base: HcmBase;
    readonly filters: readonly HttpFilter[];
    readonly statPrefix: string;
    readonly routes: string | RouteConfiguration;
    readonly http2: boolean;
    readonly http3: boolean;
    readonly httpProxy: boolean;
  },
  Filter
> = {
  name: 'listener/httpConnectionManager',
  run: ({ base, filters, statPrefix, routes, http2, http3, httpProxy }) => {
    // Written out: there can be one for each Gateway, and objects put together by spreading cost many times as much.
    const config = {
      '@type': HCM_URL,
      statPrefix,
      rds: typeof routes === 'string' ? rds(routes) : undefined,
      routeConfig: typeof routes === 'string' ? undefined : routes,
      // The HTTP proxy port is for clients beside the proxy, whatever is said of others.
      useRemoteAddress: httpProxy ? { value: false } : base.useRemoteAddress,
      httpFilters: filters,
      http2ProtocolOptions: http2 ? {} : undefined,
      codecType: http3 ? HttpConnectionManager_CodecType.HTTP3 : undefined,
      http3ProtocolOptions: http3 ? {} : undefined,
      httpProtocolOptions: httpProxy
        ? { ...base.httpProtocolOptions, allowAbsoluteUrl: { value: true } }
        : base.httpProtocolOptions,
      streamIdleTimeout: base.streamIdleTimeout,
      upgradeConfigs: base.upgradeConfigs,
      proxy100Continue: base.proxy100Continue,
      requestIdExtension: base.requestIdExtension,
      normalizePath: base.normalizePath,
      mergeSlashes: base.mergeSlashes,
      pathWithEscapedSlashesAction: base.pathWithEscapedSlashesAction,
      internalAddressConfig: base.internalAddressConfig,
      serverName: base.serverName,
      serverHeaderTransformation: base.serverHeaderTransformation,
      generateRequestId: base.generateRequestId,
      appendXForwardedPort: base.appendXForwardedPort,
      commonHttpProtocolOptions: base.commonHttpProtocolOptions,
      forwardClientCertDetails: base.forwardClientCertDetails,
      setCurrentClientCertDetails: base.setCurrentClientCertDetails,
      xffNumTrustedHops: base.xffNumTrustedHops,
      accessLog: base.accessLog,
      tracing: base.tracing,
    } satisfies HttpConnectionManager & Record<keyof HcmBase | '@type', unknown>;
    return { name: 'envoy.filters.network.http_connection_manager', typedConfig: config };
  },
};

const HCM_URL = typeUrl('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager');

/** What does not depend on the chain. */
type HcmBase = Pick<
  HttpConnectionManager,
  | 'streamIdleTimeout'
  | 'upgradeConfigs'
  | 'proxy100Continue'
  | 'requestIdExtension'
  | 'normalizePath'
  | 'mergeSlashes'
  | 'pathWithEscapedSlashesAction'
  | 'useRemoteAddress'
  | 'internalAddressConfig'
  | 'serverName'
  | 'serverHeaderTransformation'
  | 'generateRequestId'
  | 'appendXForwardedPort'
  | 'httpProtocolOptions'
  | 'commonHttpProtocolOptions'
  | 'forwardClientCertDetails'
  | 'setCurrentClientCertDetails'
  | 'xffNumTrustedHops'
  | 'accessLog'
  | 'tracing'
>;

function rds(routeConfigName: string): HttpConnectionManager['rds'] {
  return { configSource: rdsSource, routeConfigName };
}

const rdsSource = { ads: {}, initialFetchTimeout: ZERO_DURATION, resourceApiVersion: ApiVersion.V3 };

/** Argument: the class of traffic. Everything that does not depend on the chain. */
const hcmBase: Query<TrafficClass, HcmBase> = {
  name: 'generate/hcmBase',
  run: (reader, traffic) => {
    const choice = reader.get(tracing, traffic);
    const useRemoteAddress =
      traffic === 'gateway' || (traffic === 'outbound' && reader.feature('PILOT_SIDECAR_USE_REMOTE_ADDRESS'));
    const internal = useRemoteAddress || reader.feature('ENABLE_HCM_INTERNAL_NETWORKS');
    return reader.make(hcmBaseGenerator, {
      traffic,
      headers: reader.derived(proxyHeaders),
      topology: traffic === 'gateway' ? reader.derived(gatewayTopology) : undefined,
      pathNormalization: normalizationOf(reader),
      useRemoteAddress,
      internalNetworks: internal ? internalNetworks(reader) : [],
      continue100: reader.feature('ENABLE_100_CONTINUE_HEADERS'),
      http10: reader.feature('PILOT_HTTP10') || metadataText(reader, 'HTTP10') === '1',
      idleTimeout: metadataText(reader, 'IDLE_TIMEOUT'),
      accessLog: reader.get(accessLogsOf, traffic).http,
      tracing: choice.tracing === undefined ? undefined : reader.make(tracingGenerator, { spec: choice.tracing }),
      sampleByRequestId: choice.useRequestIdForTraceSampling,
    });
  },
};

interface BaseInputs {
  readonly traffic: TrafficClass;
  readonly headers: JsonObject;
  readonly topology: JsonObject | undefined;
  readonly pathNormalization: string;
  readonly useRemoteAddress: boolean;
  /** `prefix/length`, sorted. */
  readonly internalNetworks: readonly string[];
  readonly continue100: boolean;
  readonly http10: boolean;
  readonly idleTimeout: string;
  readonly accessLog: HttpConnectionManager['accessLog'];
  readonly tracing: HttpConnectionManager['tracing'];
  readonly sampleByRequestId: boolean;
}

const hcmBaseGenerator: Generator<BaseInputs, HcmBase> = {
  name: 'listener/hcmBase',
  run: inputs => {
    const { traffic, headers } = inputs;
    const idleTimeout = durationOf(inputs.idleTimeout);
    const requestId = part(headers, 'requestId');
    const path = pathNormalization(inputs.pathNormalization);
    const server = serverHeader(traffic, part(headers, 'server'));
    const certificate = clientCertificate(traffic, headers, inputs.topology ?? {});
    return {
      streamIdleTimeout: ZERO_DURATION,
      upgradeConfigs,
      proxy100Continue: inputs.continue100 ? true : undefined,
      requestIdExtension: requestIdExtension(inputs.sampleByRequestId),
      normalizePath: path.normalizePath,
      mergeSlashes: path.mergeSlashes,
      pathWithEscapedSlashesAction: path.pathWithEscapedSlashesAction,
      useRemoteAddress: { value: inputs.useRemoteAddress },
      internalAddressConfig:
        inputs.internalNetworks.length === 0 ? undefined : { cidrRanges: inputs.internalNetworks.map(cidrRange) },
      serverName: server.serverName,
      serverHeaderTransformation: server.serverHeaderTransformation,
      generateRequestId: requestId.disabled === true ? { value: false } : undefined,
      appendXForwardedPort: part(headers, 'xForwardedPort').enabled === true ? true : undefined,
      httpProtocolOptions: http1Options(traffic, inputs.http10, headers.preserveHttp1HeaderCase === true),
      commonHttpProtocolOptions: idleTimeout === undefined ? undefined : { idleTimeout },
      forwardClientCertDetails: certificate.forwardClientCertDetails,
      setCurrentClientCertDetails: certificate.setCurrentClientCertDetails,
      xffNumTrustedHops: trustedHops(inputs.topology),
      accessLog: orNone(inputs.accessLog ?? []),
      tracing: inputs.tracing,
    };
  },
};

const upgradeConfigs = [{ upgradeType: 'websocket' }];

const requestIdExtension = lastOf((sampleByRequestId: boolean): HttpConnectionManager['requestIdExtension'] => ({
  typedConfig: any('envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig', {
    useRequestIdForTraceSampling: { value: sampleByRequestId },
  }),
}));

function part(headers: JsonObject, name: string): JsonObject {
  const value = headers[name];
  return isObject(value) ? value : {};
}

function trustedHops(topology: JsonObject | undefined): number | undefined {
  const hops = topology?.numTrustedProxies;
  return typeof hops === 'number' && hops > 0 ? hops : undefined;
}

function serverHeader(traffic: TrafficClass, server: JsonObject): Partial<HcmBase> {
  if (server.disabled === true) return { serverHeaderTransformation: ServerHeader.PASS_THROUGH };
  if (typeof server.value === 'string' && server.value !== '') return { serverName: server.value };
  return traffic === 'outbound' ? {} : { serverName: SERVER_NAME };
}

function http1Options(
  traffic: TrafficClass,
  acceptHttp10: boolean,
  preserveCase: boolean,
): Http1ProtocolOptions | undefined {
  if (traffic !== 'gateway' && !acceptHttp10 && !preserveCase) return undefined;
  return {
    acceptHttp10: acceptHttp10 ? true : undefined,
    headerKeyFormat: preserveCase ? { statefulFormatter: preserveCaseFormatter } : undefined,
  };
}

const preserveCaseFormatter = {
  name: 'preserve_case',
  typedConfig: any('envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig', {}),
};

/** What is passed on of the client's certificate. A client-side proxy has none to speak of. */
function clientCertificate(traffic: TrafficClass, headers: JsonObject, topology: JsonObject): Partial<HcmBase> {
  if (traffic === 'outbound') return {};
  if (traffic === 'inbound') {
    const details = part(headers, 'setCurrentClientCertDetails');
    return {
      forwardClientCertDetails: forwardDetails(headers.forwardedClientCert) ?? ForwardDetails.APPEND_FORWARD,
      setCurrentClientCertDetails: {
        subject: { value: details.subject !== false },
        uri: details.uri !== false ? true : undefined,
        dns: details.dns !== false ? true : undefined,
        cert: details.cert === true ? true : undefined,
        chain: details.chain === true ? true : undefined,
      },
    };
  }
  const forward = forwardDetails(topology.forwardClientCertDetails) ?? ForwardDetails.SANITIZE_SET;
  const says = forward === ForwardDetails.APPEND_FORWARD || forward === ForwardDetails.SANITIZE_SET;
  return {
    forwardClientCertDetails: forward,
    setCurrentClientCertDetails: says ? { subject: { value: true }, cert: true, dns: true, uri: true } : undefined,
  };
}

/** UNDEFINED and unknown texts leave the default. */
function forwardDetails(value: unknown): ForwardDetails | undefined {
  return typeof value === 'string' && Object.hasOwn(ForwardDetails, value)
    ? ForwardDetails[value as keyof typeof ForwardDetails]
    : undefined;
}

function normalizationOf(reader: ProxyReader): string {
  const settings = reader.mesh('pathNormalization');
  const value = isObject(settings) ? settings.normalization : undefined;
  return typeof value === 'string' ? value : 'DEFAULT';
}

function pathNormalization(kind: string): Partial<HcmBase> {
  const merge = kind === 'MERGE_SLASHES' || kind === 'DECODE_AND_MERGE_SLASHES';
  return {
    normalizePath: { value: kind !== 'NONE' },
    mergeSlashes: merge ? true : undefined,
    pathWithEscapedSlashesAction:
      kind === 'DECODE_AND_MERGE_SLASHES' ? EscapedSlashes.UNESCAPE_AND_FORWARD : EscapedSlashes.KEEP_UNCHANGED,
  };
}

/** Every `fromCidr` of the mesh's networks: addresses that count as internal. */
function internalNetworks(reader: ProxyReader): readonly string[] {
  const networks = reader.networks().networks;
  const ranges = new Set<string>();
  for (const network of isObject(networks) ? Object.values(networks) : []) {
    const endpoints = isObject(network) && Array.isArray(network.endpoints) ? network.endpoints : [];
    for (const endpoint of endpoints) {
      if (isObject(endpoint) && typeof endpoint.fromCidr === 'string') ranges.add(endpoint.fromCidr);
    }
  }
  return [...ranges].sort(byAddress);
}

function byAddress(a: string, b: string): number {
  const [addressA = '', lengthA = ''] = a.split('/');
  const [addressB = '', lengthB = ''] = b.split('/');
  return compareText(addressA, addressB) || Number(lengthA) - Number(lengthB);
}
