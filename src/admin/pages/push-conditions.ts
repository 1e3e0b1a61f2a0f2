// Conditions of `push_status` that follow from the mesh's objects and from what connected proxies hold, under istiod's
// metrics and with its texts (Istio pilot/pkg/model/push_context.go; each function names who reports there).

import type { JsonObject } from '../../core/base/json.ts';
import type { Obj } from '../../core/model/object.ts';
import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { Resolution, ServiceTarget } from '../../core/model/service.ts';
import { endpointShards } from '../../core/registry/endpoints.ts';
import { allServices } from '../../core/registry/services.ts';
import { SERVICE_NAME_LABEL } from '../../core/registry/slice-endpoints.ts';
import { serviceTargets } from '../../core/registry/workload.ts';
import { outboundClusterName } from '../../core/select/cluster/cluster-names.ts';
import { outboundListenerPlans } from '../../core/select/listener/outbound-listeners.ts';
import { type MergedRule, type RulePoolRef, rulePool } from '../../core/select/scope/destination-rule-pools.ts';
import type { DebugParts } from '../debug-parts.ts';

type Parts = Pick<DebugParts, 'world' | 'engine'>;
export type Condition = Record<string, JsonObject>;

const POOLS: readonly RulePoolRef['pool'][] = ['exported', 'local', 'rootPrivate'];

/** Istio pilot/pkg/model/destination_rule.go (mergeDestinationRule). */
export function duplicateSubsets({ world, engine }: Parts): Condition {
  const { state } = world;
  const found: Condition = {};
  const namespaces = new Set([...state.objects.DestinationRule.values()].map(({ namespace }) => namespace));
  for (const namespace of namespaces) {
    for (const pool of POOLS) {
      const { entries } = engine.tracker.get(state, undefined, rulePool, { pool, namespace });
      for (const [host, rules] of entries) {
        const repeated = rules.map(({ rule }) => repeatedSubset(rule)).find(name => name !== undefined);
        if (repeated === undefined) continue;
        found[host] = { message: `Duplicate subset ${repeated} found while merging destination rules for ${host}` };
      }
    }
  }
  return found;
}

function repeatedSubset({ from }: MergedRule): string | undefined {
  const known = new Set<string>();
  for (const { spec } of from) {
    const names = (spec.subsets ?? []).map(({ name = '' }) => name);
    const again = names.find(name => known.has(name));
    if (again !== undefined) return again;
    for (const name of names) known.add(name);
  }
  return undefined;
}

/** Istio pilot/pkg/networking/core/cluster_builder.go (buildCluster). */
export function dnsWithoutEndpoints(parts: Parts): Condition {
  const clusters = clustersWithoutEndpoints(parts, resolution => resolution.startsWith('DNS'));
  const message = (cluster: string) => `DNS cluster without endpoints ${cluster} found while pushing CDS`;
  return Object.fromEntries(clusters.map(cluster => [cluster, { message: message(cluster) }]));
}

/** Of each port of a service that no endpoint has. */
export function clustersWithoutEndpoints(
  { world: { state }, engine }: Parts,
  isAsked: (resolution: Resolution) => boolean,
): readonly string[] {
  const services = engine.tracker.get(state, undefined, allServices, '').filter(one => isAsked(one.resolution));
  return services.flatMap(({ hostname, namespace, ports }) => {
    const shards = engine.tracker.get(state, undefined, endpointShards, { hostname, namespace });
    const names = new Set(shards.flatMap(({ endpoints }) => endpoints.map(({ portName }) => portName)));
    return ports.filter(({ name }) => !names.has(name)).map(({ port }) => outboundClusterName(hostname, '', port));
  });
}

/** What `of` finds of each connected proxy, by its id; of connections of one id the first. */
export function byProxy(
  { state }: Pick<Parts['world'], 'state'>,
  of: (proxy: ProxyRecord) => JsonObject | undefined,
): Condition {
  const found: Condition = {};
  for (const proxy of state.proxies.values()) {
    const { id } = proxy.facets;
    const more = of(proxy);
    if (more !== undefined) found[id] ??= { proxy: id, ...more };
  }
  return found;
}

/** Istio pilot/pkg/networking/core/listener.go (outboundListenerConflict). By listener; of the first proxy. */
export function listenerConflicts({ world, engine }: Parts): Condition {
  const { state } = world;
  const found: Condition = {};
  for (const proxy of state.proxies.values()) {
    const { id, type } = proxy.facets;
    if (type !== 'sidecar') continue;
    for (const { binds, port, conflicts } of engine.tracker.get(state, proxy, outboundListenerPlans, '')) {
      const [message] = conflicts;
      if (message !== undefined) found[`${binds[0]}_${port}`] ??= { proxy: id, message };
    }
  }
  return found;
}

/** Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go (GetProxyServiceTargets). */
export function endpointsNotReady({ world, engine }: Parts): Condition {
  const { state } = world;
  return byProxy(world, proxy => {
    const { ips } = proxy.facets;
    const own = engine.tracker.get(state, proxy, serviceTargets, '').flatMap(({ service }) => {
      const { hostname, namespace } = service;
      const shards = engine.tracker.get(state, undefined, endpointShards, { hostname, namespace });
      return shards.flatMap(({ endpoints }) => endpoints.filter(({ addresses }) => addresses[0] === ips[0]));
    });
    return own.some(({ health }) => health === 'UnHealthy') ? {} : undefined;
  });
}

/** Istio pilot/pkg/networking/core/listener_inbound.go (reportInboundConflict). By proxy. */
export function inboundConflicts({ world, engine }: Parts): Condition {
  return byProxy(world, proxy => {
    if (proxy.facets.type !== 'sidecar') return undefined;
    const first = new Map<number, ServiceTarget>();
    for (const target of engine.tracker.get(world.state, proxy, serviceTargets, '')) {
      const { targetPort, service, port } = target;
      const old = first.get(targetPort);
      if (old === undefined) first.set(targetPort, target);
      else if (old.port.protocol !== port.protocol && old.service.hostname !== service.hostname) {
        const hosts = `existing: ${old.service.hostname}, incoming: ${service.hostname}`;
        return { message: `Conflicting inbound listener:${targetPort}. ${hosts}` };
      }
    }
    return undefined;
  });
}

/** Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go (registerEndpointResync). By host; the address. */
export function endpointsWithoutPod({ world: { state } }: Pick<Parts, 'world'>): Condition {
  const { EndpointSlice, Pod } = state.objects;
  const slices = [...EndpointSlice.values()] as readonly Obj<'EndpointSlice'>[];
  const found: Condition = {};
  for (const { cluster, namespace, labels, spec } of slices) {
    const service = labels[SERVICE_NAME_LABEL];
    if (service === undefined) continue;
    const host = `${service}.${namespace}.svc.${state.settings.domainSuffix}`;
    for (const { addresses, targetRef } of spec.endpoints) {
      if (targetRef?.kind !== 'Pod') continue;
      if (Pod.has(`${cluster}/${targetRef.namespace || namespace}/${targetRef.name}`)) continue;
      found[host] ??= { message: addresses[0] ?? '' };
    }
  }
  return found;
}
