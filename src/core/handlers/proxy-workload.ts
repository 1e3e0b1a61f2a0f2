// A change of a proxy's own workload: the proxy takes its labels, its locality and the services it serves from the
// registry. Source: Istio pilot/pkg/xds/discovery.go (ProxyUpdate), called by the registries on pod and WorkloadEntry
// events.

import { objectName } from '../model/object.ts';
import type { ProxyRecord } from '../model/proxy.ts';
import { noPush, type PushRequest, pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';

/** A full push, reason `proxy`, if a connected proxy runs beside the changed object. */
export function proxyRequest(state: State, change: Change, isOf: (proxy: ProxyRecord) => boolean): PushRequest {
  for (const proxy of state.proxies.values()) {
    if (isOf(proxy)) return pushRequest(change.seq, 'proxy', [objectName(versionsOf(change)[0])], { full: true });
  }
  return noPush;
}
