// serviceHandler: Kubernetes Services. The service of all clusters is compared before and after, so that a second cluster that brings
// nothing new, or a status that nobody reads, pushes nothing.
// Rules: spec-events-pushes-protocol §2.4 (K1, K2, K13), §5 (alias rule); Istio pilot/pkg/serviceregistry/kube/controller/controller.go.

import { sameContent } from '../equal.ts';
import type { Service } from '../model/service.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import { mergedService } from '../registry/kubernetes-service.ts';
import { servicesOfHost } from '../registry/services.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';
import { type Comparison, compareStates, endpointRequest, mergeAll, orNothing, serviceKey } from './comparison.ts';

export function serviceHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const obj = change.after ?? change.before;
  if (obj === undefined) return undefined;
  return serviceRequest(compareStates(change.seq, before, after), obj.namespace, obj.name);
}

/** What has to be looked at because a Kubernetes service differs, or its endpoints do. */
export function serviceRequest(comparison: Comparison, namespace: string, name: string): PushRequest | undefined {
  const { seq } = comparison;
  const old = comparison.before.get(mergedService, `${namespace}/${name}`);
  const now = comparison.after.get(mergedService, `${namespace}/${name}`);
  const hostname = (now ?? old)?.hostname;
  if (hostname === undefined) return undefined;
  if (sameContent(old, now)) return orNothing(endpointRequest(comparison, hostname, namespace));
  const keys = [serviceKey(namespace, hostname), ...targetKeys(comparison, old), ...targetKeys(comparison, now)];
  return mergeAll([
    pushRequest(seq, 'service', keys, { full: true }),
    endpointRequest(comparison, hostname, namespace),
  ]);
}

/** The services that an alias resolves to carry its name. */
function targetKeys({ before, after }: Comparison, service: Service | undefined): readonly string[] {
  const seen = new Set<string>();
  const keys: string[] = [];
  let target = service?.externalName;
  while (target !== undefined && !seen.has(target)) {
    seen.add(target);
    const found = [...before.get(servicesOfHost, target), ...after.get(servicesOfHost, target)];
    for (const { namespace, hostname } of found) keys.push(serviceKey(namespace, hostname));
    target = found.find(candidate => candidate.externalName !== undefined)?.externalName;
  }
  return keys;
}
