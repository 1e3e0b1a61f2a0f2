// Objects that endpoints of Kubernetes services derive from: EndpointSlices, Endpoints, Pods and Nodes. The services
// they affect are found by index and their endpoints compared before and after.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go,
// pilot/pkg/serviceregistry/kube/controller/pod.go.

import { sameContent } from '../base/equal.ts';
import type { Obj } from '../model/object.ts';
import type { ProxyRecord } from '../model/proxy.ts';
import { mergeAllPushRequests, type PushRequest } from '../push-request.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { endpointsOfSlice, SERVICE_NAME_LABEL } from '../registry/slice-endpoints.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import {
  anyEndpointRequest,
  type Comparison,
  compareStates,
  endpointRequest,
  hasManySlices,
  nodeGatewayRequest,
  orNothing,
} from './comparison.ts';
import { proxyRequest } from './proxy-workload.ts';
import { sliceRequest } from './slice-change.ts';
import { isSeenOtherwise, serviceEntryInstanceHandler } from './workload-instance.ts';

/**
 * `namespace/name` of Kubernetes services, each with the keys of those of its slices whose endpoints may differ;
 * undefined: others may differ too.
 */
type Services = Map<string, Set<string> | undefined>;

export function endpointSliceHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const ofSlice = sliceRequest(comparison, after, change);
  if (ofSlice !== undefined) return orNothing(ofSlice);
  const names = new Set<string>();
  for (const { namespace, labels } of versionsOf(change)) {
    const service = labels[SERVICE_NAME_LABEL];
    if (service !== undefined) names.add(`${namespace}/${service}`);
  }
  const slices = names.size === 1 ? new Set([change.key]) : undefined;
  return orNothing(requestFor(comparison, new Map([...names].map(name => [name, slices]))));
}

export function endpointsHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const [{ namespace, name }] = versionsOf(change);
  const services: Services = new Map([[`${namespace}/${name}`, undefined]]);
  return orNothing(requestFor(compareStates(change.seq, before, after), services));
}

export function podHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const comparison = compareStates(change.seq, before, after);
  const pods = versionsOf<'Pod'>(change);
  const [pod] = pods;
  const services: Services = new Map();
  for (const one of pods) addServicesOfPod(comparison, one, services);
  const isOwn = ({ facets }: ProxyRecord): boolean => facets.id === `${pod.name}.${pod.namespace}`;
  return orNothing(
    mergeAllPushRequests([
      requestFor(comparison, services),
      serviceEntryInstanceHandler(
        comparison,
        pod.namespace,
        pods.map(({ labels }) => labels),
        () => isSeenOtherwise(comparison, change.key),
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
  const services: Services = new Map();
  for (const pod of pods) addServicesOfPod(comparison, pod, services);
  const namespaces = [...new Set(pods.map(pod => pod.namespace))].sort();
  const entries = namespaces.map(namespace => {
    const own = pods.filter(pod => pod.namespace === namespace);
    return serviceEntryInstanceHandler(
      comparison,
      namespace,
      own.map(({ labels }) => labels),
      () => own.some(pod => isSeenOtherwise(comparison, `${pod.cluster}/${namespace}/${pod.name}`)),
    );
  });
  const ids = new Set(pods.map(pod => `${pod.name}.${pod.namespace}`));
  return orNothing(
    mergeAllPushRequests([
      requestFor(comparison, services),
      ...entries,
      nodeGatewayRequest(comparison, change.before as Obj<'Node'> | undefined, change.after as Obj<'Node'> | undefined),
      proxyRequest(after, change, proxy => ids.has(proxy.facets.id)),
    ]),
  );
}

/** Services with a slice, or with Endpoints, that names the pod or one of its addresses. */
function addServicesOfPod({ after }: Comparison, pod: Obj<'Pod'>, services: Services): void {
  const { cluster, namespace, name, spec } = pod;
  const slices = [
    ...after.indexed('slicesByPod', `${cluster}/${namespace}/${name}`),
    ...spec.podIPs.flatMap(ip => after.indexed('slicesByIp', `${cluster}/${namespace}/${ip}`)),
  ];
  for (const slice of slices) {
    const service = slice.labels[SERVICE_NAME_LABEL];
    if (service === undefined) continue;
    const key = `${slice.namespace}/${service}`;
    const known = services.has(key) ? services.get(key) : new Set<string>();
    services.set(key, known?.add(`${slice.cluster}/${slice.namespace}/${slice.name}`));
  }
  for (const obj of after.objects('Endpoints', `${cluster}/${namespace}/`)) {
    const addresses = obj.spec.subsets.flatMap(subset => [...subset.addresses, ...subset.notReadyAddresses]);
    const isIn = addresses.some(({ ip, targetRef }) => targetRef?.name === name || spec.podIPs.includes(ip));
    if (isIn) services.set(`${namespace}/${obj.name}`, undefined);
  }
}

function requestFor(comparison: Comparison, services: Services): PushRequest {
  const requests = [...services.keys()].sort().flatMap(key => {
    const [namespace = '', name = ''] = key.split('/');
    const isLarge = hasManySlices(comparison.state, namespace, name);
    if (isLarge && !differ(comparison, services.get(key))) return [];
    const request = isLarge ? anyEndpointRequest : endpointRequest;
    return hostsOfService(comparison.after, name, namespace).map(host => request(comparison, host, namespace));
  });
  return mergeAllPushRequests(requests);
}

function differ({ before, after }: Comparison, slices: ReadonlySet<string> | undefined): boolean {
  if (slices === undefined) return true;
  return [...slices].some(key => !sameContent(before.get(endpointsOfSlice, key), after.get(endpointsOfSlice, key)));
}
