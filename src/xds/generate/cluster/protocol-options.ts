// HTTP options of a cluster: version, limits of its connections, SNI from the requested name.
// Source: Istio pilot/pkg/networking/core/cluster_builder.go, pilot/pkg/networking/core/cluster_traffic_policy.go.

import type { Duration } from '../../../core/schema/duration.ts';
import type { ConnectionPoolSettings } from '../../../core/schema/istio-types.gen.ts';
import type { UpstreamProtocol } from '../../../core/select/cluster/upstream-protocol.ts';
import { any } from '../../proto/any.ts';
import type {
  AnyMessage,
  ExtensionHttpProtocolOptions,
  Http1ProtocolOptions,
  Http2ProtocolOptions,
  HttpProtocolOptions,
} from '../../proto/types.gen.ts';
import { lastOf } from '../common/last.ts';
import { positive } from './connection-pool.ts';

const OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

export interface ProtocolFacts {
  readonly finalProtocol: UpstreamProtocol;
  readonly headerCase: boolean;
  readonly connectionPool: ConnectionPoolSettings | undefined;
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
}

export type TypedOptions = Readonly<Record<string, AnyMessage>>;

/** Undefined for plain HTTP/1.1 and TCP, which need no options. */
export function protocolOptions(facts: ProtocolFacts): TypedOptions | undefined {
  const { finalProtocol, headerCase, connectionPool, autoSni, autoSanValidation } = facts;
  return optionsOf(finalProtocol, headerCase, connectionPool, autoSni, autoSanValidation);
}

const optionsOf = lastOf(
  (
    finalProtocol: UpstreamProtocol,
    headerCase: boolean,
    connectionPool: ConnectionPoolSettings | undefined,
    autoSni: boolean,
    autoSanValidation: boolean,
  ) => madeOptions({ finalProtocol, headerCase, connectionPool, autoSni, autoSanValidation }),
);

function madeOptions(facts: ProtocolFacts): TypedOptions | undefined {
  const common = connectionOptions(facts.connectionPool);
  const sni = facts.autoSni || facts.autoSanValidation;
  if (facts.finalProtocol === 'unset' && common === undefined && !sni) return undefined;
  return typedOptions({
    commonHttpProtocolOptions: common,
    upstreamHttpProtocolOptions: sni
      ? { autoSni: facts.autoSni || undefined, autoSanValidation: facts.autoSanValidation || undefined }
      : undefined,
    ...version(facts),
  });
}

export function typedOptions(options: ExtensionHttpProtocolOptions): TypedOptions {
  return { [OPTIONS]: any(OPTIONS, options) };
}

/** Of clusters that pass connections on as they are: the client's protocol. */
export function passthroughOptionsOf(headerCase: boolean): TypedOptions {
  return typedOptions({
    commonHttpProtocolOptions: { idleTimeout: PASSTHROUGH_IDLE },
    useDownstreamProtocolConfig: { httpProtocolOptions: http1Options(headerCase), http2ProtocolOptions: {} },
  });
}

const PASSTHROUGH_IDLE: Duration = { seconds: 300, nanos: 0 };

/** HTTP/1.1 header names keep their case if the proxy's settings demand it. */
export function http1Options(headerCase: boolean): Http1ProtocolOptions {
  if (!headerCase) return {};
  return {
    headerKeyFormat: {
      statefulFormatter: {
        name: 'preserve_case',
        typedConfig: any('envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig', {}),
      },
    },
  };
}

function version(facts: ProtocolFacts): ExtensionHttpProtocolOptions {
  const explicitHttp1 = http1Options(facts.headerCase);
  switch (facts.finalProtocol) {
    case 'http2':
      return { explicitHttpConfig: { http2ProtocolOptions: http2Options(facts) } };
    case 'downstream':
      return { useDownstreamProtocolConfig: { httpProtocolOptions: explicitHttp1, http2ProtocolOptions: {} } };
    default:
      return { explicitHttpConfig: { httpProtocolOptions: explicitHttp1 } };
  }
}

function http2Options(facts: ProtocolFacts): Http2ProtocolOptions {
  const streams = positive(facts.connectionPool?.http?.maxConcurrentStreams);
  return streams === undefined ? {} : { maxConcurrentStreams: { value: streams } };
}

function connectionOptions(pool: ConnectionPoolSettings | undefined): HttpProtocolOptions | undefined {
  const idleTimeout = pool?.http?.idleTimeout ?? pool?.tcp?.idleTimeout;
  const maxConnectionDuration = pool?.tcp?.maxConnectionDuration;
  const requests = positive(pool?.http?.maxRequestsPerConnection);
  const streams = positive(pool?.http?.maxConcurrentStreams);
  if (
    idleTimeout === undefined &&
    maxConnectionDuration === undefined &&
    requests === undefined &&
    streams === undefined
  ) {
    return undefined;
  }
  return {
    idleTimeout,
    maxConnectionDuration,
    maxRequestsPerConnection: requests === undefined ? undefined : { value: requests },
  };
}
