// Which connected proxies do not trust the newest roots yet. A proxy trusts them when it has accepted them over its
// stream (as a secret, or as its agent's trust bundle), or has got a certificate with them since they were handed out.
//
// A proxy without a proven identity takes no part in mesh mTLS and is not waited for.

import { whyBehind } from '../admin/live.ts';
import { verifiedIdentity } from '../core/model/identity.ts';
import { AUTHORITY_NAME } from '../core/select/proxy/proxy-capabilities.ts';
import { ROOT_SECRET } from '../core/select/secret/credentials.ts';
import type { State } from '../core/state.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { ConnectionStatus } from '../xds/serve/stream-status.ts';
import { PCDS, SDS } from '../xds/session/types.ts';

export interface Served {
  readonly state: State;
  readonly engine: Engine;
  readonly connections: readonly ConnectionStatus[];
}

/** `roots`: what is handed out. `certified`: has the identity got a certificate since then? */
export function rootsBehind(
  { state, engine, connections }: Served,
  roots: string,
  certified: (identity: string) => boolean,
): readonly string[] {
  const anchors = state.objects.TrustAnchors.get(`${state.settings.clusterId}/${AUTHORITY_NAME}`);
  const isFolded = (anchors?.spec as { readonly roots?: string } | undefined)?.roots === roots;
  return connections.flatMap(status => {
    const proxy = state.proxies.get(status.connection);
    if (proxy === undefined || verifiedIdentity(proxy) === undefined) return [];
    const type = status.types.find(({ typeUrl }) => {
      const names = proxy.subscriptions[typeUrl]?.names ?? [];
      return (typeUrl === SDS && names.includes(ROOT_SECRET)) || typeUrl === PCDS;
    });
    if (proxy.identities.some(certified)) return [];
    const isAccepted =
      type !== undefined && type.count > 0 && whyBehind(state, engine, status.connection, type, 0) === undefined;
    return isFolded && isAccepted ? [] : [status.facets.id];
  });
}
