// The clusters that a proxy sends to: those of its outbound routes with their shares, and of its outbound listeners.

import type { Route, RouteConfiguration, VirtualHost } from '../xds/proto/types.gen.ts';
import { LDS, RDS } from '../xds/session/types.ts';
import type { RouteShare } from './answers.ts';
import type { Holdings } from './holdings.ts';
import { routeShares } from './route-action.ts';
import { sendsOf } from './traffic.ts';
import { objectNamedBy } from './translations.ts';

export interface Target {
  /** The virtual host or listener. */
  readonly host: string;
  readonly cluster: string;
  /** 0 … 1 of a route's requests. */
  readonly share: number;
  /** An object routes here, not only the default route of a service. */
  readonly isRouted: boolean;
}

const INBOUND = /^(virtualInbound|virtualOutbound|inbound)/;
/** Clusters that lead out of what routes decide: to any address, to nowhere, to the proxy itself. */
const NO_TARGET =
  /^(PassthroughCluster|BlackHoleCluster|InboundPassthroughCluster.*|agent|prometheus_stats|sds-grpc|xds-grpc)$/;
const known = new WeakMap<object, readonly Target[]>();

/** Each pair of host and cluster once, with its largest share. */
export function targetsOf(holdings: Holdings): readonly Target[] {
  const found: Target[] = [];
  for (const { message } of holdings.get(RDS)?.values() ?? []) {
    for (const host of (message as RouteConfiguration).virtualHosts ?? []) {
      const before = known.get(host);
      const targets = before ?? hostTargets(host);
      if (before === undefined) known.set(host, targets);
      found.push(...targets);
    }
  }
  const ofListeners = new Map([[LDS, holdings.get(LDS) ?? new Map()]]);
  for (const { from, cluster } of sendsOf(ofListeners)) {
    const listener = from.slice('listener '.length);
    if (INBOUND.test(listener) || !isTarget(cluster)) continue;
    found.push({ host: listener, cluster, share: 1, isRouted: false });
  }
  return found;
}

/** Route configurations share virtual hosts, so the targets of each are read once. */
function hostTargets({ name: host = '', routes = [] }: VirtualHost): readonly Target[] {
  const found = new Map<string, Target>();
  for (const route of routes) {
    const byObject = objectNamedBy(route)?.startsWith('VirtualService/') === true;
    for (const { cluster, share } of sharesOf(route)) {
      if (!isTarget(cluster)) continue;
      const before = found.get(cluster);
      const isRouted = byObject || before?.isRouted === true;
      found.set(cluster, { host, cluster, share: Math.max(before?.share ?? 0, share), isRouted });
    }
  }
  return [...found.values()];
}

/** Of the message itself: no JSON of the route is made. */
function sharesOf({ route }: Route): readonly RouteShare[] {
  const weighted = route?.weightedClusters?.clusters ?? [];
  return routeShares(
    route?.cluster,
    weighted.map(({ name = '', weight }) => [name, weight?.value ?? 0]),
  );
}

function isTarget(cluster: string): boolean {
  return !NO_TARGET.test(cluster) && !cluster.startsWith('inbound|');
}
