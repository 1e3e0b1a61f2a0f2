// workloadEntryHandler: a machine outside Kubernetes. A change affects the endpoints of the ServiceEntries and
// Kubernetes services that select it, and the proxy on it.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/controller.go (workloadEntryHandler).

import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import { entryWorkload, remoteEntryWorkload } from '../registry/workload-entry.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { compareStates, orNothing } from './comparison.ts';
import { proxyRequest } from './proxy-workload.ts';
import { kubernetesInstanceHandler, serviceEntryInstanceHandler } from './workload-instance.ts';

export function workloadEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const { key } = change;
  const [{ namespace, kind, cluster: registered }] = versionsOf(change);
  const isRemote = kind === 'RemoteWorkloadEntry';
  const query = isRemote ? remoteEntryWorkload : entryWorkload;
  const cluster = isRemote ? registered : comparison.after.setting('clusterId');
  const workloads = [comparison.before.get(query, key), comparison.after.get(query, key)].filter(
    workload => workload !== undefined,
  );
  const labels = workloads.map(workload => workload.labels);
  const addresses = workloads.flatMap(workload => workload.addresses);
  const requests = [
    kubernetesInstanceHandler(comparison, cluster, namespace, labels),
    serviceEntryInstanceHandler(comparison, namespace, labels),
    proxyRequest(after, change, proxy => proxy.facets.ips.some(ip => addresses.includes(ip))),
  ];
  return orNothing(mergeAllPushRequests(requests));
}
