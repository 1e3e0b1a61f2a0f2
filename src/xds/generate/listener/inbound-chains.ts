// Filter chains of traffic that comes to the workload: which of them a port has follows from its protocol and its mTLS mode
// (spec-listeners §4.3, §4.4, §4.6; Istio core/listener_inbound.go, core/filterchain_options.go).

import { isHttp, isHttp2, isTcp } from '../../../core/model/protocol.ts';
import type { Protocol } from '../../../core/model/service.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { INBOUND_PASSTHROUGH_CLUSTER, inboundClusterName } from '../../../core/select/cluster/cluster-names.ts';
import { inboundStatPrefix } from '../../../core/select/cluster/common.ts';
import { type InboundPort, type InboundTls, inboundTls } from '../../../core/select/listener/inbound-listeners.ts';
import { plainTcpRoute } from '../../../core/select/listener/tcp-routes.ts';
import type { Filter, FilterChain, RouteConfiguration, TransportSocket } from '../../proto/types.gen.ts';
import { ZERO_DURATION } from '../common/duration.ts';
import { accessLogsOf } from './access-log.ts';
import { MESH_ALL, MESH_HTTP, MESH_TCP, plainHttp } from './alpn.ts';
import { serverTlsSocket } from './gateway-tls.ts';
import { httpConnectionManager } from './http-connection-manager.ts';
import { networkMetadataExchange } from './istio-filters.ts';
import { configMetadata, listenerName } from './listener-parts.ts';
import { meshTlsSocket } from './mesh-tls.ts';
import { networkFilters } from './network-filters.ts';
import { terminalFilters } from './tcp-proxy.ts';

type Carries = 'http' | 'tcp';

/** One chain of a port: what it matches, whether it ends mesh mTLS, and what it carries then. */
interface Row {
  readonly transport: 'tls' | 'raw_buffer';
  readonly alpn?: readonly string[];
  readonly mtls: boolean;
  readonly carries: Carries;
}

/** The table of spec-listeners §4.3. A proxy that cannot do the mTLS it should has no chain: connections are refused. */
function rowsOf(reader: ProxyReader, mode: InboundTls, protocol: Protocol): readonly Row[] {
  if (mode === 'refuse') return [];
  if (isHttp(protocol)) return singleProtocolRows(mode, 'http');
  if (isTcp(protocol) || protocol === 'UDP') return singleProtocolRows(mode, 'tcp');
  const plainHttpRow: Row = { transport: 'raw_buffer', alpn: plainHttp(reader), mtls: false, carries: 'http' };
  const plainTcpRow: Row = { transport: 'raw_buffer', mtls: false, carries: 'tcp' };
  const meshHttpRow: Row = { transport: 'tls', alpn: MESH_HTTP, mtls: true, carries: 'http' };
  if (mode === 'DISABLE') return [plainHttpRow, plainTcpRow];
  if (mode === 'STRICT') return [meshHttpRow, { transport: 'tls', mtls: true, carries: 'tcp' }];
  return [
    meshHttpRow,
    plainHttpRow,
    { transport: 'tls', alpn: MESH_TCP, mtls: true, carries: 'tcp' },
    plainTcpRow,
    { transport: 'tls', mtls: false, carries: 'tcp' },
  ];
}

function singleProtocolRows(mode: InboundTls, carries: Carries): readonly Row[] {
  const plain: Row = { transport: 'raw_buffer', mtls: false, carries };
  if (mode === 'DISABLE') return [plain];
  if (mode === 'STRICT') return [{ transport: 'tls', mtls: true, carries }];
  const mesh: Row = { transport: 'tls', alpn: MESH_ALL, mtls: true, carries };
  // TLS of the application itself is passed on as it is.
  return carries === 'http' ? [mesh, plain] : [mesh, { transport: 'tls', mtls: false, carries }, plain];
}

/** What a port's chains do with a connection once it has matched. */
interface InboundTarget {
  readonly cluster: string;
  readonly tcpStatPrefix: string;
  readonly httpStatPrefix: string;
  readonly protocol: Protocol;
  readonly routes: RouteConfiguration;
  readonly httpName: string;
  readonly tcpName: string;
  readonly config?: { readonly namespace: string; readonly name: string };
}

/** The chains of a port of the workload. */
export function portChains(reader: ProxyReader, port: InboundPort): readonly FilterChain[] {
  const cluster = inboundClusterName(port.targetPort);
  const name = listenerName(port.bind, port.targetPort);
  const pattern = reader.mesh('inboundClusterStatName') as string | undefined;
  const grpc = port.port.protocol === 'GRPC' || port.port.protocol === 'GRPC-Web';
  const target: InboundTarget = {
    cluster,
    tcpStatPrefix: inboundStatPrefix(pattern, cluster, port.traceHost, port.service, port.port),
    httpStatPrefix: `inbound_${name};`,
    protocol: port.port.protocol,
    routes: reader.make(inboundRoutes, {
      cluster,
      port: port.port.port,
      operation: `${port.traceHost}:${port.port.port}/*`,
      retries: !grpc,
    }),
    httpName: name,
    tcpName: name,
    config: port.config,
  };
  const mode = inboundTls(reader, port.targetPort);
  if (port.tls === undefined || mode !== 'DISABLE') return chainsOf(reader, port.targetPort, mode, target);
  const socket = serverTlsSocket(reader, port.tls, true);
  if (socket === undefined) return [];
  const carries = isHttp(target.protocol) ? 'http' : 'tcp';
  const row: Row = { transport: 'tls', mtls: false, carries };
  return [chainOf(reader, port.targetPort, row, socket, target, stackOf(reader, carries, target))];
}

/**
 * The chains of traffic to ports that nothing is configured for; `port` 0 for all of them, else one that has an mTLS mode of its own.
 */
export function passthroughChains(reader: ProxyReader, port: number): readonly FilterChain[] {
  const cluster = INBOUND_PASSTHROUGH_CLUSTER;
  const pattern = reader.mesh('inboundClusterStatName') as string | undefined;
  return chainsOf(reader, port, inboundTls(reader, port), {
    cluster,
    tcpStatPrefix: inboundStatPrefix(pattern, cluster, '', undefined, { port: 0, name: 'virtualInbound' }),
    httpStatPrefix: `${cluster};`,
    protocol: 'Unsupported',
    routes: reader.make(inboundRoutes, { cluster, port: 0, operation: ':0/*', retries: true }),
    httpName: 'virtualInbound-catchall-http',
    tcpName: 'virtualInbound',
  });
}

function chainsOf(
  reader: ProxyReader,
  destinationPort: number,
  mode: InboundTls,
  target: InboundTarget,
): readonly FilterChain[] {
  const stacks: Partial<Record<Carries, readonly Filter[]>> = {};
  return rowsOf(reader, mode, target.protocol).map(row => {
    const socket = row.mtls ? reader.get(meshTlsSocket, row.carries) : undefined;
    const filters = stacks[row.carries] ?? stackOf(reader, row.carries, target);
    stacks[row.carries] = filters;
    return chainOf(reader, destinationPort, row, socket, target, filters);
  });
}

function chainOf(
  reader: ProxyReader,
  destinationPort: number,
  row: Row,
  socket: TransportSocket | undefined,
  target: InboundTarget,
  filters: readonly Filter[],
): FilterChain {
  return reader.make(inboundChain, {
    name: row.carries === 'http' ? target.httpName : target.tcpName,
    destinationPort,
    transport: row.transport,
    alpn: row.alpn,
    socket,
    filters,
    configNamespace: target.config?.namespace ?? '',
    configName: target.config?.name ?? '',
  });
}

function stackOf(reader: ProxyReader, carries: Carries, target: InboundTarget): readonly Filter[] {
  return carries === 'http' ? httpStack(reader, target) : tcpStack(reader, target);
}

function httpStack(reader: ProxyReader, target: InboundTarget): readonly Filter[] {
  const hcm = httpConnectionManager(reader, {
    traffic: 'inbound',
    grpcWeb: target.protocol === 'GRPC-Web',
    dynamicForwardProxy: '',
    httpProxy: false,
    statPrefix: target.httpStatPrefix,
    routes: target.routes,
    http2: isHttp2(target.protocol),
  });
  return [...networkMetadataExchange(reader), hcm];
}

function tcpStack(reader: ProxyReader, target: InboundTarget): readonly Filter[] {
  const route = { ...plainTcpRoute(reader, target.cluster), statPrefix: target.tcpStatPrefix };
  const accessLog = reader.get(accessLogsOf, 'inbound').tcp;
  return [
    ...networkFilters(reader, { traffic: 'inbound', exchange: true, authorized: true }),
    ...terminalFilters(reader, route, { accessLog, protocol: target.protocol }),
  ];
}

interface InboundChainInputs {
  readonly name: string;
  readonly destinationPort: number;
  readonly transport: string;
  readonly alpn: readonly string[] | undefined;
  readonly socket: TransportSocket | undefined;
  readonly filters: readonly Filter[];
  readonly configNamespace: string;
  readonly configName: string;
}

const inboundChain: Generator<InboundChainInputs, FilterChain> = {
  name: 'listener/inboundChain',
  run: inputs => ({
    name: inputs.name,
    filterChainMatch: {
      destinationPort: inputs.destinationPort === 0 ? undefined : { value: inputs.destinationPort },
      transportProtocol: inputs.transport,
      applicationProtocols: inputs.alpn,
    },
    filters: inputs.filters,
    transportSocket: inputs.socket,
    metadata:
      inputs.configName === '' ? undefined : configMetadata('sidecar', inputs.configNamespace, inputs.configName),
  }),
};

/** One route to the workload: requests come for its port whatever their host (spec-routes §11). */
const inboundRoutes: Generator<
  { readonly cluster: string; readonly port: number; readonly operation: string; readonly retries: boolean },
  RouteConfiguration
> = {
  name: 'listener/inboundRoutes',
  run: ({ cluster, port, operation, retries }) => ({
    name: cluster,
    validateClusters: { value: false },
    virtualHosts: [
      {
        name: `inbound|http|${port}`,
        domains: ['*'],
        routes: [
          {
            name: 'default',
            match: { prefix: '/' },
            decorator: { operation },
            route: {
              cluster,
              timeout: ZERO_DURATION,
              maxStreamDuration: { maxStreamDuration: ZERO_DURATION, grpcTimeoutHeaderMax: ZERO_DURATION },
              retryPolicy: retries ? { retryOn: 'reset-before-request', numRetries: { value: 2 } } : undefined,
            },
          },
        ],
      },
    ],
  }),
};
