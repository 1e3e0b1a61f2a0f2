// configHandler: Istio's own kinds. A change that can matter (needsPush) is a full push with the object as its key.
// Whether a proxy gets anything new is decided by the tracker: a query that reads nothing of what changed does not run.
// Source: Istio pilot/pkg/bootstrap/server.go (initRegistryEventHandlers), pilot/pkg/model/config_compare.go.

import { sameContent } from '../base/equal.ts';
import { featureOf } from '../mesh/features.ts';
import { type Obj, objectName } from '../model/object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';

export function configHandler(change: Change): PushRequest | undefined {
  if (!needsPush(change)) return undefined;
  const [obj] = versionsOf(change);
  // Istio knows a WasmPlugin only as the TrafficExtension that it makes of it.
  const key =
    obj.kind === 'WasmPlugin'
      ? `TrafficExtension/${obj.namespace}/${obj.name}~istio-translated-wasmplugin`
      : objectName(obj);
  return pushRequest(change.seq, 'config', [key], { full: true });
}

/**
 * False for an update with an equal spec and with changes only in labels and annotations of the author's own. Age
 * counts, other than in Istio: of two objects that meet the older one wins.
 */
function needsPush({ before, after }: Change): boolean {
  if (before === undefined || after === undefined) return true;
  if (before.creationTime !== after.creationTime || !sameContent(before.spec, after.spec)) return true;
  // Kept of Wasm modules alone, which hand it on to the proxies.
  if (before.resourceVersion !== after.resourceVersion) return true;
  return [before.labels, before.annotations, after.labels, after.annotations].some(isIstios);
}

function isIstios(keys: Readonly<Record<string, string>>): boolean {
  return Object.keys(keys).some(key => key.includes('istio.io'));
}

/** Addresses in its status make a Gateway a waypoint, and mean nothing else. */
export function kubernetesGatewayHandler(state: State, change: Change): PushRequest | undefined {
  const onlyStatus = sameContent(withoutStatus(change.before), withoutStatus(change.after));
  return onlyStatus && !featureOf(state.settings, 'PILOT_ENABLE_AMBIENT') ? undefined : configHandler(change);
}

function withoutStatus(gateway: Obj | undefined): unknown {
  if (gateway === undefined) return undefined;
  const { status: _, ...spec } = (gateway as Obj<'KubernetesGateway'>).spec;
  return { ...gateway, spec };
}

/** A VirtualService without hosts is a delegate: what changes are the roots that name it. */
export function virtualServiceHandler(state: State, change: Change): PushRequest | undefined {
  if (!needsPush(change)) return undefined;
  const keys: string[] = [];
  for (const obj of versionsOf<'VirtualService'>(change)) {
    if ((obj.spec.hosts ?? []).length > 0) keys.push(objectName(obj));
    else for (const root of rootsOf(state, obj)) keys.push(objectName(root));
  }
  return keys.length === 0 ? undefined : pushRequest(change.seq, 'config', keys, { full: true });
}

function rootsOf(state: State, { namespace, name }: Obj): readonly Obj[] {
  return [...state.indexes.virtualServicesByDelegate.range(`${namespace}/${name}|`)];
}
