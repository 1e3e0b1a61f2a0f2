// serviceEntryHandler: for each host of the entry its services are compared, then its endpoints; services that differ
// are a full push, endpoints that differ an incremental one, unless the proxies resolve the names themselves. Source:
// Istio pilot/pkg/serviceregistry/serviceentry/controller.go.

import { sameContent } from '../base/equal.ts';
import { mergeAllPushRequests, mergePushRequests, type PushRequest, pushRequest } from '../push-request.ts';
import { recordedAddresses } from '../registry/allocated-addresses.ts';
import { hostsOf } from '../registry/service-entry.ts';
import { servicesOfHost } from '../registry/services.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import {
  anyEndpointRequest,
  type Comparison,
  compareStates,
  endpointRequest,
  hasMoreThan,
  orNothing,
  PARTS_COMPARED_MAX,
  serviceKey,
} from './comparison.ts';

export function serviceEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const entries = versionsOf<'ServiceEntry'>(change);
  const [{ namespace }] = entries;
  const hosts = new Set(entries.flatMap(hostsOf));
  const [first, second = first] = entries;
  const isReallocated = !sameContent(recordedAddresses(first), recordedAddresses(second));
  const requests = [...hosts]
    .sort()
    .map(host =>
      isNamedByMany(before, host) || isNamedByMany(after, host)
        ? anyRequest(comparison, host, namespace)
        : hostRequest(comparison, host, namespace, isReallocated),
    );
  return orNothing(mergeAllPushRequests(requests));
}

function isNamedByMany({ indexes }: State, host: string): boolean {
  return hasMoreThan(PARTS_COMPARED_MAX, indexes.serviceEntriesByHost.valuesFrom(`${host}|`));
}

/** All that a change of the host's services and endpoints can ask for. */
function anyRequest(comparison: Comparison, host: string, namespace: string): PushRequest {
  const service = pushRequest(comparison.seq, 'service', [serviceKey(namespace, host)], { full: true });
  return mergePushRequests(service, anyEndpointRequest(comparison, host, namespace));
}

/** `isReallocated`: the addresses differ that its status has for hosts. */
function hostRequest(comparison: Comparison, host: string, namespace: string, isReallocated: boolean): PushRequest {
  const old = comparison.before.get(servicesOfHost, host).filter(service => service.namespace === namespace);
  const now = comparison.after.get(servicesOfHost, host).filter(service => service.namespace === namespace);
  const endpoints = endpointRequest(comparison, host, namespace);
  if (!isReallocated && sameContent(old, now)) return endpoints;
  return mergeAllPushRequests([
    pushRequest(comparison.seq, 'service', [serviceKey(namespace, host)], { full: true }),
    endpoints,
  ]);
}
