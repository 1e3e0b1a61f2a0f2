// The plan of the filter chains that lead to a port of the workload: the match, the end of mesh mTLS, and the protocol
// inside.
//
// The table follows from the port's protocol and its mTLS mode. A port whose protocol is unknown tells HTTP from other
// traffic by ALPN; PERMISSIVE has a plaintext chain beside each mTLS chain. A proxy that cannot do the mTLS demanded of
// it has no chain: connections are refused.
// Source: Istio pilot/pkg/networking/core/filterchain_options.go (getFilterChainMatchOptions),
// pilot/pkg/networking/core/listener_inbound.go (inboundChainForOpts).

import { isHttp, isHttp2, isTcp } from '../../model/protocol.ts';
import type { Protocol } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type { ServerTLSSettings } from '../../schema/istio-types.gen.ts';
import { INBOUND_PASSTHROUGH_CLUSTER, inboundClusterName } from '../cluster/cluster-names.ts';
import { inboundStatPrefix } from '../cluster/common.ts';
import { MESH_ALL, MESH_HTTP, MESH_TCP, plainHttp } from './alpn.ts';
import { type InboundPort, type InboundTls, inboundTls } from './inbound-listeners.ts';
import { listenerName } from './listener-addresses.ts';

export type Carries = 'http' | 'tcp';

export interface InboundChainPlan {
  readonly transport: 'tls' | 'raw_buffer';
  readonly alpn?: readonly string[];
  /** The chain ends mesh mTLS. */
  readonly mtls: boolean;
  readonly carries: Carries;
}

export interface InboundRouteInputs {
  readonly cluster: string;
  readonly port: number;
  readonly operation: string;
  readonly retries: boolean;
}

/** Inputs that the chains of a port share. */
export interface InboundTarget {
  /** 0: every port without a configuration. */
  readonly destinationPort: number;
  readonly cluster: string;
  readonly tcpStatPrefix: string;
  readonly httpStatPrefix: string;
  readonly protocol: Protocol;
  readonly http2: boolean;
  readonly route: InboundRouteInputs;
  readonly httpName: string;
  readonly tcpName: string;
  /** The Sidecar that the port comes from. */
  readonly config?: { readonly namespace: string; readonly name: string };
  readonly plans: readonly InboundChainPlan[];
  /** TLS of the Sidecar's ingress listener, which every plan ends instead of mesh mTLS. */
  readonly tls: ServerTLSSettings | undefined;
}

/** The chains of a port of the workload. */
export function inboundTarget(reader: ProxyReader, port: InboundPort): InboundTarget {
  const cluster = inboundClusterName(port.targetPort);
  const name = listenerName(port.bind, port.targetPort);
  const { protocol } = port.port;
  const mode = inboundTls(reader, port.targetPort);
  const tls = mode === 'DISABLE' ? port.tls : undefined;
  const carries = isHttp(protocol) ? 'http' : 'tcp';
  return {
    destinationPort: port.targetPort,
    cluster,
    tcpStatPrefix: inboundStatPrefix(statPattern(reader), cluster, port.traceHost, port.service, port.port),
    httpStatPrefix: `inbound_${name};`,
    protocol,
    http2: isHttp2(protocol),
    route: {
      cluster,
      port: port.port.port,
      operation: `${port.traceHost}:${port.port.port}/*`,
      retries: protocol !== 'GRPC' && protocol !== 'GRPC-Web',
    },
    httpName: name,
    tcpName: name,
    config: port.config,
    plans: tls === undefined ? plansOf(reader, mode, protocol) : [{ transport: 'tls', mtls: false, carries }],
    tls,
  };
}

/**
 * The chains of traffic to ports without a configuration; `port` 0 for all of them, else one that has an mTLS mode of
 * its own, which `tls` follows from.
 */
export function passthroughTarget(reader: ProxyReader, port: number, tls = inboundTls(reader, port)): InboundTarget {
  const cluster = INBOUND_PASSTHROUGH_CLUSTER;
  const statPort = { port: 0, name: 'virtualInbound' };
  return {
    destinationPort: port,
    cluster,
    tcpStatPrefix: inboundStatPrefix(statPattern(reader), cluster, '', undefined, statPort),
    httpStatPrefix: `${cluster};`,
    protocol: 'Unsupported',
    http2: false,
    route: { cluster, port: 0, operation: ':0/*', retries: true },
    httpName: 'virtualInbound-catchall-http',
    tcpName: 'virtualInbound',
    plans: plansOf(reader, tls, 'Unsupported'),
    tls: undefined,
  };
}

/** The chains of a port for connections that come out of a tunnel, which has ended the TLS already. */
export function tunnelledTarget(reader: ProxyReader, target: InboundTarget): InboundTarget {
  return { ...target, plans: plansOf(reader, 'DISABLE', target.protocol), tls: undefined };
}

function statPattern(reader: ProxyReader): string | undefined {
  return reader.mesh('inboundClusterStatName');
}

function plansOf(reader: ProxyReader, mode: InboundTls, protocol: Protocol): readonly InboundChainPlan[] {
  if (mode === 'refuse') return [];
  if (isHttp(protocol)) return singleProtocolPlans(mode, 'http');
  if (isTcp(protocol) || protocol === 'UDP') return singleProtocolPlans(mode, 'tcp');
  const plainHttpPlan: InboundChainPlan = {
    transport: 'raw_buffer',
    alpn: plainHttp(reader),
    mtls: false,
    carries: 'http',
  };
  const plainTcpPlan: InboundChainPlan = { transport: 'raw_buffer', mtls: false, carries: 'tcp' };
  const meshHttpPlan: InboundChainPlan = { transport: 'tls', alpn: MESH_HTTP, mtls: true, carries: 'http' };
  if (mode === 'DISABLE') return [plainHttpPlan, plainTcpPlan];
  if (mode === 'STRICT') return [meshHttpPlan, { transport: 'tls', mtls: true, carries: 'tcp' }];
  return [
    meshHttpPlan,
    plainHttpPlan,
    { transport: 'tls', alpn: MESH_TCP, mtls: true, carries: 'tcp' },
    plainTcpPlan,
    { transport: 'tls', mtls: false, carries: 'tcp' },
  ];
}

function singleProtocolPlans(mode: InboundTls, carries: Carries): readonly InboundChainPlan[] {
  const plain: InboundChainPlan = { transport: 'raw_buffer', mtls: false, carries };
  if (mode === 'DISABLE') return [plain];
  if (mode === 'STRICT') return [{ transport: 'tls', mtls: true, carries }];
  const mesh: InboundChainPlan = { transport: 'tls', alpn: MESH_ALL, mtls: true, carries };
  // TLS of the application itself is passed on as it is.
  return carries === 'http' ? [mesh, plain] : [mesh, { transport: 'tls', mtls: false, carries }, plain];
}
