// configHandler: Istio's own kinds. A change of one is a full push with the object as its key.
// Whether anything comes of it is the tracker's business: a query that reads nothing of what changed is not run again.
// Rules: spec-events-pushes-protocol §2.3 (C1-C3, C6); Istio pilot/pkg/bootstrap/server.go (initRegistryEventHandlers).

import type { Obj } from '../object.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import type { Change } from './change.ts';

export function configHandler(change: Change): PushRequest | undefined {
  const obj = change.after ?? change.before;
  if (obj === undefined) return undefined;
  const { kind, namespace, name } = obj;
  // Istio knows a WasmPlugin only as the TrafficExtension that it makes of it.
  const key =
    kind === 'WasmPlugin'
      ? `TrafficExtension/${namespace}/${name}~istio-translated-wasmplugin`
      : `${kind}/${namespace}/${name}`;
  return pushRequest(change.seq, 'config', [key], { full: true });
}

/** A VirtualService without hosts is a delegate: what changes are the roots that name it. */
export function virtualServiceHandler(state: State, change: Change): PushRequest | undefined {
  const keys: string[] = [];
  for (const obj of [change.before, change.after] as readonly (Obj<'VirtualService'> | undefined)[]) {
    if (obj === undefined) continue;
    if ((obj.spec.hosts ?? []).length > 0) keys.push(keyOf(obj));
    else for (const root of rootsOf(state, obj)) keys.push(keyOf(root));
  }
  return keys.length === 0 ? undefined : pushRequest(change.seq, 'config', keys, { full: true });
}

function rootsOf(state: State, delegate: Obj): readonly Obj<'VirtualService'>[] {
  const roots: Obj<'VirtualService'>[] = [];
  for (const obj of state.objects.VirtualService.values() as IterableIterator<Obj<'VirtualService'>>) {
    const names = (obj.spec.http ?? []).some(
      ({ delegate: named }) =>
        named?.name === delegate.name && (named.namespace || obj.namespace) === delegate.namespace,
    );
    if (names) roots.push(obj);
  }
  return roots;
}

function keyOf(obj: Obj): string {
  return `${obj.kind}/${obj.namespace}/${obj.name}`;
}
