// configHandler: Istio's own kinds. Whatever the specs say, a change of one is a full push with the object as its key.
// Rules: spec-events-pushes-protocol §2.3 (C1, C2, C6); Istio pilot/pkg/bootstrap/server.go (initRegistryEventHandlers).

import { type PushRequest, pushRequest } from '../push-request.ts';
import type { Change } from './change.ts';

export function configHandler(change: Change): PushRequest | undefined {
  const obj = change.after ?? change.before;
  if (obj === undefined) return undefined;
  return pushRequest(change.seq, 'config', [`${change.kind}/${obj.namespace}/${obj.name}`], { full: true });
}
