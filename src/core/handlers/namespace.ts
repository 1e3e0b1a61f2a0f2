// Namespaces: the network of a cluster (label of the system namespace), the traffic distribution of services
// (annotation), and the namespaces that listeners of the Gateway API select (labels). Source: Istio
// pilot/pkg/serviceregistry/kube/controller/namespace.go, pilot/pkg/serviceregistry/kube/controller/network.go.

import { sameContent } from '../base/equal.ts';
import { NETWORK_LABEL } from '../base/labels.ts';
import { discovers } from '../mesh/discovery-selectors.ts';
import { type Obj, objectName } from '../model/object.ts';
import { mergeAllPushRequests, noPush, type PushRequest, pushRequest } from '../push-request.ts';
import { servicesOfEntry } from '../registry/service-entry.ts';
import type { GatewayListener } from '../schema/gateway-api-types.gen.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { compareStates, orNothing, serviceKey } from './comparison.ts';
import { serviceRequest } from './service.ts';

export function namespaceHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const [namespace] = versionsOf(change);
  const isSystem = namespace.name === after.settings.systemNamespace;
  if (isSystem && change.before?.labels[NETWORK_LABEL] !== change.after?.labels[NETWORK_LABEL]) {
    // Every endpoint of the cluster may be in another network now.
    return pushRequest(change.seq, 'networks', [], { full: true, forced: true });
  }
  const selectors = after.mesh.effective.discoverySelectors ?? [];
  const was = discovers(selectors, change.before?.labels ?? {});
  if (selectors.length > 0 && was !== discovers(selectors, change.after?.labels ?? {})) {
    // All that the namespace holds comes or goes with it.
    return pushRequest(change.seq, 'global', [], { full: true, forced: true });
  }
  const selected = selectionRequest(after, change);
  if (sameContent(change.before?.annotations, change.after?.annotations)) return orNothing(selected);
  const comparison = compareStates(change.seq, before, after);
  const requests: PushRequest[] = [selected];
  for (const service of comparison.after.objects('Service', `${namespace.cluster}/${namespace.name}/`)) {
    requests.push(serviceRequest(comparison, `${service.cluster}/${service.namespace}/${service.name}`));
  }
  for (const entry of comparison.after.objects('ServiceEntry', `${namespace.name}/`)) {
    const key = `${entry.namespace}/${entry.name}`;
    const now = comparison.after.get(servicesOfEntry, key);
    if (sameContent(comparison.before.get(servicesOfEntry, key), now)) continue;
    const keys = now.map(service => serviceKey(service.namespace, service.hostname));
    requests.push(pushRequest(change.seq, 'service', keys, { full: true }));
  }
  return orNothing(mergeAllPushRequests(requests));
}

/** Labels decide which namespaces listeners of Gateways and ListenerSets take routes from. */
function selectionRequest(state: State, change: Change): PushRequest {
  if (sameContent(change.before?.labels, change.after?.labels) || !anySelector(state)) return noPush;
  return pushRequest(change.seq, 'config', [objectName(versionsOf(change)[0])], { full: true });
}

function anySelector({ objects }: State): boolean {
  for (const { spec } of objects.KubernetesGateway.range('') as Iterable<Obj<'KubernetesGateway'>>) {
    if (spec.allowedListeners?.namespaces.from === 'Selector' || spec.listeners.some(isSelective)) return true;
  }
  for (const { spec } of objects.ListenerSet.range('') as Iterable<Obj<'ListenerSet'>>) {
    if (spec.listeners.some(isSelective)) return true;
  }
  return false;
}

function isSelective({ allowedRoutes }: GatewayListener): boolean {
  return allowedRoutes.namespaces.from === 'Selector';
}
