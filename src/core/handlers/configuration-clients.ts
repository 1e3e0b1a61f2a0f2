// Clients of the generator `api` hold every object of Istio's kinds with its labels, so a change of one concerns them
// even if no proxy is sent any part of it: a WorkloadGroup, a label of the author's own, a WorkloadEntry that is not
// selected. Without such a client nothing is requested for those, as in istiod.

import type { KindName } from '../model/kind.ts';
import { API_GENERATOR, mcpKinds } from '../model/mcp-kinds.ts';
import { objectName } from '../model/object.ts';
import { metadataText } from '../model/proxy.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';

const offered: ReadonlySet<KindName> = new Set(mcpKinds.map(({ kind }) => kind));

/** Call it for a change that requests no push otherwise. Linear in the proxies. */
export function configurationClientsRequest(state: State, change: Change): PushRequest | undefined {
  if (!offered.has(change.kind)) return undefined;
  for (const { metadata } of state.proxies.values()) {
    if (metadataText(metadata, 'GENERATOR') === API_GENERATOR) {
      return pushRequest(change.seq, 'config', [objectName(versionsOf(change)[0])], { full: true });
    }
  }
  return undefined;
}
