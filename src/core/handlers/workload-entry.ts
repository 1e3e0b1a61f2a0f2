// workloadEntryHandler: a machine outside Kubernetes. A change affects the endpoints of the ServiceEntries and
// Kubernetes services that select it, and the proxy on it.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/controller.go (workloadEntryHandler).

import type { PushRequest } from '../push-request.ts';
import { entryWorkload } from '../registry/workload-entry.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { compareStates, mergeAll, orNothing } from './comparison.ts';
import { proxyRequest } from './proxy-workload.ts';
import { kubernetesInstanceHandler, serviceEntryInstanceHandler } from './workload-instance.ts';

export function workloadEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const { key } = change;
  const [{ namespace }] = versionsOf(change);
  const workloads = [comparison.before.get(entryWorkload, key), comparison.after.get(entryWorkload, key)].filter(
    workload => workload !== undefined,
  );
  const labels = workloads.map(workload => workload.labels);
  const addresses = workloads.flatMap(workload => workload.addresses);
  const requests = [
    kubernetesInstanceHandler(comparison, namespace, labels),
    serviceEntryInstanceHandler(comparison, namespace, labels),
    proxyRequest(after, change, proxy => proxy.facets.ips.some(ip => addresses.includes(ip))),
  ];
  return orNothing(mergeAll(requests));
}
