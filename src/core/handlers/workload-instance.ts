// The two workload instance handlers: which services a changed workload concerns because they select it by label. A
// ServiceEntry selects pods and machines (WorkloadEntries), a Kubernetes service machines; its pods come by slices.
// Source: Istio WorkloadInstanceHandler in pilot/pkg/serviceregistry/serviceentry/controller.go and
// pilot/pkg/serviceregistry/kube/controller/controller.go.

import { sameContent } from '../base/equal.ts';
import { canonicalJson } from '../base/json.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import { selectorKey, withoutTopology } from '../model/selection.ts';
import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import type { Reader } from '../query/reader.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { containerPorts, isEligible, isReady, podWorkload } from '../registry/pods.ts';
import { selectingEntries } from '../registry/selecting.ts';
import { hostsOf } from '../registry/service-entry.ts';
import type { State } from '../state.ts';
import {
  anyEndpointRequest,
  type Comparison,
  endpointRequest,
  hasManySlices,
  hasMoreThan,
  PARTS_COMPARED_MAX,
} from './comparison.ts';

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
  const hosts = new Map<string, typeof endpointRequest>();
  const requests = requestsBySelector(comparison, namespace);
  for (const entry of selectingEntries(comparison.after, namespace, workloads)) {
    const request = requests(entry.spec.workloadSelector?.labels ?? {});
    for (const host of hostsOf(entry)) if (hosts.get(host) !== anyEndpointRequest) hosts.set(host, request);
  }
  const skipped = [...hosts.values()].includes(anyEndpointRequest) && !differs() ? anyEndpointRequest : undefined;
  const asked = [...hosts].filter(([, request]) => request !== skipped).sort(byKey);
  return mergeAllPushRequests(asked.map(([host, request]) => request(comparison, host, namespace)));
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

/** What to request for hosts whose workloads have these labels. */
function requestsBySelector({ state }: Comparison, namespace: string): (selector: Labels) => typeof endpointRequest {
  const known = new Map<string, typeof endpointRequest>();
  return selector => {
    const key = canonicalJson(selector);
    const request = known.get(key) ?? (isOfMany(state, namespace, selector) ? anyEndpointRequest : endpointRequest);
    known.set(key, request);
    return request;
  };
}

/** The pods of a namespace that are counted; those of a larger one count as many. */
export const PODS_COUNTED_MAX = 1_000;

/** The selector may select more pods and machines than are compared. */
function isOfMany(state: State, namespace: string, selector: Labels): boolean {
  const own = withoutTopology(selector);
  let count = 0;
  let pods = 0;
  for (const _ of machinesOf(state, namespace, selector)) if (++count > PARTS_COMPARED_MAX) return true;
  for (const { labels } of state.indexes.podsByNamespace.valuesFrom(`${namespace}|`)) {
    if (++pods > PODS_COUNTED_MAX) return true;
    if (selects(own, labels) && ++count > PARTS_COMPARED_MAX) return true;
  }
  return false;
}

/** The machines among which are all that the selector selects. */
function* machinesOf({ objects, indexes }: State, namespace: string, selector: Labels): IterableIterator<Obj> {
  const key = selectorKey(selector);
  yield* key === ''
    ? objects.WorkloadEntry.valuesFrom(`${namespace}/`)
    : indexes.workloadEntriesByLabel.valuesFrom(`${namespace}/${key}|`);
  yield* indexes.remoteEntriesByLabel.valuesFrom(`${namespace}/${key}|`);
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** The Kubernetes services of a cluster and namespace that select one. A selector without labels selects nothing. */
export function kubernetesInstanceHandler(
  comparison: Comparison,
  cluster: string,
  namespace: string,
  workloads: readonly Labels[],
): PushRequest {
  const { after, state } = comparison;
  const services = after
    .objects('Service', `${cluster}/${namespace}/`)
    .filter(
      ({ spec: { selector } }) =>
        Object.keys(selector).length > 0 && workloads.some(labels => selects(selector, labels)),
    );
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
