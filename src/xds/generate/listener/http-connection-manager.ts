// HTTP connection managers: a base that all chains of a class of traffic share, made once, and the chain's routes,
// statistics prefix and filters.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildHTTPConnectionManager),
// pilot/pkg/networking/core/gateway.go (createGatewayHTTPFilterChainOpts),
// pilot/pkg/networking/util/proxy_headers.go.

import { isObject, type JsonObject } from '../../../core/base/json.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { HcmSettings } from '../../../core/select/listener/http-connection-manager.ts';
import { isWaypointTraffic, type TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
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
import { orNone } from '../common/or-none.ts';
import { addressRanges } from './cidr.ts';

const SERVER_NAME = 'istio-envoy';

export const hcmFilter: Generator<
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
    // Member by member: there can be one for each Gateway, and objects made by spreading cost many times as much.
    const config = {
      '@type': HCM_URL,
      statPrefix,
      rds: typeof routes === 'string' ? rds(routes) : undefined,
      routeConfig: typeof routes === 'string' ? undefined : routes,
      useRemoteAddress: base.useRemoteAddress,
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

/** The fields that do not depend on the chain. */
export type HcmBase = Pick<
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

interface BaseInputs extends HcmSettings {
  readonly accessLog: HttpConnectionManager['accessLog'];
  readonly tracing: HttpConnectionManager['tracing'];
}

/** The part that all chains of a class of traffic share. */
export const hcmBaseGenerator: Generator<BaseInputs, HcmBase> = {
  name: 'listener/hcmBase',
  run: inputs => {
    const { traffic, headers } = inputs;
    const idleTimeout = durationOf(inputs.idleTimeout);
    const requestId = part(headers, 'requestId');
    const path = pathNormalization(inputs.pathNormalization);
    const server = serverHeader(traffic, part(headers, 'server'));
    const internal = addressRanges(inputs.internalNetworks);
    const certificate: Partial<HcmBase> = isWaypointTraffic(traffic)
      ? { forwardClientCertDetails: inputs.forwardsIdentity ? ForwardDetails.ALWAYS_FORWARD_ONLY : undefined }
      : clientCertificate(traffic, headers, inputs.topology ?? {});
    return {
      streamIdleTimeout: ZERO_DURATION,
      upgradeConfigs,
      proxy100Continue: inputs.continue100 ? true : undefined,
      requestIdExtension: requestIdExtension(inputs.sampleByRequestId),
      normalizePath: path.normalizePath,
      mergeSlashes: path.mergeSlashes,
      pathWithEscapedSlashesAction: path.pathWithEscapedSlashesAction,
      useRemoteAddress: { value: inputs.useRemoteAddress },
      internalAddressConfig: internal.length === 0 ? undefined : { cidrRanges: internal },
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

/**
 * The fields that follow from ProxyConfig.proxyHeaders, of a connection manager without a base; `suppressDebugHeaders`
 * is for its router.
 */
export function headerFields(
  traffic: TrafficClass,
  headers: JsonObject,
): Pick<HcmBase, 'serverName' | 'serverHeaderTransformation' | 'generateRequestId' | 'forwardClientCertDetails'> & {
  readonly suppressDebugHeaders: boolean;
} {
  const { serverName, serverHeaderTransformation } = serverHeader(traffic, part(headers, 'server'));
  return {
    serverName,
    serverHeaderTransformation,
    generateRequestId: part(headers, 'requestId').disabled === true ? { value: false } : undefined,
    forwardClientCertDetails: clientCertificate(traffic, headers, {}).forwardClientCertDetails,
    suppressDebugHeaders: part(headers, 'envoyDebugHeaders').disabled === true,
  };
}

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

/** The forwarded details of the client's certificate. An outbound listener's client is local and has none. */
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

function pathNormalization(kind: string): Partial<HcmBase> {
  const merge = kind === 'MERGE_SLASHES' || kind === 'DECODE_AND_MERGE_SLASHES';
  return {
    normalizePath: { value: kind !== 'NONE' },
    mergeSlashes: merge ? true : undefined,
    pathWithEscapedSlashesAction:
      kind === 'DECODE_AND_MERGE_SLASHES' ? EscapedSlashes.UNESCAPE_AND_FORWARD : EscapedSlashes.KEEP_UNCHANGED,
  };
}
