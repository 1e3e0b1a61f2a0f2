// `push_status` and `cachez` in istiod's shapes (Istio pilot/pkg/model/push_context.go: ProxyStatus,
// pilot/pkg/xds/debug.go: cachez). istiod collects conditions while it pushes; here they follow from the state at the
// time of the request. What is cached are resources of connected proxies, each shared by all that hold it.

import type { JsonObject } from '../../core/base/json.ts';
import { serviceTargets } from '../../core/registry/workload.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, json, text } from '../http.ts';
import {
  byProxy,
  type Condition,
  clustersWithoutEndpoints,
  dnsWithoutEndpoints,
  duplicateSubsets,
  endpointsNotReady,
  endpointsWithoutPod,
  inboundConflicts,
  listenerConflicts,
} from './push-conditions.ts';

type PushParts = Pick<DebugParts, 'world' | 'engine' | 'xds'>;

/** By metric of istiod; those of it that are missing here have no condition in these generators. */
export function pushStatusOf(parts: PushParts): JsonObject {
  const conditions: Readonly<Record<string, Condition>> = {
    endpoint_no_pod: endpointsWithoutPod(parts),
    pilot_conflict_inbound_listener: inboundConflicts(parts),
    pilot_conflict_outbound_listener_tcp_over_current_tcp: listenerConflicts(parts),
    pilot_destrule_subsets: duplicateSubsets(parts),
    pilot_dns_cluster_without_endpoints: dnsWithoutEndpoints(parts),
    pilot_eds_no_instances: withoutEndpoints(parts),
    pilot_endpoint_not_ready: endpointsNotReady(parts),
    pilot_k8s_proxies_with_no_service_targets: withoutServices(parts),
    pilot_total_xds_rejects: refusals(parts),
  };
  return Object.fromEntries(Object.entries(conditions).filter(([, found]) => Object.keys(found).length > 0));
}

function withoutEndpoints(parts: PushParts): Condition {
  const clusters = clustersWithoutEndpoints(parts, resolution => resolution === 'ClientSideLB');
  return Object.fromEntries(clusters.map(cluster => [cluster, {}]));
}

function withoutServices({ world, engine }: PushParts): Condition {
  return byProxy(world, proxy => {
    if (proxy.facets.type === 'ztunnel') return undefined;
    return engine.tracker.get(world.state, proxy, serviceTargets, '').length > 0 ? undefined : {};
  });
}

function refusals({ xds }: PushParts): Condition {
  const found: Condition = {};
  for (const { facets, types } of xds.connections()) {
    for (const { short, lastError } of types) {
      if (lastError !== '') found[`${facets.id}/${short}`] = { proxy: facets.id, message: lastError };
    }
  }
  return found;
}

/** With `sizes`: bytes by type. Values follow from their inputs and cannot be stale, so nothing is cleared. */
export function cachePage(parts: PushParts, query: URLSearchParams): Answer {
  if ((query.get('clear') ?? '') !== '') {
    return text('nothing to clear: a value is used only while its inputs are current\n', 400);
  }
  const cached = cachedOf(parts);
  if ((query.get('sizes') ?? '') === '') {
    return json(Object.fromEntries([...cached].map(([type, held]) => [type, [...held.keys()].sort()])));
  }
  const sizes = [...cached].map(([type, held]) => [type, [...held.values()].reduce((a, b) => a + b, 0)] as const);
  const total = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const shown = [...sizes, ['total', total] as const].map(([type, bytes]) => [type, byteCount(bytes)] as const);
  return json(Object.fromEntries(shown));
}

/** Type → name → bytes of the resources that connected proxies hold, each content once. */
function cachedOf({ world, engine }: PushParts): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const types = new Map<string, Map<string, number>>();
  const counted = new Set<object>();
  for (const proxy of world.state.proxies.values()) {
    for (const [typeUrl, set] of engine.viewOf(world.state, proxy)) {
      const held = types.get(typeUrl) ?? new Map<string, number>();
      types.set(typeUrl, held);
      if (counted.has(set)) continue;
      counted.add(set);
      for (const resource of set.resources.values()) {
        if (counted.has(resource)) continue;
        counted.add(resource);
        held.set(resource.name, (held.get(resource.name) ?? 0) + resource.size);
      }
    }
  }
  return types;
}

/** Units of a thousand, one decimal: as Istio's util.ByteCount. */
function byteCount(bytes: number): string {
  if (bytes < 1_000) return `${bytes}B`;
  let value = bytes;
  let unit = -1;
  while (value >= 1_000) {
    value /= 1_000;
    unit++;
  }
  return `${value.toFixed(1)}${'kMGT'[unit]}B`;
}
