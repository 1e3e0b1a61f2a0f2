// Where a proxy sends to: the clusters of its outbound routes with their shares, and those of its outbound listeners.

import { LDS, RDS } from '../xds/session/types.ts';
import { shownJson } from './config-dump.ts';
import type { Holdings } from './holdings.ts';
import { routeRows } from './rows.ts';
import { sendsOf } from './traffic.ts';

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
  for (const resource of holdings.get(RDS)?.values() ?? []) {
    const before = known.get(resource.message);
    const targets = before ?? routeTargets(resource.name, shownJson(RDS, resource));
    if (before === undefined) known.set(resource.message, targets);
    found.push(...targets);
  }
  const ofListeners = new Map([[LDS, holdings.get(LDS) ?? new Map()]]);
  for (const { from, cluster } of sendsOf(ofListeners)) {
    const listener = from.slice('listener '.length);
    if (INBOUND.test(listener) || !isTarget(cluster)) continue;
    found.push({ host: listener, cluster, share: 1, isRouted: false });
  }
  return found;
}

function routeTargets(name: string, resource: ReturnType<typeof shownJson>): readonly Target[] {
  const dump = { proxy: '', configs: [{ typeUrl: RDS, resources: [{ name, version: '', resource }] }] };
  const found = new Map<string, Target>();
  for (const { virtualHost, virtualService, shares } of routeRows(dump)) {
    for (const { cluster, share } of shares) {
      if (!isTarget(cluster)) continue;
      const key = `${virtualHost} ${cluster}`;
      const before = found.get(key);
      found.set(key, {
        host: virtualHost,
        cluster,
        share: Math.max(before?.share ?? 0, share),
        isRouted: virtualService !== '' || before?.isRouted === true,
      });
    }
  }
  return [...found.values()];
}

function isTarget(cluster: string): boolean {
  return !NO_TARGET.test(cluster) && !cluster.startsWith('inbound|');
}
