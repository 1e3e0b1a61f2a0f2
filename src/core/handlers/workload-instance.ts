// The two workload instance handlers: which services a changed workload concerns because they select it by label. A
// ServiceEntry selects pods and machines (WorkloadEntries), a Kubernetes service machines; its pods come by slices.
// Source: Istio WorkloadInstanceHandler in pilot/pkg/serviceregistry/serviceentry/controller.go and
// pilot/pkg/serviceregistry/kube/controller/controller.go.

import { type Labels, selects } from '../base/labels.ts';
import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { selectingEntries } from '../registry/selecting.ts';
import { hostsOf } from '../registry/service-entry.ts';
import { type Comparison, endpointRequest } from './comparison.ts';

/**
 * The hosts of the ServiceEntries of the namespace that select a workload with one of these sets of labels: as it was,
 * as it is.
 */
export function serviceEntryInstanceHandler(
  comparison: Comparison,
  namespace: string,
  workloads: readonly Labels[],
): PushRequest {
  const hosts = new Set<string>();
  for (const entry of selectingEntries(comparison.after, namespace, workloads)) {
    for (const host of hostsOf(entry)) hosts.add(host);
  }
  return mergeAllPushRequests([...hosts].sort().map(host => endpointRequest(comparison, host, namespace)));
}

/** The Kubernetes services of a cluster and namespace that select one. A selector without labels selects nothing. */
export function kubernetesInstanceHandler(
  comparison: Comparison,
  cluster: string,
  namespace: string,
  workloads: readonly Labels[],
): PushRequest {
  const { after } = comparison;
  const services = after
    .objects('Service', `${cluster}/${namespace}/`)
    .filter(
      ({ spec: { selector } }) =>
        Object.keys(selector).length > 0 && workloads.some(labels => selects(selector, labels)),
    );
  return mergeAllPushRequests(
    services.flatMap(({ name }) =>
      hostsOfService(after, name, namespace).map(host => endpointRequest(comparison, host, namespace)),
    ),
  );
}
