// One EndpointSlice of a service that has others. What the change requests follows from the slice alone if another
// slice shows that the service had endpoints and has the accounts of this one, and none has its addresses; so a service
// of a thousand slices costs a thousand comparisons of one slice each, not of a thousand.
//
// If no other slice shows that, the whole service is compared (comparison.ts), which is always right.

import { sameContent } from '../base/equal.ts';
import { definitions } from '../kinds/registry.ts';
import type { Obj } from '../model/object.ts';
import type { Endpoint } from '../model/service.ts';
import { noPush, type PushRequest } from '../push-request.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import { endpointsOfSlice, isUsable, SERVICE_NAME_LABEL } from '../registry/slice-endpoints.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { type Comparison, hasManySlices, isWithoutSelector, requestOfChanged } from './comparison.ts';

/** Other slices of the service that are searched for one that shows it. */
const PEERS_MAX = 4;

/** Undefined: the whole service has to be compared. */
export function sliceRequest(comparison: Comparison, state: State, change: Change): PushRequest | undefined {
  const [slice, ...newer] = versionsOf<'EndpointSlice'>(change);
  const { cluster, namespace, labels } = slice;
  const name = labels[SERVICE_NAME_LABEL];
  if (name === undefined || newer.some(one => one.labels[SERVICE_NAME_LABEL] !== name)) return undefined;
  const service = `${cluster}/${namespace}/${name}`;
  const [hostname = '', ...others] = hostsOfService(comparison.after, name, namespace);
  if (others.length > 0 || !state.objects.Service.has(service)) return undefined;
  const old = comparison.before.get(endpointsOfSlice, change.key);
  const now = comparison.after.get(endpointsOfSlice, change.key);
  const peer = peerOf(comparison, state, service, change.key);
  if (peer === undefined) return undefined;
  if (sameContent(old, now)) return noPush;
  const known = accountsOf(peer);
  const [was, is] = [accountsOf(old), accountsOf(now)];
  const differs = [...was, ...is].some(account => was.has(account) !== is.has(account) && !known.has(account));
  if (differs || isWithoutSelector(comparison.after, hostname, namespace)) return undefined;
  // Whether another slice still has what this one loses is not looked up among many: then it is pushed in any case.
  const repeats = [slice, ...newer].some(one => isRepeated(state, one, change.key));
  if (repeats && !hasManySlices(state, namespace, name)) return undefined;
  return requestOfChanged(comparison, { hostname, namespace }, false);
}

/** The endpoints of another slice of the service, the same before and after the change. */
function peerOf({ after }: Comparison, state: State, service: string, key: string): readonly Endpoint[] | undefined {
  let looks = 0;
  for (const obj of state.indexes.slicesByService.valuesFrom(`${service}|`)) {
    const peer = obj as Obj<'EndpointSlice'>;
    const peerKey = `${peer.cluster}/${peer.namespace}/${peer.name}`;
    if (looks++ === PEERS_MAX) return undefined;
    if (peerKey === key || !isUsable(peer)) continue;
    const endpoints = after.get(endpointsOfSlice, peerKey);
    if (endpoints.length > 0) return endpoints;
  }
  return undefined;
}

function accountsOf(endpoints: readonly Endpoint[]): ReadonlySet<string> {
  return new Set(endpoints.map(({ serviceAccount }) => serviceAccount));
}

/** Another slice names a pod or an address of this one. */
function isRepeated({ indexes }: State, slice: Obj<'EndpointSlice'>, key: string): boolean {
  const { slicesByPod = [], slicesByIp = [] } = definitions.EndpointSlice.indexes(slice);
  const isElsewhere = (index: 'slicesByPod' | 'slicesByIp', entry: string): boolean => {
    for (const { cluster, namespace, name } of indexes[index].valuesFrom(`${entry}|`)) {
      if (`${cluster}/${namespace}/${name}` !== key) return true;
    }
    return false;
  };
  return (
    slicesByPod.some(entry => isElsewhere('slicesByPod', entry)) ||
    slicesByIp.some(entry => isElsewhere('slicesByIp', entry))
  );
}
