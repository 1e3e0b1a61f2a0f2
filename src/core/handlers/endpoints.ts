// Objects that endpoints of Kubernetes services derive from: EndpointSlices, Endpoints, Pods and Nodes. The services
// they affect are found by index and their endpoints compared before and after.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go,
// pilot/pkg/serviceregistry/kube/controller/pod.go.

import type { Obj } from '../model/object.ts';
import type { ProxyRecord } from '../model/proxy.ts';
import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { SERVICE_NAME_LABEL } from '../registry/slice-endpoints.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import {
  anyEndpointRequest,
  type Comparison,
  compareStates,
  endpointRequest,
  gatewayRequest,
  hasManySlices,
  orNothing,
} from './comparison.ts';
import { proxyRequest } from './proxy-workload.ts';
import { sliceRequest } from './slice-change.ts';
import { serviceEntryInstanceHandler } from './workload-instance.ts';

/** `namespace/name` of Kubernetes services. */
type ServiceNames = Set<string>;

export function endpointSliceHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const ofSlice = sliceRequest(comparison, after, change);
  if (ofSlice !== undefined) return orNothing(ofSlice);
  const names: ServiceNames = new Set();
  for (const { namespace, labels } of versionsOf(change)) {
    const service = labels[SERVICE_NAME_LABEL];
    if (service !== undefined) names.add(`${namespace}/${service}`);
  }
  return orNothing(requestFor(comparison, names));
}

export function endpointsHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const [{ namespace, name }] = versionsOf(change);
  return orNothing(requestFor(compareStates(change.seq, before, after), new Set([`${namespace}/${name}`])));
}

export function podHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const pods = versionsOf<'Pod'>(change);
  const [pod] = pods;
  const names: ServiceNames = new Set();
  for (const one of pods) addServicesOfPod(comparison, one, names);
  const isOwn = ({ facets }: ProxyRecord): boolean => facets.id === `${pod.name}.${pod.namespace}`;
  return orNothing(
    mergeAllPushRequests([
      requestFor(comparison, names),
      serviceEntryInstanceHandler(
        comparison,
        pod.namespace,
        pods.map(({ labels }) => labels),
      ),
      proxyRequest(after, change, isOwn),
    ]),
  );
}

/** A node gives its pods their locality and may be the gateway of a network; other changes of a node push nothing. */
export function nodeHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const [node] = versionsOf(change);
  const comparison = compareStates(change.seq, before, after);
  const pods = comparison.after.indexed('podsByNode', `${node.cluster}/${node.name}`);
  const names: ServiceNames = new Set();
  for (const pod of pods) addServicesOfPod(comparison, pod, names);
  const namespaces = [...new Set(pods.map(pod => pod.namespace))].sort();
  const entries = namespaces.map(namespace =>
    serviceEntryInstanceHandler(
      comparison,
      namespace,
      pods.filter(pod => pod.namespace === namespace).map(pod => pod.labels),
    ),
  );
  const ids = new Set(pods.map(pod => `${pod.name}.${pod.namespace}`));
  return orNothing(
    mergeAllPushRequests([
      requestFor(comparison, names),
      ...entries,
      gatewayRequest(comparison),
      proxyRequest(after, change, proxy => ids.has(proxy.facets.id)),
    ]),
  );
}

/** Services with a slice, or with Endpoints, that names the pod or one of its addresses. */
function addServicesOfPod({ after }: Comparison, pod: Obj<'Pod'>, names: ServiceNames): void {
  const { cluster, namespace, name, spec } = pod;
  const slices = [
    ...after.indexed('slicesByPod', `${cluster}/${namespace}/${name}`),
    ...spec.podIPs.flatMap(ip => after.indexed('slicesByIp', `${cluster}/${namespace}/${ip}`)),
  ];
  for (const slice of slices) {
    const service = slice.labels[SERVICE_NAME_LABEL];
    if (service !== undefined) names.add(`${slice.namespace}/${service}`);
  }
  for (const obj of after.objects('Endpoints', `${cluster}/${namespace}/`)) {
    const addresses = obj.spec.subsets.flatMap(subset => [...subset.addresses, ...subset.notReadyAddresses]);
    const isIn = addresses.some(({ ip, targetRef }) => targetRef?.name === name || spec.podIPs.includes(ip));
    if (isIn) names.add(`${namespace}/${obj.name}`);
  }
}

function requestFor(comparison: Comparison, names: ServiceNames): PushRequest {
  const requests = [...names].sort().flatMap(key => {
    const [namespace = '', name = ''] = key.split('/');
    const request = hasManySlices(comparison.state, namespace, name) ? anyEndpointRequest : endpointRequest;
    return hostsOfService(comparison.after, name, namespace).map(host => request(comparison, host, namespace));
  });
  return mergeAllPushRequests(requests);
}
