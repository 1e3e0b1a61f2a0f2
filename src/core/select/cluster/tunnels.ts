// Inputs of the clusters that open HBONE tunnels, and of those that lead to internal listeners of the proxy.
// Source: Istio pilot/pkg/networking/core/cluster_waypoint.go, pilot/pkg/networking/core/cluster.go (buildClusters).

import type { ProxyReader } from '../../query/reader.ts';
import type { Duration } from '../../schema/duration.ts';
import { type TunnelTlsSettings, tunnelTlsSettings } from '../listener/tunnel-tls.ts';
import { nestsTunnels, opensTunnels, takesTunnels } from '../proxy/hbone.ts';
import { isWaypoint, proxyType } from '../proxy/proxy-type.ts';
import {
  CONNECT_ORIGINATE,
  ENCAP_CLUSTER,
  INNER_CONNECT_ORIGINATE,
  MAIN_INTERNAL,
  OUTER_CONNECT_ORIGINATE,
} from './cluster-names.ts';

export interface TunnelInputs {
  readonly name: string;
  readonly trackRemaining: boolean;
  readonly idleTimeout: Duration;
  /** Bytes; 0: Envoy's default. */
  readonly streamWindow: number;
  readonly connectionWindow: number;
  readonly tls: TunnelTlsSettings;
  /** One connection carries one tunnel. */
  readonly unshared: boolean;
}

/** A cluster that connects to the original destination, on the port of tunnels. */
export interface TunnelOpenerInputs extends TunnelInputs {
  readonly connectTimeout: Duration | undefined;
  /** Metadata of the connection may name a waypoint to connect to instead. */
  readonly throughWaypoint: boolean;
  /** Prefixes of SPIFFE ids. */
  readonly morePeers: readonly string[];
}

/** A cluster whose only endpoint is an internal listener. */
export interface InternalClusterInputs {
  readonly name: string;
  readonly listener: string;
  readonly trackRemaining: boolean;
}

export interface TunnelClusters {
  readonly openers: readonly TunnelOpenerInputs[];
  readonly internal: readonly InternalClusterInputs[];
  /** Opens the inner tunnel of two. */
  readonly inner: (TunnelInputs & InternalClusterInputs) | undefined;
}

const HBONE_IDLE_TIMEOUT: Duration = { seconds: 3600, nanos: 0 };

/** Of a proxy without ambient mode none. */
export function selectTunnelClusters(reader: ProxyReader): TunnelClusters {
  const internalTo = (name: string, listener: string): InternalClusterInputs => ({
    name,
    listener,
    trackRemaining: tracksRemaining(reader),
  });
  if (!isWaypoint(reader)) {
    const takes = proxyType(reader) === 'sidecar' && takesTunnels(reader);
    return {
      openers: opensTunnels(reader) ? [opener(reader, CONNECT_ORIGINATE, true, [])] : [],
      internal: takes ? [internalTo(MAIN_INTERNAL, MAIN_INTERNAL)] : [],
      inner: undefined,
    };
  }
  const openers = [opener(reader, CONNECT_ORIGINATE, true, ownNamespace(reader))];
  const internal = [internalTo(MAIN_INTERNAL, MAIN_INTERNAL), internalTo(ENCAP_CLUSTER, CONNECT_ORIGINATE)];
  if (!nestsTunnels(reader)) return { openers, internal, inner: undefined };
  return {
    openers: [...openers, opener(reader, OUTER_CONNECT_ORIGINATE, false, [])],
    internal,
    inner: {
      ...tunnel(reader, INNER_CONNECT_ORIGINATE, true),
      ...internalTo(INNER_CONNECT_ORIGINATE, OUTER_CONNECT_ORIGINATE),
    },
  };
}

function opener(
  reader: ProxyReader,
  name: string,
  throughWaypoint: boolean,
  morePeers: readonly string[],
): TunnelOpenerInputs {
  return {
    ...tunnel(reader, name, !throughWaypoint),
    connectTimeout: reader.mesh('connectTimeout'),
    throughWaypoint,
    morePeers,
  };
}

function tunnel(reader: ProxyReader, name: string, unshared: boolean): TunnelInputs {
  return {
    name,
    trackRemaining: tracksRemaining(reader),
    idleTimeout: (reader.mesh('hboneIdleTimeout') as Duration | undefined) ?? HBONE_IDLE_TIMEOUT,
    streamWindow: reader.feature('PILOT_HBONE_INITIAL_STREAM_WINDOW_SIZE'),
    connectionWindow: reader.feature('PILOT_HBONE_INITIAL_CONNECTION_WINDOW_SIZE'),
    tls: reader.get(tunnelTlsSettings, ''),
    unshared,
  };
}

function tracksRemaining(reader: ProxyReader): boolean {
  return !reader.feature('DISABLE_TRACK_REMAINING_CB_METRICS');
}

/** A waypoint takes every workload of its namespace for a peer, unless no peer is verified at all. */
function ownNamespace(reader: ProxyReader): readonly string[] {
  if (reader.feature('PILOT_SKIP_VALIDATE_TRUST_DOMAIN')) return [];
  return [`spiffe://${reader.mesh('trustDomain')}/ns/${reader.facet('namespace')}/sa/`];
}
