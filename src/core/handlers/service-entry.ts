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

/**
 * Services and endpoints of a host are compared if no more ServiceEntries name it than this. To compare all of them at
 * each change would be quadratic; a push that was not needed is not.
 */
export const ENTRIES_COMPARED_MAX = 100;

export function serviceEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const entries = versionsOf<'ServiceEntry'>(change);
  const [{ namespace }] = entries;
  const hosts = new Set(entries.flatMap(hostsOf));
  const requests = [...hosts]
    .sort()
    .map(host =>
      isNamedByMany(before, host) || isNamedByMany(after, host)
        ? anyRequest(change.seq, host, namespace)
        : hostRequest(comparison, host, namespace),
    );
  return orNothing(mergeAllPushRequests(requests));
}

function isNamedByMany({ indexes }: State, host: string): boolean {
  let count = 0;
  for (const _ of indexes.serviceEntriesByHost.valuesFrom(`${host}|`)) {
    if (++count > ENTRIES_COMPARED_MAX) return true;
  }
  return false;
}

/** All that a change of the host's services and endpoints can ask for. */
function anyRequest(seq: number, host: string, namespace: string): PushRequest {
  const key = serviceKey(namespace, host);
  const reasons = ['service', 'endpoint', 'headlessendpoint'] as const;
  return mergeAllPushRequests(reasons.map(reason => pushRequest(seq, reason, [key], { full: true })));
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
