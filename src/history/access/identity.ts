// The identity that a proxy presents to others: the one it has proven, else the one that its node says it has.

import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';

/** A SPIFFE URI. */
export function callerIdentity({ mesh }: State, { identities, metadata, facets }: ProxyRecord): string {
  const [known] = identities;
  if (known !== undefined) return known;
  const account = typeof metadata.SERVICE_ACCOUNT === 'string' ? metadata.SERVICE_ACCOUNT : 'default';
  return `spiffe://${mesh.effective.trustDomain ?? 'cluster.local'}/ns/${facets.namespace}/sa/${account}`;
}
