// The two workload instance handlers: which services a changed workload concerns because they select it by label. A
// ServiceEntry selects pods and machines (WorkloadEntries), a Kubernetes service machines; its pods come by slices.
// Source: Istio WorkloadInstanceHandler in pilot/pkg/serviceregistry/serviceentry/controller.go and
// pilot/pkg/serviceregistry/kube/controller/controller.go.

import { sameContent } from '../base/equal.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import { selectorKey, withoutTopology } from '../model/selection.ts';
import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import type { Reader } from '../query/reader.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { containerPorts, isEligible, isReady, podWorkload } from '../registry/pods.ts';
import type { State } from '../state.ts';
import {
  anyEndpointRequest,
  anyEndpointsRequest,
  type Comparison,
  endpointRequest,
  hasManySlices,
  hasMoreThan,
  PARTS_COMPARED_MAX,
} from './comparison.ts';
import { groupsSelecting, type SelectorGroup } from './selecting-entries.ts';
import { servicesSelecting } from './selecting-services.ts';

/**
 * The hosts of the ServiceEntries of the namespace that select a workload with one of these sets of labels: as it was,
 * as it is. `differs`: it is no longer what it was; asked for hosts with too many workloads to compare them.
 */
export function serviceEntryInstanceHandler(
  comparison: Comparison,
  namespace: string,
  workloads: readonly Labels[],
  differs: () => boolean = () => true,
): PushRequest {
  const { seq, state } = comparison;
  const many: SelectorGroup[] = [];
  const few: SelectorGroup[] = [];
  let left = ENDPOINTS_COMPARED_MAX;
  for (const group of groupsSelecting(state, namespace, workloads)) {
    const most = Math.min(PARTS_COMPARED_MAX, Math.floor(left / Math.max(1, group.endpointsOfWorkload)));
    const count = countedTo(most, state, namespace, group.selector);
    (count > most ? many : few).push(group);
    if (count <= most) left -= count * group.endpointsOfWorkload;
  }
  const compared = new Set(few.flatMap(({ hosts }) => [...hosts]).filter(host => !many.some(of => of.hosts.has(host))));
  return mergeAllPushRequests([
    ...(many.length > 0 && differs() ? many.map(({ keys }) => anyEndpointsRequest(seq, keys)) : []),
    ...[...compared].map(host => endpointRequest(comparison, host, namespace)),
  ]);
}

/** A ServiceEntry that selects the pod, or no longer does, has another endpoint by it. Argument as of `podWorkload`. */
export function isSeenOtherwise({ before, after }: Comparison, key: string): boolean {
  return !sameContent(seenOf(before, key), seenOf(after, key));
}

function seenOf(reader: Reader, key: string): unknown {
  const pod = reader.object('Pod', key);
  if (pod === undefined || !isEligible(pod) || !isReady(pod)) return undefined;
  return [reader.get(podWorkload, key), containerPorts(pod)];
}

/**
 * Endpoints of ServiceEntries that are compared at a change of one workload: machines times hosts times ports. Past it
 * the change pushes all that it could concern.
 */
export const ENDPOINTS_COMPARED_MAX = 1_000;

/** The pods of a namespace that are counted; those of a larger one count as many. */
export const PODS_COUNTED_MAX = 1_000;

/** The pods and machines that the selector may select, counted no further than past `most`. */
function countedTo(most: number, state: State, namespace: string, selector: Labels): number {
  const own = withoutTopology(selector);
  let count = 0;
  let pods = 0;
  for (const _ of machinesOf(state, namespace, selector)) if (++count > most) return count;
  for (const { labels } of state.indexes.podsByNamespace.valuesFrom(`${namespace}|`)) {
    if (++pods > PODS_COUNTED_MAX) return most + 1;
    if (selects(own, labels) && ++count > most) return count;
  }
  return count;
}

/** The machines among which are all that the selector selects. */
function* machinesOf({ objects, indexes }: State, namespace: string, selector: Labels): IterableIterator<Obj> {
  const key = selectorKey(selector);
  yield* key === ''
    ? objects.WorkloadEntry.valuesFrom(`${namespace}/`)
    : indexes.workloadEntriesByLabel.valuesFrom(`${namespace}/${key}|`);
  yield* indexes.remoteEntriesByLabel.valuesFrom(`${namespace}/${key}|`);
}

/** The Kubernetes services of a cluster and namespace that select one. */
export function kubernetesInstanceHandler(
  comparison: Comparison,
  cluster: string,
  namespace: string,
  workloads: readonly Labels[],
): PushRequest {
  const { after, state } = comparison;
  const services = servicesSelecting(state, cluster, namespace, workloads);
  return mergeAllPushRequests(
    services.flatMap(({ name, spec: { selector } }) => {
      const isMany =
        hasManySlices(state, namespace, name) ||
        hasMoreThan(PARTS_COMPARED_MAX, machinesOf(state, namespace, selector));
      const request = isMany ? anyEndpointRequest : endpointRequest;
      return hostsOfService(after, name, namespace).map(host => request(comparison, host, namespace));
    }),
  );
}
