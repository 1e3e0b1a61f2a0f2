// serviceHandler: Kubernetes Services. The service of the changed cluster is compared before and after (proxies of that
// cluster serve by it, the service of all clusters is made of it), so a status or an annotation that is not read pushes
// nothing. Source: Istio pilot/pkg/serviceregistry/kube/controller/controller.go (onServiceEvent, addOrUpdateService).

import { sameContent } from '../base/equal.ts';
import type { Service } from '../model/service.ts';
import { mergeAllPushRequests, noPush, type PushRequest, pushRequest } from '../push-request.ts';
import type { Query } from '../query/reader.ts';
import { clusterSetService } from '../registry/cluster-set.ts';
import { kubernetesService } from '../registry/kubernetes-service.ts';
import { servicesOfHost } from '../registry/services.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import {
  type Comparison,
  compareStates,
  endpointRequest,
  orNothing,
  serviceGatewayRequest,
  serviceKey,
} from './comparison.ts';
import { revisionTagHandler } from './revision-tag.ts';

export function serviceHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const versions = versionsOf<'Service'>(change);
  const [{ namespace }] = versions;
  const tag = namespace === after.settings.systemNamespace ? revisionTagHandler(change) : undefined;
  return orNothing(
    mergeAllPushRequests([
      serviceRequest(comparison, change.key),
      serviceGatewayRequest(comparison, versions),
      tag ?? noPush,
    ]),
  );
}

/** The push request for a Kubernetes service (`cluster/namespace/name`) that differs, or whose endpoints differ. */
export function serviceRequest(comparison: Comparison, key: string): PushRequest {
  const inSet = clusterSetRequest(comparison, key.slice(key.indexOf('/') + 1));
  return mergeAllPushRequests([differenceRequest(comparison, kubernetesService, key), inSet]);
}

/** The same for the name in the set of clusters of the service `namespace/name`. */
export function clusterSetRequest(comparison: Comparison, key: string): PushRequest {
  return differenceRequest(comparison, clusterSetService, key);
}

function differenceRequest(
  comparison: Comparison,
  query: Query<string, Service | undefined>,
  key: string,
): PushRequest {
  const old = comparison.before.get(query, key);
  const now = comparison.after.get(query, key);
  const service = now ?? old;
  if (service === undefined) return noPush;
  const { namespace, hostname } = service;
  const endpoints = endpointRequest(comparison, hostname, namespace);
  if (sameContent(old, now)) return endpoints;
  const targets = [old, now].map(version => targetKeys(comparison, version));
  const keys = [serviceKey(namespace, hostname), ...targets.flatMap(found => found ?? [])];
  const forced = targets.includes(undefined);
  return mergeAllPushRequests([pushRequest(comparison.seq, 'service', keys, { full: true, forced }), endpoints]);
}

/** Aliases that lead to each other and are followed; past it, a change of one concerns all proxies. */
export const ALIAS_CHAIN_MAX = 16;

/** The services that an alias resolves to carry its name. Undefined: they are too far away. */
function targetKeys({ before, after }: Comparison, service: Service | undefined): readonly string[] | undefined {
  const seen = new Set<string>();
  const keys: string[] = [];
  let target = service?.externalName;
  while (target !== undefined && !seen.has(target)) {
    if (seen.size === ALIAS_CHAIN_MAX) return undefined;
    seen.add(target);
    const found = [...before.get(servicesOfHost, target), ...after.get(servicesOfHost, target)];
    for (const { namespace, hostname } of found) keys.push(serviceKey(namespace, hostname));
    target = found.find(candidate => candidate.externalName !== undefined)?.externalName;
  }
  return keys;
}
