// Which sides of HBONE, the tunnels of ambient mode, a proxy takes: opening tunnels to endpoints behind them, and
// taking the tunnels of others.
// Source: Istio pilot/pkg/features/ambient.go, pilot/pkg/model/context.go (EnableHBONEListen,
// ShouldCreateDoubleHBONEResources),
// pilot/pkg/networking/core/cluster_builder.go (sendHbone).

import { MANAGED_LABEL, WAYPOINT_CONTROLLER } from '../../base/labels.ts';
import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { proxyLabels } from '../../registry/workload.ts';
import { istioFilters, meshMtls } from './proxy-capabilities.ts';
import { metadataFlag } from './proxy-metadata.ts';
import { isWaypoint } from './proxy-type.ts';

/** The proxy can open tunnels: its clusters and listeners are made for it. */
export function sendsHbone(reader: ProxyReader): boolean {
  if (!reader.feature('PILOT_ENABLE_AMBIENT') || !meshMtls(reader)) return false;
  return isWaypoint(reader) || reader.feature('PILOT_ENABLE_SENDING_HBONE');
}

/** The proxy opens tunnels: as `sendsHbone`, unless its metadata forbids it. */
export function opensTunnels(reader: ProxyReader): boolean {
  return sendsHbone(reader) && !metadataFlag(reader, 'DISABLE_HBONE_SEND');
}

/** The waypoint has what opens tunnels in tunnels, to other networks: a Gateway manages it. */
export function nestsTunnels(reader: ProxyReader): boolean {
  const between = reader.feature('PILOT_ENABLE_AMBIENT') && reader.feature('AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT');
  return between && reader.derived(isManagedWaypoint);
}

const isManagedWaypoint: Derivation<boolean> = {
  name: 'select/isManagedWaypoint',
  run: reader => isWaypoint(reader) && reader.derived(proxyLabels)[MANAGED_LABEL] === WAYPOINT_CONTROLLER,
};

/** The sidecar takes tunnels: its metadata demands it. */
export function takesTunnels(reader: ProxyReader): boolean {
  if (!reader.feature('PILOT_ENABLE_AMBIENT') || !reader.feature('PILOT_ENABLE_SIDECAR_LISTENING_HBONE')) return false;
  return metadataFlag(reader, 'ENABLE_HBONE') && istioFilters(reader);
}
