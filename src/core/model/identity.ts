// The identity that a proxy's client certificate proves. A proxy without a verified identity gets no secrets.
// Source: Istio pilot/pkg/xds/auth.go (authorize), pkg/spiffe.

import { metadataText, type ProxyRecord } from './proxy.ts';

export interface VerifiedIdentity {
  readonly namespace: string;
  readonly serviceAccount: string;
}

type Claims = Pick<ProxyRecord, 'facets' | 'metadata' | 'identities'>;

/** The first proven identity that agrees with the node's metadata; the trust domain is not compared. */
export function verifiedIdentity({ facets, metadata, identities }: Claims): VerifiedIdentity | undefined {
  const account = metadataText(metadata, 'SERVICE_ACCOUNT');
  for (const text of identities) {
    const identity = parseSpiffe(text);
    if (identity === undefined) continue;
    if (facets.namespace !== '' && facets.namespace !== identity.namespace) continue;
    if (account !== '' && account !== identity.serviceAccount) continue;
    return identity;
  }
  return undefined;
}

/** `spiffe://<trust domain>/ns/<namespace>/sa/<service account>` */
export function parseSpiffe(text: string): VerifiedIdentity | undefined {
  const [, namespace, serviceAccount] = /^spiffe:\/\/[^/]*\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || serviceAccount === undefined ? undefined : { namespace, serviceAccount };
}
