// serviceEntryHandler: for each host of the entry its services are compared, then its endpoints; services that differ
// are a full push, endpoints that differ an incremental one, unless the proxies resolve the names themselves. Source:
// Istio pilot/pkg/serviceregistry/serviceentry/controller.go.

import { sameContent } from '../base/equal.ts';
import { mergeAllPushRequests, type PushRequest, pushRequest } from '../push-request.ts';
import { hostsOf } from '../registry/service-entry.ts';
import { servicesOfHost } from '../registry/services.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { type Comparison, compareStates, endpointRequest, orNothing, serviceKey } from './comparison.ts';

export function serviceEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const entries = versionsOf<'ServiceEntry'>(change);
  const [{ namespace }] = entries;
  const hosts = new Set(entries.flatMap(hostsOf));
  return orNothing(mergeAllPushRequests([...hosts].sort().map(host => hostRequest(comparison, host, namespace))));
}

function hostRequest(comparison: Comparison, host: string, namespace: string): PushRequest {
  const old = comparison.before.get(servicesOfHost, host).filter(service => service.namespace === namespace);
  const now = comparison.after.get(servicesOfHost, host).filter(service => service.namespace === namespace);
  const endpoints = endpointRequest(comparison, host, namespace);
  if (sameContent(old, now)) return endpoints;
  return mergeAllPushRequests([
    pushRequest(comparison.seq, 'service', [serviceKey(namespace, host)], { full: true }),
    endpoints,
  ]);
}
