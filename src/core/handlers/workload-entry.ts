// workloadEntryHandler: a machine outside Kubernetes. What differs are the endpoints of the ServiceEntries and of the Kubernetes services
// that select it, and what a proxy on it is.
// Rules: spec-events-pushes-protocol §2.5 (S2, S8, S9), §2.4 (K9).

import type { PushRequest } from '../push-request.ts';
import { type Labels, selects } from '../registry/labels.ts';
import { entryWorkload } from '../registry/workload-entry.ts';
import { kubernetesHost } from '../select/hosts.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { compareStates, endpointRequest, mergeAll, orNothing } from './comparison.ts';
import { proxyRequest } from './proxy-workload.ts';
import { selectingEntryRequests } from './selecting-entries.ts';

export function workloadEntryHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const { key } = change;
  const [{ namespace }] = versionsOf(change);
  const workloads = [comparison.before.get(entryWorkload, key), comparison.after.get(entryWorkload, key)].filter(
    workload => workload !== undefined,
  );
  const isSelected = (selector: Labels): boolean => workloads.some(workload => selects(selector, workload.labels));
  const { domainSuffix, clusterId } = after.settings;
  const services = comparison.after
    .objects('Service', `${clusterId}/${namespace}/`)
    .filter(({ spec }) => Object.keys(spec.selector).length > 0 && isSelected(spec.selector));
  const addresses = workloads.flatMap(workload => workload.addresses);
  const requests = [
    ...services.map(({ name }) =>
      endpointRequest(comparison, kubernetesHost(name, namespace, domainSuffix), namespace),
    ),
    ...selectingEntryRequests(
      comparison,
      namespace,
      workloads.map(({ labels }) => labels),
    ),
    proxyRequest(after, change, proxy => proxy.facets.ips.some(ip => addresses.includes(ip))),
  ];
  return orNothing(mergeAll(requests));
}
