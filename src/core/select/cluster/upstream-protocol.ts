// The protocol between a cluster and its endpoints.
// Source: Istio pilot/pkg/networking/core/cluster_builder.go.
//
// The choice is made in the selector because two generators need it: the protocol options of the cluster, and the ALPN
// of its TLS.

import { isHttp, isHttp2, isUnsupported } from '../../model/protocol.ts';
import type { Protocol } from '../../model/service.ts';
import type { ConnectionPoolSettings, MeshConfig_H2UpgradePolicy } from '../../schema/istio-types.gen.ts';

/**
 * `http2`: always HTTP/2. `downstream`: the client's protocol. `http1`: Explicit HTTP/1.1. `unset`: Envoy's default,
 * HTTP/1.1.
 */
export type UpstreamProtocol = 'unset' | 'http1' | 'http2' | 'downstream';

export interface UpstreamProtocolChoice {
  readonly protocol: UpstreamProtocol;
  /** The case of HTTP/1.1 header names is kept. */
  readonly headerCase: boolean;
}

export interface UpstreamProtocolFacts {
  readonly protocol: Protocol;
  /** Undetected ports follow the client's protocol: of sidecars and waypoints, as in Istio's setUpstreamProtocol. */
  readonly followUndetected: boolean;
  readonly preserveHeaderCase: boolean;
  readonly h2Upgrade: boolean;
  readonly connectionPool: ConnectionPoolSettings | undefined;
}

export function chooseUpstreamProtocol(facts: UpstreamProtocolFacts): UpstreamProtocolChoice {
  const base = baseProtocol(facts);
  const headerCase = base !== 'http2' && facts.preserveHeaderCase && detectable(facts.protocol);
  const protocol = facts.connectionPool?.http?.useClientProtocol === true ? 'downstream' : base;
  return { protocol, headerCase };
}

function baseProtocol(facts: UpstreamProtocolFacts): UpstreamProtocol {
  const { protocol } = facts;
  if (isHttp2(protocol)) return 'http2';
  if (facts.followUndetected && isUnsupported(protocol)) return 'downstream';
  if (facts.preserveHeaderCase && detectable(protocol)) return 'http1';
  return facts.h2Upgrade ? 'http2' : 'unset';
}

function detectable(protocol: Protocol): boolean {
  return isHttp(protocol) || isUnsupported(protocol);
}

/**
 * Whether an outbound cluster is upgraded to HTTP/2. The rule decides for a port of any protocol; without a rule the
 * mesh decides for HTTP ports.
 */
export function upgradesToH2(
  protocol: Protocol,
  connectionPool: ConnectionPoolSettings | undefined,
  meshPolicy: MeshConfig_H2UpgradePolicy | undefined,
): boolean {
  const http = connectionPool?.http;
  if (http?.useClientProtocol === true) return false;
  if (http?.h2UpgradePolicy === 'UPGRADE') return true;
  if (http?.h2UpgradePolicy === 'DO_NOT_UPGRADE') return false;
  return meshPolicy === 'UPGRADE' && isHttp(protocol);
}
